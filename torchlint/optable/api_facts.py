"""
What the sources of the releases do not say in a form that can be read off: facts of torch's API, each with its source.

Data for `torchlint.optable.api`, which merges them with what it reads itself. A test holds each row against the torch
that is installed. Release notes and documentation were read for facts, not for words.
"""

from __future__ import annotations

from typing import Any

NOTES = "https://github.com/pytorch/pytorch/releases/tag/v{}.0"
BLOB = "https://github.com/pytorch/pytorch/blob/v2.13.0/{}"
DOCS = "https://docs.pytorch.org/docs/stable/generated/{}.html"
_LINALG = BLOB.format("torch/_linalg_utils.py")
_BATCH = BLOB.format("aten/src/ATen/native/BatchLinearAlgebra.cpp")
_INIT = BLOB.format("torch/nn/init.py")
_F = BLOB.format("torch/nn/functional.py")

_REENTRANT = (
    "torch warns, and takes True, which gives no gradient where no input of the call requires one; it recommends False"
)

_COMPLEX = "which gives complex tensors: the eigenvalues in one dimension, and always the eigenvectors"
_SOLUTION = "with the matrix first, and gives a solution without rows of residuals"
_REGISTERED = "which raises ValueError for a type that is registered already, by torch itself or twice"
_DEVICE = "and, for a type of another device, `torch.set_default_device`, which `torch.Tensor(...)` ignores"
_FACTOR = "which takes the factor for the lower one unless told `upper=True`"

# name: removed, deprecated, replacement, how the reference or call is rewritten (see `knowledge.api.find.Change.how`)
REMOVED: dict[str, tuple[str, str, str, str, str]] = {
    "torch.solve": ("1.12", "1.8", "torch.linalg.solve", "solve", _LINALG),
    "torch.lstsq": ("1.13", "1.9", "torch.linalg.lstsq", "", _LINALG),
    "torch.eig": ("1.13", "1.9", "torch.linalg.eig", "", _LINALG),
    "torch.matrix_rank": ("1.13", "1.9", "torch.linalg.matrix_rank", "rename:1", _LINALG),
    "torch.symeig": ("2.0", "1.9", "torch.linalg.eigh", "symeig", _LINALG),
    "torch.Tensor.solve": ("1.12", "1.8", "torch.linalg.solve", "solve", _LINALG),
    "torch.Tensor.lstsq": ("1.13", "1.9", "torch.linalg.lstsq", "", _LINALG),
    "torch.Tensor.eig": ("1.13", "1.9", "torch.linalg.eig", "", _LINALG),
    "torch.Tensor.symeig": ("2.0", "1.9", "torch.linalg.eigh", "symeig", _LINALG),
    **{
        f"{prefix}.{name}": ("1.8", "1.7", f"torch.fft.{name}", f"transform:{name}", NOTES.format("1.8"))
        for prefix in ("torch", "torch.Tensor")
        for name in ("rfft", "irfft", "ifft")
    },
    "torch.Tensor.fft": ("1.8", "1.7", "torch.fft.fft", "transform:fft", NOTES.format("1.8")),
    **{
        f"torch.{old}": (
            removed,
            "",
            f"torch.{new}" if new else "",
            "solve" if old == "gesv" else "",
            NOTES.format(removed),
        )
        for old, new, removed in (
            ("gels", "linalg.lstsq", "1.3"),
            ("gesv", "linalg.solve", "1.2"),
            ("btrifact", "linalg.lu_factor", "1.2"),
            ("btrifact_with_info", "linalg.lu_factor_ex", "1.2"),
            ("btrisolve", "linalg.lu_solve", "1.2"),
            ("btriunpack", "lu_unpack", "1.2"),
            ("potrf", "linalg.cholesky", "1.2"),
            ("potri", "cholesky_inverse", "1.2"),
            ("potrs", "cholesky_solve", "1.2"),
            ("pstrf", "", "1.2"),
            ("trtrs", "linalg.solve_triangular", "1.2"),
        )
    },
    **{  # what it lost first: it held them up to v1.8.1
        f"torch._six.{name}": ("1.9", "", instead, "", "https://github.com/pytorch/pytorch/blob/v1.9.0/torch/_six.py")
        for name, instead in (
            ("container_abcs", "collections.abc"),
            ("int_classes", "builtins.int"),
            ("FileNotFoundError", "builtins.FileNotFoundError"),
            ("StringIO", "io.StringIO"),
        )
    },
    **{
        f"torch._six.{name}": ("2.0", "", instead, "", "https://github.com/pytorch/pytorch/blob/v1.13.1/torch/_six.py")
        for name, instead in (("string_classes", ""), ("inf", "math.inf"), ("nan", "math.nan"))
    },
    "torch._six": ("2.0", "", "", "", NOTES.format("2.0")),
    "torch.legacy": ("1.0", "", "", "", NOTES.format("1.0")),
    "torch.utils.ffi": ("1.0", "", "torch.utils.cpp_extension", "", NOTES.format("1.0")),
    "torch.utils.trainer": ("1.0", "", "", "", NOTES.format("1.0")),
    "torch.onnx.set_training": ("1.6", "", "torch.onnx.select_model_mode_for_export", "", NOTES.format("1.6")),
}

