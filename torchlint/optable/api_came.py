"""
When things of torch's API came, where the sources of the releases do not tell: before the first that is read, or in the
native library.

Data for `torchlint.optable.api`, as `api_facts` is.
"""

# Names whose stub came later than they did.
STUB_CAME_LATE = frozenset({"torch.Tensor.xpu"})

# Modules whose name was a function's: since when they can be imported, and are that module from then on.
IMPORTABLE = {"torch.fft": "1.7"}

# Private modules that others import all the same: a file that does is loaded by no release before.
_PRIVATE = {
    "2.0": (
        "_awaits", "_dynamo", "_export", "_functorch", "_guards", "_inductor", "distributed._composable",
        "distributed._composable_state", "distributed._tensor", "distributed.fsdp._common_utils",
        "distributed.fsdp._runtime_utils", "distributed.fsdp._traversal_utils", "nn.utils._named_member_accessor",
        "utils._contextlib", "utils._device", "utils._foreach_utils", "utils._sympy",
    ),
    "2.1": (
        "_compile", "_custom_op", "_custom_ops", "_higher_order_ops", "_logging", "_numpy",
        "distributed._functional_collectives",
    ),
    "2.2": ("_library", "_streambase", "distributed.fsdp._flat_param", "nested._internal", "utils._triton"),
    "2.3": ("distributed._state_dict_utils", "export._trace", "export._unlift"),
    "2.4": ("utils._exposed_in",),
    "2.5": (
        "distributed._symmetric_memory", "distributed.tensor._api", "distributed.tensor._dtensor_spec",
        "distributed.tensor._op_schema", "distributed.tensor._utils",
    ),
    "2.6": ("distributed.fsdp._fully_shard",),
}  # fmt: skip

# Since when there is what replaces something, where that is before the first release whose sources are read.
SINCE = {
    **dict.fromkeys(
        (f"torch.cuda.{name}" for name in ("memory_reserved", "max_memory_reserved", "reset_peak_memory_stats")), "1.4"
    ),
    "torch.outer": "1.7",
    # In 1.7 `torch.fft` is the function, until somebody imports the module of that name: IMPORTABLE.
    **dict.fromkeys((f"torch.fft.{name}" for name in ("fft", "rfft", "irfft", "ifft")), "1.8"),
    **dict.fromkeys(
        (f"torch.linalg.{name}" for name in (
            "qr", "cholesky", "eigh", "eigvalsh", "svd", "solve", "cond", "inv", "pinv", "slogdet", "tensorinv",
            "tensorsolve", "matrix_rank",
        )), "1.8",
    ),
    **dict.fromkeys(("torch.cov", "torch.corrcoef"), "1.10"),
    **dict.fromkeys((f"torch.linalg.{name}" for name in ("eig", "lstsq", "multi_dot", "vector_norm")), "1.9"),
    "torch.testing.assert_close": "1.9",
    "torch.amp.autocast": "1.12",
    **dict.fromkeys(
        (
            "torch.linalg.lu_factor", "torch.linalg.lu_factor_ex", "torch.linalg.solve_triangular",
            "torch.utils.data.default_collate", "torch.utils.data.default_convert",
        ), "1.11",
    ),
    "torch.linalg.lu_solve": "1.13",
    "torch.float8_e4m3fn": "2.1",
    "torch.float8_e5m2": "2.1",
    "torch.utils._pytree.register_pytree_node": "2.2",
    **{f"torch.{name}": release for release, names in _PRIVATE.items() for name in names},
}  # fmt: skip

# Arguments of functions of the native library that came later than the function: (function, argument, release, where it
# stands, and how many have to be given by position for it to be one of them: a first one that moves all others).
# https://github.com/pytorch/pytorch/pull/124359; before it one takes none at all, and the other `enabled` alone.
NEW_ARGUMENTS = (
    ("torch.is_autocast_enabled", "device_type", "2.4", 0, 1),
    ("torch.set_autocast_enabled", "device_type", "2.4", 0, 2),
)
