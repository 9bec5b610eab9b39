"""TLN902: what its message says of what takes the place of a name holds for each mention that it counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

IMPORTED = "from torch.cuda.amp import autocast\n\n"


def messages(folder: Path, text: str, required: str = "") -> list[str]:
    if required:
        (folder / "pyproject.toml").write_text(f'[project]\ndependencies = ["{required}"]\n')
    return [each.message for each in lint(text, path=str(folder / "use.py"), codes=["TLN902"]).findings]


def test_an_argument_that_is_given_by_position_is_named(tmp_path: Path) -> None:
    """`torch.amp.autocast("cuda", False)` would take False for a dtype: such mentions are told apart."""
    text = IMPORTED + "def f(on):\n    with autocast():\n        pass\n    with autocast(on):\n        pass\n"
    text += "    with autocast(enabled=on):\n        pass\n    return autocast(on, dtype=None)\n"
    plain, named = messages(tmp_path, text)
    assert plain.endswith('use `torch.amp.autocast("cuda", ...)` (and 1 more mention, line 8)')
    assert named.endswith('use `torch.amp.autocast("cuda", enabled=...)` (and 1 more mention, line 10)')


def test_a_scale_by_position_stays_where_it_is(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, "import torch\n\ntorch.cuda.amp.GradScaler(2.0)\n")
    assert 'use `torch.amp.GradScaler("cuda", ...)`' in message


@pytest.mark.parametrize(
    ("name", "required", "said"),
    [
        ("torch.cuda.amp.GradScaler", "", '`torch.amp.GradScaler("cuda", ...)`, there since torch 2.3'),
        ("torch.cuda.amp.GradScaler", "torch>=2.3", '`torch.amp.GradScaler("cuda", ...)`'),
        ("torch.cuda.amp.GradScaler", "torch>=2.2", ""),
        ("torch.cuda.reset_max_memory_allocated", "torch>=1.4", "use `torch.cuda.reset_peak_memory_stats`"),
        ("torch.cuda.reset_max_memory_allocated", "torch>=1.1", ""),
        ("torch.cuda.memory_cached", "torch>=1.3", ""),
        ("torch.cuda.memory_cached", "", "use `torch.cuda.memory_reserved`"),
    ],
)
def test_what_came_later_than_the_oldest(tmp_path: Path, name: str, required: str, said: str) -> None:
    found = messages(tmp_path, f"import torch\n\n{name}()\n", required)
    assert bool(found) is bool(said)
    assert all(each.endswith(said) for each in found), found


def test_other_names_of_a_finding_are_told_with_what_takes_their_place(tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.lu(torch.eye(2))\ny = torch.lu_solve(x, x, x)\n"
    (message,) = messages(tmp_path, text)
    other = "`torch.lu_solve` (now `torch.linalg.lu_solve(LU, pivots, B)`)"
    assert message.endswith(f"(and 1 more mention: {other}, line 4)")


@pytest.mark.parametrize(
    ("use", "remedy"),
    [
        ("kept = torch.cuda.amp.autocast", '`functools.partial(torch.amp.autocast, "cuda")`'),
        ("def made(make=torch.cpu.amp.GradScaler): make()", '`functools.partial(torch.amp.GradScaler, "cpu")`'),
        ("kept = torch.cuda.amp.custom_fwd", '`functools.partial(torch.amp.custom_fwd, device_type="cuda")`'),
        ("kept = torch.chain_matmul", "`torch.linalg.multi_dot`, with other arguments"),
        ("kept = torch.nn.init.normal", "`torch.nn.init.normal_`"),
        ("class Own(torch.cuda.amp.GradScaler): pass", '`torch.amp.GradScaler("cuda", ...)`'),
        ("def made(scaler: torch.cuda.amp.GradScaler): pass", "`torch.amp.GradScaler`"),
    ],
)
def test_what_is_not_called_is_called_with_the_old_arguments(use: str, remedy: str) -> None:
    (finding,) = lint(f"import torch\n\n{use}\n", codes=["TLN902"], strict=True).findings
    assert finding.message.partition(": use ")[2].partition(", there since")[0] == remedy
    assert finding.fix is None or "normal_" in remedy


@pytest.mark.parametrize(
    ("call", "is_fixed"),
    [
        ("torch.nn.utils.stateless.functional_call(net, {}, x)", True),
        ("torch.nn.utils.stateless.functional_call(net, parameters_and_buffers={}, args=x)", False),
        ("torch.library.impl_abstract('a::b', lib=lib)", True),
        ("torch.library.impl_abstract(qualname='a::b')", False),
    ],
)
def test_a_keyword_of_another_name_keeps_the_call_from_being_fixed(call: str, is_fixed: bool) -> None:
    text = f"import torch\n\n{call}\n"
    (finding,) = lint(text, codes=["TLN902"], strict=True).findings
    assert (finding.fix is not None) is is_fixed