# name: since, replacement, how, whether torch shows a warning, source
DEPRECATED: dict[str, tuple[str, str, str, bool, str]] = {
    "torch.ger": ("1.8", "torch.outer", "rename", False, DOCS.format("torch.ger")),
    "torch.Tensor.ger": ("1.8", "torch.Tensor.outer", "method", False, DOCS.format("torch.ger")),
    "torch.svd": ("1.9", "torch.linalg.svd", "", False, DOCS.format("torch.svd")),
    "torch.Tensor.svd": ("1.9", "torch.linalg.svd", "", False, DOCS.format("torch.svd")),
    "torch.norm": ("1.7", "torch.linalg.vector_norm", "", False, DOCS.format("torch.norm")),
    "torch.qr": ("1.8", "torch.linalg.qr", "qr", True, DOCS.format("torch.qr")),
    "torch.Tensor.qr": ("1.8", "torch.linalg.qr", "qr", True, DOCS.format("torch.qr")),
    "torch.cholesky": ("1.9", "torch.linalg.cholesky", "rename:1|upper", True, DOCS.format("torch.cholesky")),
    "torch.Tensor.cholesky": ("1.9", "torch.linalg.cholesky", "rename:1|upper", True, DOCS.format("torch.cholesky")),
    "torch.lu": ("1.13", "torch.linalg.lu_factor", "", True, "https://github.com/pytorch/pytorch/pull/77636"),
    "torch.Tensor.lu": ("1.13", "torch.linalg.lu_factor", "", True, "https://github.com/pytorch/pytorch/pull/77636"),
    "torch.lu_solve": (
        "1.13", "torch.linalg.lu_solve", "order:1,2,0|LU, pivots, B", True, DOCS.format("torch.lu_solve"),
    ),
    "torch.triangular_solve": (
        "1.11", "torch.linalg.solve_triangular", "", True, DOCS.format("torch.triangular_solve"),
    ),
    "torch.chain_matmul": ("1.9", "torch.linalg.multi_dot", "list", True, DOCS.format("torch.chain_matmul")),
    "torch.nn.Container": ("0.1", "torch.nn.Module", "", True, "https://github.com/pytorch/pytorch/pull/455"),
    "torch.range": ("0.4", "torch.arange", "", True, DOCS.format("torch.range")),
    "torch.set_default_tensor_type": (
        "2.1", "torch.set_default_dtype", "", True, DOCS.format("torch.set_default_tensor_type"),
    ),
    "torch.nn.functional.upsample": ("0.4", "torch.nn.functional.interpolate", "rename", True, _F),
    "torch.nn.functional.upsample_nearest": (
        "0.4", "torch.nn.functional.interpolate", 'keyword:mode="nearest"', True, _F,
    ),
    "torch.nn.functional.upsample_bilinear": (
        "0.4", "torch.nn.functional.interpolate", 'keyword:mode="bilinear", align_corners=True', True, _F,
    ),
    "torch.nn.UpsamplingNearest2d": (
        "1.0", "torch.nn.Upsample", "", False, DOCS.format("torch.nn.UpsamplingNearest2d"),
    ),
    "torch.nn.UpsamplingBilinear2d": (
        "1.0", "torch.nn.Upsample", "", False, DOCS.format("torch.nn.UpsamplingBilinear2d"),
    ),
    **{
        f"torch.nn.init.{name}": ("0.4", f"torch.nn.init.{name}_", "rename", True, _INIT)
        for name in (
            "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
            "kaiming_normal", "orthogonal", "sparse",
        )
    },
    "torch.nn.utils.clip_grad_norm": (
        "0.4", "torch.nn.utils.clip_grad_norm_", "rename", True, BLOB.format("torch/nn/utils/clip_grad.py"),
    ),
    "torch.nn.NLLLoss2d": ("0.4", "torch.nn.NLLLoss", "rename", True, BLOB.format("torch/nn/modules/loss.py")),
    "torch.nn.utils.weight_norm": (
        "2.1", "torch.nn.utils.parametrizations.weight_norm", "", True, BLOB.format("torch/nn/utils/weight_norm.py"),
    ),
    "torch.testing.assert_allclose": (
        "1.12", "torch.testing.assert_close", "", True, BLOB.format("torch/testing/_comparison.py"),
    ),
    "torch.backends.cuda.sdp_kernel": (
        "2.3", "torch.nn.attention.sdpa_kernel", "", True, BLOB.format("torch/backends/cuda/__init__.py"),
    ),
    **{
        f"torch.{device}.amp.{name}": (
            "2.4", f"torch.amp.{name}", f'prepend:"{device}"{names}', True,
            BLOB.format(f"torch/{device}/amp/__init__.py"),
        )
        for device in ("cuda", "cpu")
        # torch.amp's autocast takes the same in another order
        for name, names in (("autocast", "|enabled,dtype,cache_enabled"), ("GradScaler", ""))
    },
    **{
        f"torch.cuda.amp.{name}": (
            "2.4", f"torch.amp.{name}", 'decorator:device_type="cuda"', True,
            BLOB.format("torch/cuda/amp/autocast_mode.py"),
        )
        for name in ("custom_fwd", "custom_bwd")
    },
    "torch.library.impl_abstract": (
        "2.4", "torch.library.register_fake", "rename:2|lib", True, BLOB.format("torch/library.py"),
    ),
    "torch.cuda.memory_cached": (
        "1.4", "torch.cuda.memory_reserved", "rename", True, BLOB.format("torch/cuda/memory.py"),
    ),
    "torch.cuda.max_memory_cached": (
        "1.4", "torch.cuda.max_memory_reserved", "rename", True, BLOB.format("torch/cuda/memory.py"),
    ),
    **{
        f"torch.cuda.reset_max_memory_{what}": (
            "1.4", "torch.cuda.reset_peak_memory_stats", "rename", True, BLOB.format("torch/cuda/memory.py"),
        )
        for what in ("allocated", "cached")
    },
    "torch.nn.utils.stateless.functional_call": (
        "2.0", "torch.func.functional_call", "rename:2|args,kwargs,tie_weights,strict", True,
        BLOB.format("torch/nn/utils/stateless.py"),
    ),
    **{
        f"functorch.{name}": (
            "2.0", f"torch.func.{name}", "rename", True, BLOB.format("torch/_functorch/deprecated.py"),
        )
        for name in ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize")
    },
    **{
        f"functorch.{name}": (
            "2.0", "torch.func.functional_call", "", True, BLOB.format("torch/_functorch/deprecated.py"),
        )
        for name in ("make_functional", "make_functional_with_buffers")
    },
    "functorch.combine_state_for_ensemble": (
        "2.0", "torch.func.stack_module_state", "", True, BLOB.format("torch/_functorch/deprecated.py"),
    ),
    **{
        f"torch.has_{old}": ("2.1", f"torch.backends.{new}", "call", True, BLOB.format("torch/__init__.py"))
        for old, new in (
            ("cuda", "cuda.is_built"), ("cudnn", "cudnn.is_available"), ("mps", "mps.is_built"),
            ("mkldnn", "mkldnn.is_available"),
        )
    },
    "torch.nn.parallel.DistributedDataParallelCPU": (
        "1.2", "torch.nn.parallel.DistributedDataParallel", "rename", True,
        BLOB.format("torch/nn/parallel/__init__.py"),
    ),
    **{
        f"torch.jit.{name}": ("2.10", f"torch.export.{new}", "", False, BLOB.format(f"torch/jit/_{file}.py"))
        for name, file, new in (
            ("script", "script", "export"), ("trace", "trace", "export"), ("trace_module", "trace", "export"),
            ("load", "serialization", "load"), ("save", "serialization", "save"), ("script_method", "script", "export"),
        )
    },
    **{
        f"torch.distributed.{module}{old}": (
            "2.13", f"torch.distributed.{new}", "rename", True, BLOB.format("torch/distributed/distributed_c10d.py"),
        )
        for module in ("", "distributed_c10d.")
        for old, new in (
            ("all_gather_into_tensor", "all_gather_single"), ("reduce_scatter_tensor", "reduce_scatter_single"),
        )
    },
    **{
        f"torch.distributed.checkpoint.{module}{name}_state_dict": (
            "2.2", f"torch.distributed.checkpoint.{name}", "", True,
            BLOB.format(f"torch/distributed/checkpoint/state_dict_{file}.py"),
        )
        for name, file in (("load", "loader"), ("save", "saver"))
        for module in ("", f"state_dict_{file}.")
    },
    **{
        f"torch.{module}nn.quantized.functional.upsample{kind}": (
            "1.13", f"torch.{module}nn.quantized.functional.interpolate", how, True,
            BLOB.format("torch/ao/nn/quantized/functional.py"),
        )
        for module in ("", "ao.")
        for kind, how in (
            ("", "rename"), ("_nearest", 'keyword:mode="nearest"'),
            ("_bilinear", 'keyword:mode="bilinear", align_corners=True'),
        )
    },
    "torch.utils._pytree._register_pytree_node": (
        "2.2", "torch.utils._pytree.register_pytree_node", "twin", True, BLOB.format("torch/utils/_pytree.py"),
    ),
    "torchvision.transforms.v2.ToTensor": (
        "2.0", "", "", True,
        "https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.v2.ToTensor.html",
    ),
}  # fmt: skip

