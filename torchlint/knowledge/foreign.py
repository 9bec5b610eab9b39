"""
What knows nothing of tensors: the numbers that the standard library and NumPy name and compute, and the packages whose
values are none.

Whoever computes with them keeps what is known of a tensor (`x * math.pi`, `x / math.sqrt(d)`), and a write into an
array, a frame or a file is no write in place that autograd could mind.

References
----------
https://docs.python.org/3/library/math.html, https://docs.python.org/3/library/random.html,
https://docs.python.org/3/library/time.html, https://numpy.org/doc/stable/reference/constants.html. The kinds are those
of `tests/knowledge/test_foreign.py`, which calls every function of `math` on tensors.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

_MATH: Final = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
CONSTANTS: Final[dict[str, float]] = {
    **{f"{module}.{name}": value for module in ("math", "numpy", "torch") for name, value in _MATH.items()},
    "math.tau": math.tau,
}
"""Numbers with a name."""

_KINDS: Final = {
    "int": """
        math.ceil math.comb math.factorial math.floor math.gcd math.isqrt math.lcm math.perm math.trunc
        random.randint random.randrange random.getrandbits time.time_ns time.perf_counter_ns os.cpu_count os.getpid
        torch.cuda.device_count torch.get_num_threads
    """,
    "float": """
        math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt math.copysign math.cos
        math.cosh math.degrees math.dist math.erf math.erfc math.exp math.exp2 math.expm1 math.fabs math.fmod math.fsum
        math.gamma math.hypot math.ldexp math.lgamma math.log math.log10 math.log1p math.log2 math.nextafter math.pow
        math.radians math.remainder math.sin math.sinh math.sqrt math.tan math.tanh math.ulp
        random.random random.uniform random.gauss random.normalvariate random.triangular random.betavariate
        random.expovariate random.gammavariate
        time.time time.perf_counter time.monotonic time.process_time
    """,
    "bool": """
        math.isclose math.isfinite math.isinf math.isnan torch.cuda.is_available torch.distributed.is_available
        torch.distributed.is_initialized torch.backends.mps.is_available
    """,
}
NUMBERS: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}
"""Functions that return a number, and of what kind."""
_LIMITS: Final = {
    "torch.finfo": {"bits": "int", "dtype": "str"},
    "torch.iinfo": dict.fromkeys(("bits", "max", "min"), "int") | {"dtype": "str"},
}
_OF_NUMBERS: Final = frozenset(
    f"numpy.{name}"
    for name in """
        abs arccos arcsin arctan arctan2 ceil clip cos cosh exp expm1 floor hypot log log10 log1p log2 maximum minimum
        power rint round sign sin sinh sqrt square tan tanh
    """.split()  # noqa: SIM905
)
_WRITING: Final = frozenset(
    {"copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal", "shuffle", "permuted"}
)
_PACKAGES: Final = frozenset(
    """
    argparse chainer cv2 datetime flax glob h5py hashlib jax jittor json logging math matplotlib megengine mindspore
    mxnet numpy oneflow onnxruntime os paddle pandas pathlib PIL platform random re scipy shutil skimage sklearn socket
    string subprocess sys tempfile tensorflow time tinygrad unicodedata urllib uuid warnings yaml
    """.split()  # noqa: SIM905
)
_KEEPING_FLAGS: Final = frozenset(
    """
    torch builtins accelerate collections concurrent contextlib copy dataclasses functools inspect itertools
    multiprocessing operator pickle pprint pytest queue tensorboard tensorboardX threading torchmetrics torchvision
    tqdm types typing unittest wandb
    """.split()  # noqa: SIM905
)
_SETTING_FLAGS: Final = (
    "torch.utils.swap_tensors", "torch.ao.", "torch.quantization.", "torch.nn.utils.prune.", "torch.nn.utils.parametri",
    "torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm", "torch.nn.utils.fusion",
)  # fmt: skip
_REPLACING: Final = tuple(
    f"torch.nn.utils.{name}"
    for name in ("prune.", "parametri", "weight_norm", "spectral_norm", "remove_weight_norm", "remove_spectral_norm")
)
_READS: Final = frozenset(
    """
    accumulate accuracy add append assert average averaged backward cache calc calculate check checkpoint clip
    collect compare compute copy count debug describe description display draw dump ema emit equal err error eval
    evaluate exception export extend fill flops forward histogram images info init initialize insert item label load
    log logger loss losses macs meter meters metric metrics norm notify numel observe optimizer optimizers
    parameters params play plot postfix predict print profile progress push put record remember render report
    restore resume sample save scalar scalars scheduler score send show size step stopping store str summarize
    summary test text time title track update valid validate validation visualize warn warning watch weights write
    writer
    """.split()  # noqa: SIM905
)
_KEEPS: Final = frozenset(
    """
    add add_param_group append appendleft collect enqueue extend extendleft insert push put put_nowait record remember
    setdefault store update
    """.split()  # noqa: SIM905
)
_DIFFERENTIATES: Final = frozenset({"accumulate", "backward", "compute", "evaluate", "optimizer", "step", "update"})
_CHANGES: Final = re.compile("freez|froz|detach|require|trainable|no_?grad|repackag|stop_?grad")
_SWITCHES: Final = frozenset({"cut", "disable", "enable", "leaf", "toggle"})
_COPIES: Final = frozenset(
    f"torch.nn.utils.rnn.{name}"
    for name in ("pack_padded_sequence", "pad_packed_sequence", "pack_sequence", "pad_sequence", "unpad_sequence")
)
"""They copy what they are given, and their backward needs its sizes alone (torch/nn/utils/rnn.py)."""
_RUN_GIVEN: Final = frozenset(
    """
    builtins.filter builtins.map builtins.max builtins.min builtins.sorted
    functools.reduce functools.singledispatch itertools.accumulate itertools.dropwhile itertools.filterfalse
    itertools.groupby itertools.starmap itertools.takewhile multiprocessing.Process operator.call threading.Thread
    threading.Timer weakref.finalize weakref.ref atexit.register _thread.start_new_thread
    """.split()  # noqa: SIM905
)
_MAY_RUN_GIVEN: Final = frozenset(each.rpartition(".")[2] for each in _RUN_GIVEN)
_PASSING_ON: Final = frozenset(
    {"random.choice", "random.choices", "random.sample", "random.shuffle", "math.prod", "math.sumprod"}
)
"""Functions of such packages that return what they are given, or compute with it in its own way."""


def result(qualified: str) -> str | None:
    """
    The kind of number ("int", "float", "bool") that a function returns, whatever it is given; None of any other.
    """
    return NUMBERS.get(qualified)


def result_for_numbers(qualified: str) -> bool:
    """Whether a function returns a number if it is given nothing but numbers: NumPy's elementwise ones."""
    return qualified in _OF_NUMBERS


