"""The table of changes of torch's API, against the torch that is installed, and against others where there are some."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import textwrap
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import expectations
import pytest
import torch

from torchlint.knowledge.api import find
from torchlint.lint import fixpoint
from torchlint.lint.api import TRUSTED_OWNERS
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.model.observers.api.methods import METHODS
from torchlint.optable import api
from torchlint.optable import api_facts as facts
from torchlint.rule import Finding, Level
from torchlint.syntax.tree import Decoded
from torchlint.target import NEWEST, Release, Target, release, spelled

HERE = release(torch.__version__)
CHANGES = find.changes()
OTHERS = [path for path in os.environ.get("TORCHLINT_TORCHES", "").split(os.pathsep) if path]
"""Interpreters that have other releases of torch."""


@cache
def _get(dotted: str) -> Any:
    parts = dotted.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Any = importlib.import_module(parts[0])
        for number, part in enumerate(parts[1:], start=1):
            if not hasattr(found, part):
                try:
                    importlib.import_module(".".join(parts[: number + 1]))
                except ImportError:
                    break
            found = getattr(found, part, None)
        else:
            return found
        try:  # a function may bear the name of the module that it is in
            return getattr(importlib.import_module(".".join(parts[:-1])), parts[-1], None)
        except ImportError:
            return None


def _ours(name: str) -> bool:
    return not name.startswith("torchvision")


def test_the_newest_release_is_the_one_that_tests_use() -> None:
    assert HERE == NEWEST


def test_every_fact_is_in_the_table() -> None:
    kept = api.TABLE.read_text(encoding="utf-8")
    words = "a fact is not in the table: python -m torchlint.optable.api --facts --write"
    assert api.text(api.with_facts(json.loads(kept))) == kept, words


def test_every_way_to_rewrite_is_explained() -> None:
    """`Change.how` and `Argument.how` say what each word of the table means: whoever adds a row looks there."""
    text = "".join((api.TABLE.parent / file).read_text(encoding="utf-8") for file in ("find.py", "arguments.py"))
    names, arguments = (
        text.partition(f"\nclass {kind}:")[2].partition('"""\n\n')[0] for kind in ("Change", "Argument")
    )
    kept = json.loads(api.TABLE.read_text(encoding="utf-8"))
    words = {row.get("how", "").partition(":")[0] for row in kept["names"].values()}
    assert not [word for word in words if f'"{word}"' not in names and f'"{word}:' not in names]
    words = {row.get("how", "").partition(":")[0] for rows in kept["arguments"].values() for row in rows.values()}
    assert not [word for word in words if f'"{word}"' not in arguments and f'"{word}:' not in arguments]


def test_a_new_fact_becomes_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = json.loads(api.TABLE.read_text(encoding="utf-8"))
    fact = ("2.12", "torch.linalg.det", "rename", True, "https://docs.pytorch.org")
    monkeypatch.setitem(facts.DEPRECATED, "torch.det", fact)
    argument = {
        "functions": ["torch.nn.functional.relu"],
        "arguments": ["inplace"],
        "deprecated": "2.12",
        "source": "x",
    }
    monkeypatch.setattr(facts, "ARGUMENTS", [*facts.ARGUMENTS, argument])
    made = api.with_facts(kept)
    row = {"deprecated": "2.12", "instead": "torch.linalg.det", "how": "rename", "source": "https://docs.pytorch.org"}
    assert made["names"] == kept["names"] | {"torch.det": row}
    assert made["arguments"]["torch.nn.functional.relu"]["inplace"] == {"deprecated": "2.12", "source": "x", "at": 1}


@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if change.removed and _ours(name)])
def test_what_is_gone_is_gone(name: str) -> None:
    """Absent; or a function that raises whatever it is given; or a name that is something else now."""
    removed = CHANGES[name].removed
    assert removed is not None
    assert removed <= HERE
    found = _get(name)
    if found is None or isinstance(found, type(os)):
        return
    with pytest.raises((RuntimeError, TypeError, AttributeError)):
        found(torch.eye(2), torch.eye(2))


@pytest.mark.parametrize("name", [name for name in find.arguments() if name.startswith("torch.") and _ours(name)])
def test_an_argument_is_refused_where_it_is_gone_alone(name: str) -> None:
    """Python says which keyword a function does not know before it says what else is missing."""
    function, refuses = _get(name), "unexpected keyword argument|takes no keyword|dummy base class|required positional"
    for each in find.arguments()[name] if function is not None else ():  # nor of what is gone itself
        said = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**{each.name: None})
        except (TypeError, RuntimeError) as error:
            said = str(error)
        if each.removed:
            assert re.search(refuses, said), each.name
        else:
            assert "unexpected keyword argument" not in said, each.name