# A private name with a public twin: since when there is the twin, and whether it is the very same object. That of
# `_LRScheduler` is its base class, and what the twin is used for it does too.
PRIVATE: dict[str, tuple[str, str, bool]] = {
    "torch.utils.data._utils.collate.default_collate": ("torch.utils.data.default_collate", "1.11", True),
    "torch.utils.data._utils.collate.default_convert": ("torch.utils.data.default_convert", "1.11", True),
    "torch.utils.data.dataloader.default_collate": ("torch.utils.data.default_collate", "1.11", True),
    "torch.utils.data.dataloader.default_convert": ("torch.utils.data.default_convert", "1.11", True),
    "torch.utils.data._utils.worker.get_worker_info": ("torch.utils.data.get_worker_info", "1.2", True),
    "torch.optim.lr_scheduler._LRScheduler": ("torch.optim.lr_scheduler.LRScheduler", "2.0", False),
    "torch._C.Generator": ("torch.Generator", "1.0", True),
    "torch._C._nn.gelu": ("torch.nn.functional.gelu", "1.4", True),
    "torch._dynamo.disable": ("torch.compiler.disable", "2.1", False),
    "torch._dynamo.reset": ("torch.compiler.reset", "2.1", False),
    "torch._dynamo.allow_in_graph": ("torch.compiler.allow_in_graph", "2.1", False),
    "torch._dynamo.is_compiling": ("torch.compiler.is_compiling", "2.3", False),
    "torch._dynamo.list_backends": ("torch.compiler.list_backends", "2.1", False),
    "torch._utils.is_compiling": ("torch.compiler.is_compiling", "2.3", False),
    "torch._vmap_internals.vmap": ("torch.vmap", "2.0", False),
    "torch.distributed._tensor": ("torch.distributed.tensor", "2.5", False),
    "torch.distributed._tensor.DTensor": ("torch.distributed.tensor.DTensor", "2.5", True),
    "torch.distributed._tensor.Shard": ("torch.distributed.tensor.Shard", "2.5", True),
    "torch.distributed._tensor.Replicate": ("torch.distributed.tensor.Replicate", "2.5", True),
    "torch.distributed._tensor.distribute_tensor": ("torch.distributed.tensor.distribute_tensor", "2.5", True),
    "torch.distributed._tensor.DeviceMesh": ("torch.distributed.device_mesh.DeviceMesh", "2.2", True),
    "torch.distributed._tensor.init_device_mesh": ("torch.distributed.device_mesh.init_device_mesh", "2.2", True),
    "torch.distributed._composable.fsdp.fully_shard": ("torch.distributed.fsdp.fully_shard", "2.6", True),
    "torch.distributed._composable.fsdp.MixedPrecisionPolicy": (
        "torch.distributed.fsdp.MixedPrecisionPolicy", "2.6", True,
    ),
    "torch.distributed._composable.fsdp.FSDPModule": ("torch.distributed.fsdp.FSDPModule", "2.6", True),
    "torch._lowrank.svd_lowrank": ("torch.svd_lowrank", "1.4", True),
    "torch._lowrank.pca_lowrank": ("torch.pca_lowrank", "1.4", True),
}  # fmt: skip