def limit(qualified: str, name: str) -> str | None:
    """The kind of `torch.finfo(...).max` and the like; None if it is none of them."""
    known = _LIMITS.get(qualified)
    return None if known is None else known.get(name, "float")


_FLAGS: Final = ("requires_grad", "detach_")
"""Of the names in torch of what sets a flag: methods of tensors and Modules, operators of `torch.ops.aten`."""


def leaves_arguments(qualified: str) -> bool:
    """Whether a function of NumPy only reads the lists it is given: all do but a few that write into one."""
    return qualified.startswith("numpy.") and qualified.rpartition(".")[2] not in _WRITING


def copies(qualified: str) -> bool:
    """Whether a function that the table of operations lacks copies the tensors it is given, and saves none of them."""
    return qualified in _COPIES


@lru_cache(maxsize=4096)
def is_foreign(qualified: str) -> bool:
    """Whether what something of this name returns can be no tensor, and hold none."""
    root = qualified.partition(".")[0]
    return root in _PACKAGES and root != qualified and qualified not in _PASSING_ON


def may_set_mode(name: str) -> bool:
    """Whether a context manager of this name may set the grad mode; one without a name may."""
    return not name or any(word in name.lower() for word in _OF_MODES)


_OF_MODES = ("grad", "infer", "eval", "context", "ctx")


@lru_cache(maxsize=4096)
def keeps_flags(qualified: str) -> bool:
    """
    Whether something of this name surely leaves `requires_grad` of what it is given as it is: torch (less what sets it,
    and what replaces parameters), and packages that neither freeze nor detach.
    """
    if any(each in qualified for each in _FLAGS):
        return False
    return qualified.partition(".")[0] in _KEEPING_FLAGS and not qualified.startswith(_SETTING_FLAGS)


def runs_given(qualified: str) -> bool:
    """Whether a function of Python's own runs another that it is given."""
    return qualified in _RUN_GIVEN


def keeps_arguments(name: str) -> bool:
    """Whether a method of this name keeps what it is given: who has its object has that."""
    return name in _KEEPS


def may_run_given(name: str) -> bool:
    """Whether a function of this name may be one that runs another that it is given."""
    return name in _MAY_RUN_GIVEN


def replaces_parameters(qualified: str) -> bool:
    """Whether a function of torch makes a parameter of a Module one that is computed."""
    return qualified.startswith(_REPLACING)


@lru_cache(maxsize=4096)
def speaks_of_flags(name: str) -> bool:
    """Whether a name is one of what freezes, detaches, or switches something on or off."""
    return _CHANGES.search(name.lower()) is not None or not _SWITCHES.isdisjoint(_words(name))


@lru_cache(maxsize=4096)
def only_reads(name: str) -> bool:
    """
    Whether a function's name says that it only looks at what it is given, keeps it, or computes with it: `log_loss`,
    `add_scalar`, `evaluate`; of no name that speaks of flags as well (`update_frozen`).
    """
    return not speaks_of_flags(name) and not _READS.isdisjoint(_words(name))


@lru_cache(maxsize=4096)
def may_differentiate(name: str) -> bool:
    """Whether a function's name says that it runs a backward, or what it is given with one."""
    return not only_reads(name) or not _DIFFERENTIATES.isdisjoint(_words(name))


def _words(name: str) -> list[str]:
    """The words of an identifier, in lower case."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower().split("_")