@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if not change.removed and _ours(name)])
def test_what_is_not_gone_is_there(name: str) -> None:
    assert _get(name) is not None


@pytest.mark.parametrize("name", sorted({change.instead for change in CHANGES.values() if change.instead}))
def test_what_takes_its_place_is_there(name: str) -> None:
    assert _get(name) is not None


def test_names_that_came_are_there() -> None:
    came = find.watched(Target((0, 4), NEWEST)).too_new
    assert len(came) > 500
    assert [name for name, since in came.items() if since <= HERE and _get(name) is None] == []


def test_the_model_watches_every_method_that_changes() -> None:
    methods = {name.removeprefix("torch.Tensor.") for name in find.changes() if name.startswith("torch.Tensor.")}
    known = methods - {"names"}  # that one is no method
    assert known == METHODS, "METHODS of torchlint/model/observers/api/methods.py names those of the table"


def test_a_method_is_rewritten_as_the_function_of_its_name() -> None:
    """A fix that one of them has, and the other has not, is one that somebody forgot."""
    pairs = [
        (each, CHANGES.get(f"torch.{name.removeprefix('torch.Tensor.')}"))
        for name, each in CHANGES.items()
        if name.startswith("torch.Tensor.")
    ]
    both = [(method, function) for method, function in pairs if function is not None]
    assert len(both) >= 10
    assert [each.name for each, function in both if each.how not in ("method", function.how)] == []


def test_private_names_are_their_twins() -> None:
    for change in CHANGES.values():
        if change.private is not None and change.how == "rename":
            assert _get(change.name) is _get(change.instead), change.name
        if change.how == "twin" and change.private is not None:
            assert issubclass(_get(change.name), _get(change.instead))


A = torch.eye(2) + 0.1
S = A @ A.T
FACTORS = torch.linalg.lu_factor(S)
IMAGE = torch.rand(1, 1, 2, 2)
CALLS: dict[str, Callable[[], str]] = {
    "torch.ger": lambda: "torch.ger(A[0], A[1])",
    "torch.qr": lambda: "torch.qr(A)",
    "torch.cholesky": lambda: "torch.cholesky(S)",
    "torch.chain_matmul": lambda: "torch.chain_matmul(A, S, A)",
    "torch.lu_solve": lambda: "torch.lu_solve(A, FACTORS[0], FACTORS[1])",
    "torch.nn.functional.upsample": lambda: "torch.nn.functional.upsample(IMAGE, 4, mode='nearest')",
    "torch.nn.functional.upsample_nearest": lambda: "torch.nn.functional.upsample_nearest(IMAGE, scale_factor=2)",
    "torch.nn.functional.upsample_bilinear": lambda: "torch.nn.functional.upsample_bilinear(IMAGE, 4)",
    "torch.nn.init.constant": lambda: "torch.nn.init.constant(A.clone(), 2.0)",
    "torch.nn.init.eye": lambda: "torch.nn.init.eye(A.clone())",
    "torch.nn.init.dirac": lambda: "torch.nn.init.dirac(torch.ones(2, 2, 3))",
    "torch.nn.utils.clip_grad_norm": lambda: "torch.nn.utils.clip_grad_norm([torch.nn.Parameter(A)], 1.0)",
    "torch.nn.NLLLoss2d": lambda: "torch.nn.NLLLoss2d(ignore_index=3).ignore_index",
    "torch.cuda.amp.autocast": lambda: "torch.cuda.amp.autocast(False).device",
    "torch.cpu.amp.autocast": lambda: "torch.cpu.amp.autocast(True, torch.bfloat16).fast_dtype",
    "torch.cuda.amp.GradScaler": lambda: "torch.cuda.amp.GradScaler(init_scale=8.0, enabled=False)._device",
    "torch.library.impl_abstract": lambda: "callable(torch.library.impl_abstract('torchlint::none')) and 1",
    "torch.nn.utils.stateless.functional_call": lambda: (
        "torch.nn.utils.stateless.functional_call(torch.nn.Linear(2, 1), {'weight': A[:1], 'bias': A[0, :1]}, (A,))"
    ),
    "functorch.vmap": lambda: "functorch.vmap(torch.sin)(A)",
    "functorch.grad": lambda: "functorch.grad(torch.sin)(A[0, 0])",
    "functorch.jacrev": lambda: "functorch.jacrev(torch.sin)(A)",
    "torch.has_mkldnn": lambda: "torch.has_mkldnn",
    "torch.meshgrid": lambda: "torch.meshgrid(A[0], A[1])",
    "torch.nn.MSELoss": lambda: "torch.nn.MSELoss(size_average=False)(A, S)",
    "torch.nn.L1Loss": lambda: "torch.nn.L1Loss(reduce=False)(A, S)",
    "torch.nn.SmoothL1Loss": lambda: "torch.nn.SmoothL1Loss(True, True)(A, S)",
    "torch.nn.Hardtanh": lambda: "torch.nn.Hardtanh(min_value=-0.5, max_value=0.5)(A)",
    "torch.autograd.Variable": lambda: "torch.autograd.Variable(A, volatile=False)",
}
"""A call of each kind of rewriting; what comes of it is compared with what comes of the rewritten one."""
QUIET = frozenset({"torch.ger", "torch.autograd.Variable"})