DIFFERS: dict[str, dict[str, object]] = {
    "torch.range": {
        "differs": "which leaves out the end (write `end + 1` where the step is 1) and makes integers of integers",
        "least": 2,
        "earlier": True,
    },
    "torch.set_default_tensor_type": {"differs": _DEVICE},
    "torch.utils._pytree._register_pytree_node": {"differs": _REGISTERED},
    "torch.onnx.set_training": {"differs": "which takes a `torch.onnx.TrainingMode`, and is deprecated itself"},
    "torch.nn.functional.upsample": {"dated": "0.4.1"},
    **{
        f"torch.nn.{name}": {"earlier": True}
        for name in (
            "functional.upsample_nearest", "functional.upsample_bilinear",
            "UpsamplingNearest2d", "UpsamplingBilinear2d",
        )
    },
    **{f"torch.{name}eig": {"differs": _COMPLEX} for name in ("", "Tensor.")},
    **{f"torch.{name}": {"differs": _SOLUTION} for name in ("gels", "lstsq", "Tensor.lstsq")},
    "torch.btrisolve": {"differs": "with the factors first, and a matrix for each right-hand side"},
    "torch.potrf": {"differs": "which gives the lower factor unless told `upper=True`"},
    **{f"torch.{name}": {"differs": _FACTOR} for name in ("potri", "potrs")},
    "torch.trtrs": {"differs": "with the matrix first and `upper` said, and gives the solution alone"},
}  # fmt: skip
"""In what the one that takes its place is another thing, how many arguments it wants; when it was deprecated."""
DERIVED = frozenset(f"torch.{device}.amp.{name}" for device in ("cuda", "cpu") for name in ("autocast", "GradScaler"))
"""Classes that derive from what takes their place."""