def _rewritten(program: str, *, unsafe: bool = False) -> str:
    chosen = expectations.own()
    enabled = frozenset(rule.code for rule in chosen.rules if rule.code.startswith("TLN9"))
    fixed = fixpoint.fix(
        Decoded(program), lambda text: check_text("/a.py", text, chosen, Selection(enabled, strict=True)), unsafe=unsafe
    )
    assert not fixed.notes
    return fixed.text


ARGUMENTS = (
    "torch.qr(A, some=False)",
    "torch.qr(input=A, some=False)",
    "torch.cholesky(input=A, upper=True)",
    "torch.qr(A, True)",
    "torch.cholesky(S, True)",
    "torch.cholesky(S, upper=len(A) > 1)",
    "torch.chain_matmul(A, S, out=torch.empty(2, 2))",
)
"""The same functions with more arguments."""


@pytest.mark.parametrize("name", [*CALLS, *ARGUMENTS])
def test_a_rewriting_means_the_same_and_does_not_warn(name: str) -> None:
    expression = CALLS[name]() if name in CALLS else name
    before = f"import torch\nimport functorch\nfound = {expression}\n"
    # an object of the base is no longer one of the derived class, which somebody may ask for
    kept = name in CHANGES and CHANGES[name].derived
    assert not kept or _rewritten(before) == before
    after = _rewritten(before, unsafe=kept)
    assert after != before
    torch.set_warn_always(True)
    results = []
    for program in (before, after):
        space = {"A": A, "S": S, "IMAGE": IMAGE, "FACTORS": FACTORS}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            exec(program, space)
        about = [each for each in warned if issubclass(each.category, (UserWarning, FutureWarning))]
        told = [str(each.message) for each in about if "CUDA" not in str(each.message)]
        assert bool(told) == (program is before and name not in QUIET), told
        results.append(space["found"])
    first, second = ([each] if not isinstance(each, (tuple, list)) else list(each) for each in results)
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other


def test_every_rewriting_is_tried() -> None:
    kinds = {change.how.partition(":")[0] for change in CHANGES.values() if not change.removed} - {"", "twin", "method"}
    assert kinds == {CHANGES[name].how.partition(":")[0] for name in CALLS if name in CHANGES} | {"decorator"}


def test_what_concerns_a_range() -> None:
    watched = find.watched(Target((1, 13), (2, 0)))
    assert watched.names["torch.symeig"].removed == (2, 0)
    assert "torch.cuda.amp.autocast" not in watched.names  # deprecated in 2.4
    assert watched.too_new["torch.compile"] == (2, 0)
    assert "weights_only" not in watched.new_arguments.get("torch.load", {})
    nobody = find.watched(Target())
    assert not nobody.too_new
    assert not nobody.new_arguments
    assert "torch.cuda.amp.autocast" in nobody.names
    # torch.amp has a GradScaler from 2.3 on: who must run on 2.0 cannot do without the old one
    assert "torch.cuda.amp.GradScaler" not in find.watched(Target((2, 0), NEWEST)).names


_THERE = textwrap.dedent(
    """
    import importlib, json, sys, warnings
    warnings.simplefilter("ignore")
    import torch
    def there(dotted):
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:length]))
            except Exception:
                continue
            for part in parts[length:]:
                if not hasattr(found, part):
                    return False
                found = getattr(found, part)
            return True
        return False
    names = json.load(sys.stdin)
    print(json.dumps([torch.__version__, [name for name in names if there(name)]]))
    """
)