TWINS = frozenset({"torch.optim.lr_scheduler._LRScheduler"})
"""Private names that may be replaced, though their public twin is another object."""

LOSSES = [
    "L1Loss", "NLLLoss", "PoissonNLLLoss", "KLDivLoss", "MSELoss", "BCELoss", "BCEWithLogitsLoss",
    "HingeEmbeddingLoss", "MultiLabelMarginLoss", "SmoothL1Loss", "SoftMarginLoss", "CrossEntropyLoss",
    "MultiLabelSoftMarginLoss", "CosineEmbeddingLoss", "MarginRankingLoss", "MultiMarginLoss",
    "TripletMarginLoss",
]  # fmt: skip
LOSS_FUNCTIONS = [
    "l1_loss", "nll_loss", "poisson_nll_loss", "kl_div", "mse_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "hinge_embedding_loss", "multilabel_margin_loss", "smooth_l1_loss",
    "soft_margin_loss", "cross_entropy", "multilabel_soft_margin_loss", "cosine_embedding_loss",
    "margin_ranking_loss", "multi_margin_loss", "triplet_margin_loss",
]  # fmt: skip
SCHEDULERS = [
    "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR",
    "SequentialLR", "PolynomialLR", "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau", "CyclicLR",
    "CosineAnnealingWarmRestarts", "OneCycleLR", "LRScheduler",
]  # fmt: skip
_MODELS = BLOB.format("").replace("pytorch/pytorch/blob/v2.13.0", "pytorch/vision/blob/v0.13.0")

# functions, argument, deprecated, removed, replacement, how, source; whether it is only taken, and does nothing
# ("ignored"); since when there is the replacement, and what of, where that is not as old as the oldest target
ARGUMENTS: list[dict[str, Any]] = [
    {
        "functions": [
            *(f"torch.nn.{name}" for name in LOSSES),
            *(f"torch.nn.functional.{name}" for name in LOSS_FUNCTIONS),
        ],
        "arguments": ["size_average", "reduce"],
        "deprecated": "0.4",
        "instead": "reduction",
        "how": "reduction",
        "source": BLOB.format("torch/nn/_reduction.py"),
    },
    {
        "functions": [f"torch.optim.lr_scheduler.{name}" for name in SCHEDULERS if name != "ChainedScheduler"],
        "arguments": ["verbose"],
        "deprecated": "2.2",
        "removed": "2.7",
        "instead": "get_last_lr()",
        "how": "drop:False",
        "source": BLOB.format("torch/optim/lr_scheduler.py"),
    },
    {
        "functions": ["torch.autograd.backward", ".backward"],
        "arguments": ["retain_variables"],
        "removed": "0.4",
        "instead": "retain_graph",
        "how": "rename",
        "source": BLOB.format("torch/_tensor.py"),
    },
    {
        "functions": ["torch.autograd.backward"],
        "arguments": ["grad_variables"],
        "deprecated": "0.4",
        "instead": "grad_tensors",
        "how": "rename",
        "source": BLOB.format("torch/autograd/__init__.py"),
    },
    {
        "functions": ["torch.autograd.Variable"],
        "arguments": ["volatile"],
        "deprecated": "0.4",
        "ignored": True,
        "instead": "torch.no_grad()",
        "how": "drop:False",
        "source": BLOB.format("torch/csrc/autograd/python_variable.cpp"),
    },
    {
        "functions": ["torch.nn.Hardtanh"],
        "arguments": ["min_value"],
        "deprecated": "0.4",
        "instead": "min_val",
        "how": "rename",
        "source": BLOB.format("torch/nn/modules/activation.py"),
    },
    {
        "functions": ["torch.nn.Hardtanh"],
        "arguments": ["max_value"],
        "deprecated": "0.4",
        "instead": "max_val",
        "how": "rename",
        "source": BLOB.format("torch/nn/modules/activation.py"),
    },
    {
        "functions": ["torch.nn.functional.gumbel_softmax"],
        "arguments": ["eps"],
        "deprecated": "1.1",
        "ignored": True,
        "instead": "",
        "how": "",
        "source": "https://github.com/pytorch/pytorch/pull/13339",
    },
    {
        "functions": ["torch.autograd.profiler.profile"],
        "arguments": ["use_cuda"],
        "deprecated": "2.4",
        "instead": 'use_device="cuda"',
        "instead_since": "2.1",
        "how": "",
        "source": BLOB.format("torch/autograd/profiler.py"),
    },
    {
        "functions": ["torch.onnx.export"],
        "arguments": ["example_outputs", "enable_onnx_checker", "use_external_data_format"],
        "deprecated": "1.10",
        "removed": "1.11",
        "instead": "",
        "how": "",
        "source": NOTES.format("1.11"),
    },
    {
        "functions": ["torchvision.models"],
        "arguments": ["pretrained"],
        "deprecated": "1.12",
        "instead": "weights",
        "instead_since": "1.12",
        "instead_of": "torchvision 0.13",
        "how": "weights",
        "source": _MODELS + "torchvision/models/_utils.py",
    },
    {
        "functions": ["torchvision.models"],
        "arguments": ["pretrained_backbone"],
        "deprecated": "1.12",
        "instead": "weights_backbone",
        "instead_since": "1.12",
        "instead_of": "torchvision 0.13",
        "how": "weights",
        "source": _MODELS + "torchvision/models/_utils.py",
    },
]