@pytest.mark.slow
@pytest.mark.skipif(not OTHERS, reason="TORCHLINT_TORCHES names no interpreters with other releases of torch")
@pytest.mark.parametrize("python", OTHERS)
def test_other_releases_have_what_the_table_says(python: str) -> None:
    """Names that came later are absent there, those that had come are there; of what went, what has gone is not."""
    came = find.watched(Target((0, 4), NEWEST)).too_new
    gone = {name: change.removed for name, change in CHANGES.items() if change.removed and _ours(name)}
    asked = json.dumps([*came, *gone])
    told = subprocess.run([python, "-c", _THERE], input=asked, capture_output=True, text=True, check=True)
    version, there = json.loads(told.stdout.splitlines()[-1])
    theirs: Release = release(version)
    too_early = [name for name, since in came.items() if since > theirs and name in there]
    missing = [name for name, since in came.items() if (1, 13) < since <= theirs and name not in there]
    print(f"torch {spelled(theirs)}: {len(came)} names that came, {len(gone)} that went")
    assert (too_early, missing) == ([], [])
    left = [name for name, when in gone.items() if when > (1, 13) and when <= theirs and name in there]
    assert all(callable(_get(name)) or _get(name) is None for name in left)


@pytest.mark.parametrize(("first", "count"), [("", 3), ("from __future__ import annotations\n", 0)])
def test_an_annotation_that_is_never_evaluated_uses_nothing(first: str, count: int) -> None:
    text = (
        f"{first}import torch\n\n"
        "def export(options: torch.onnx.ExportOptions) -> torch.onnx.ONNXProgramSerializer: ...\n\n"
        "x: torch._six = 2\n"
    )
    found = [each for each in expectations.lint(text, codes=["TLN901"]).findings if each.code == "TLN901"]
    assert len(found) == count


ENOUGH = (
    "`weights_only=True`, the default from 2.6 on, takes little but tensors and Python's numbers, texts, lists "
    "and dicts"
)
RAISE = (
    "If it holds no others, raise the lower end to torch 2.10: in spite of it, a crafted file runs code before torch "
    "2.6 (CVE-2025-32434) and corrupts memory before torch 2.10 (CVE-2026-24747)"
)
LOADS = {
    ">=2.6": "",
    ">=2.0": f"{ENOUGH}. {RAISE}",
    ">=1.8": f"{ENOUGH}. {RAISE}; torch before 1.13 has no `weights_only`",
    ">=1.8,<1.13": "no release that is allowed has `weights_only`; load only files that nobody else could write",
}
SAVED = "model = torch.nn.Linear(2, 3)\nmodel.load_state_dict(state)\ntorch.save(model, path)\n"


@pytest.mark.parametrize("wanted", LOADS)
def test_a_load_is_told_what_the_range_allows(wanted: str) -> None:
    found = _loads(wanted, "torch.load(path)\n")
    assert [each.message.rpartition("): ")[2] for each in found] == ([LOADS[wanted]] if LOADS[wanted] else [])


@pytest.mark.parametrize(
    ("wanted", "call", "loads"),
    [
        (">=2.0", "torch.load(given)", ": `weights_only=True`, the default from 2.6 on,"),
        (">=2.0,<2.6", "torch.load(given)", ": `weights_only=True`"),
        (">=2.6", "torch.load(given, weights_only=False)", ": `weights_only=True`"),
    ],
)
def test_weights_only_is_not_advised_for_what_the_file_saves_whole(wanted: str, call: str, loads: str) -> None:
    (found,) = _loads(wanted, SAVED + call + "\n")
    assert found.message.endswith(f"{loads} refuses a whole object (line 8); save its `state_dict()` and load that")
    assert found.trace[0].message == "save its `state_dict()` and load that"
    assert found.fix is None
    (other,) = _loads(wanted, SAVED.replace("save(model", "save(model.state_dict()") + call + "\n")
    assert "whole" not in other.message
    assert other.fix is not None


@pytest.mark.parametrize(
    ("made", "what"),
    [
        ("torch.nn.Linear(2, 3)", "a whole module"),
        ("Net()", "a whole module"),
        ("torch.ones(2)", ""),
        ("Other()", "an object of `Other`"),
    ],
)
def test_what_is_saved_is_named(made: str, what: str) -> None:
    text = f"class Net(torch.nn.Module): ...\nclass Other: ...\nkept = {made}\ntorch.save(kept, path)\n"
    (found,) = _loads(">=2.0", text + "torch.load(given)\n")
    remedy = "its plain values" if what.startswith("an object") else "its `state_dict()` and load that"
    assert found.message.endswith(f"refuses {what} (line 9); save {remedy}" if what else RAISE)


def _loads(wanted: str, text: str) -> list[Finding]:
    script = f'# /// script\n# dependencies = ["torch{wanted}"]\n# ///\nimport torch\n\n{text}'
    found = expectations.lint(script, codes=["TLN904"], strict=True).findings
    for each in found:  # what may be refused is strict: nobody can follow the advice
        refused = "` refuses " in each.message or ", refuses " in each.message or wanted.endswith("<1.13")
        assert (each.level is Level.STRICT) == refused
    return [each for each in found if each.code == "TLN904"]


@pytest.mark.parametrize("name", [name for name, change in CHANGES.items() if change.removed and _ours(name)])
def test_what_only_raises_when_called_is_there(name: str) -> None:
    """To name it costs nothing, and to call it raises; what is not so is gone by its name too."""
    found = _get(name)
    assert (found is not None) == CHANGES[name].stub
    assert found is None or callable(found)


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        ("torch.irfft(x, 2, onesided=False)", "`torch.fft.ifft2` takes its place"),
        ("torch.irfft(x, 2, False, False)", "`torch.fft.ifft2` takes its place"),
        ("torch.irfft(x, 2, signal_sizes=(8, 8))", "`torch.fft.irfft2` takes its place"),
        ("torch.irfft(x, signal_ndim=1)", "`torch.fft.irfft` takes its place"),
        ("torch.irfft(x, 3)", "`torch.fft.irfftn` takes its place"),
        ("torch.irfft(x, count)", "`torch.fft.irfftn` takes its place"),
        ("torch.rfft(x, 2, onesided=False)", "`torch.fft.fft2` takes its place"),
        ("torch.rfft(x, 2)", "`torch.fft.rfft2` takes its place"),
        ("torch.ifft(x, 2)", "`torch.fft.ifft2` takes its place"),
        ("x.rfft(2)", "`torch.fft.rfft2` takes its place"),
        ("x.irfft(1, onesided=False)", "`torch.fft.ifft` takes its place"),
        ("torch.rfft(x, 2, onesided=flag)", "say what of `torch.fft` takes its place"),
        ("torch.rfft(x, **options)", "say what of `torch.fft` takes its place"),
        ("back = torch.irfft", "say what of `torch.fft` takes its place"),
    ],
)
def test_a_transform_is_told_by_its_arguments(call: str, instead: str) -> None:
    text = f"import torch\n\ndef f(count, flag, options):\n    x = torch.rand(8, 8, 2)\n    {call}\n"
    (found,) = expectations.lint(text, codes=["TLN901"]).findings
    assert instead in found.message
    named = re.search(r"torch\.fft\.(\w+)` takes", found.message)
    assert named is None or hasattr(torch.fft, named[1])
    assert ("and its real part" in found.message) == ("irfft" in call and ".ifft" in found.message)


def test_owners_that_torch_trusts() -> None:
    assert set(TRUSTED_OWNERS) == set(torch.hub._TRUSTED_REPO_OWNERS)


@pytest.mark.parametrize(
    ("text", "may_be_told"),
    [
        ("from torch.nn import MSELoss, CrossEntropyLoss\n\nloss = CrossEntropyLoss()", False),
        (
            "loss = nn.CrossEntropyLoss( )(x, y), nn.CrossEntropyLoss(ignore_index=0), MyCrossEntropyLoss(None, True)",
            False,
        ),
        ("loss = nn.CrossEntropyLoss(ignore_index=0, reduce=True)", True),
        ("loss = nn.CrossEntropyLoss(None, True)", True),
        ("loss = nn.CrossEntropyLoss(\n    # weight\n    None, True)", True),
        ("loss = nn.CrossEntropyLoss(weight == 0, True)", True),
        ("loss = nn.CrossEntropyLoss \\\n    (None, True)", True),
        ("from torch.nn import CrossEntropyLoss as Loss\n\nloss = Loss(None, True)", True),
        ("from torch.nn import CrossEntropyLoss \\\n    as Loss\n\nloss = Loss(None, True)", True),
        ("from torch.nn import (\n    CrossEntropyLoss as Loss,\n)\n\nloss = Loss(None, True)", True),
        ("Loss = nn.CrossEntropyLoss\nloss = Loss(None, True)", True),
        ("class Loss(nn.CrossEntropyLoss):\n    def __init__(self):\n        super().__init__(None, True)", True),
    ],
)
def test_an_argument_is_told_of_where_it_may_be_given(text: str, may_be_told: bool) -> None:
    spelled_there = find.Spelled(find.watched_anywhere(), text)
    assert ("torch.nn.CrossEntropyLoss" in spelled_there) == may_be_told
    shown = expectations.lint(f"import torch\nimport torch.nn as nn\n\n{text}\n", codes=["TLN903"]).findings
    assert bool(shown) == may_be_told