# Arguments that are better said: `from` the release in which torch warns (or means something else) where they are not.
UNSAID: list[dict[str, Any]] = [
    {
        "function": "torch.meshgrid",
        "argument": "indexing",
        "since": "1.10",
        "why": 'torch warns, as it will be required; `indexing="ij"` is what it means today',
        "say": '"ij"',
        "keyword_since": "1.10",
        "source": DOCS.format("torch.meshgrid"),
    },
    {
        "function": "torch.utils.checkpoint.checkpoint",
        "argument": "use_reentrant",
        "since": "2.1",
        "why": _REENTRANT,
        "say": "True",
        "keyword_since": "1.11",
        # `context_fn` is refused too: it is for the other way
        "takes": ["function", "preserve_rng_state", "determinism_check", "debug", "early_stop"],
        "source": BLOB.format("torch/utils/checkpoint.py"),
    },
    {
        "function": "torch.utils.checkpoint.checkpoint_sequential",
        "argument": "use_reentrant",
        "since": "2.2",
        "why": _REENTRANT,
        "say": "True",
        "keyword_since": "2.1",
        "source": BLOB.format("torch/utils/checkpoint.py"),
    },
    {
        "function": "torch.cross",
        "argument": "dim",
        "since": "2.2",
        "why": "torch warns, and takes the first dimension of size 3",
        "source": BLOB.format("aten/src/ATen/native/Cross.cpp"),
    },
    {
        "function": "torch.load",
        "argument": "weights_only",
        "changes": "2.6",
        "say": "False",
        "now": "True",
        "keyword_since": "1.13",
        "source": NOTES.format("2.6"),
    },
    {
        "function": "torch.onnx.export",
        "argument": "dynamo",
        "changes": "2.9",
        "say": "False",
        "was": "exports by TorchScript",
        "now": "by torch.export",
        "needs": "needs `onnxscript` and may not keep an old `opset_version`",
        "keyword_since": "2.4",
        "implied": "dynamic_shapes",
        "source": NOTES.format("2.9"),
    },
    {
        "function": "torch.floor_divide",
        "argument": "",
        "changes": "1.13",
        "was": "rounds towards zero",
        "now": "down",
        "cure": "`torch.div` with `rounding_mode` says which",
        "source": NOTES.format("1.13"),
    },
    {
        "function": "torch.stft",
        "argument": "return_complex",
        "since": "2.0",
        "why": "torch refuses real input then",
        "implied": "complex",
        "source": DOCS.format("torch.stft"),
    },
    {
        "function": "torch.hub.load",
        "argument": "trust_repo",
        "changes": "2.11",
        "was": "runs an unknown repository unasked",
        "now": "asks on the terminal whether to trust it",
        "keyword_since": "1.12",
        "source": BLOB.format("torch/hub.py"),
    },
]

# What names stand for that are the same object by another way.
SAME = {
    "torch.functional": "torch",
    "torch.nn.modules": "torch.nn",
    "torch.nn.modules.loss": "torch.nn",
    "torch.serialization": "torch",
    "torch.autograd.variable": "torch.autograd",
    "torch.cuda.amp.autocast_mode": "torch.cuda.amp",
    "torch.cuda.amp.grad_scaler": "torch.cuda.amp",
    "torch.cpu.amp.autocast_mode": "torch.cpu.amp",
    "torch.cpu.amp.grad_scaler": "torch.cpu.amp",
    "torch.nn.utils.clip_grad": "torch.nn.utils",
    "torch.cuda.memory": "torch.cuda",
}
