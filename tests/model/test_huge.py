"""Numbers beyond what torch or a C program can count to: no analysis fails of them, or takes its time for them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from torchlint.lint.engine import check_bytes
from torchlint.lint.registry import Selection, load

NUMBERS = ("10 ** 9", "1_000_000_000", "2_000_000_000_000", str(2**62), str(2**63 - 1), str(2**63), str(10**30))
STATEMENTS = (
    "torch.empty({n}).unbind()",
    "torch.empty({n}, 2).split(1)",
    "torch.empty({n}, 2).chunk({n})",
    "torch.empty(0).chunk({n})",
    "torch.tensor_split(w, {n})",
    "torch.tensor_split(x, {n})",
    "torch.tensor_split(w, [{n}, -{n}])",
    "torch.meshgrid(*[torch.empty({n})] * 3)",
    "torch.combinations(torch.empty({n}), {n})",
    "torch.combinations(torch.empty({n}), 70)",
    "torch.cartesian_prod(torch.empty({n}), torch.empty({n}))[{n}:]",
    "torch.empty({n}, {n}).reshape(-1)[1:].unbind()",
    "torch.empty({n})[1::3].sum().backward()",
    "torch.empty({n})[::{n}][-{n}:{n}]",
    "w[{n}], w[-{n}], w[{n}:{n}], w[..., {n}]",
    "w.size({n}), w.select({n}, {n}), w.transpose({n}, 0), w.permute({n}, -{n}), w.flatten({n})",
    "w.repeat({n}, {n}).unbind(), w.expand({n}, {n}, 3).reshape(-1).chunk(2), w.tile({n})",
    "w.unfold(0, {n}, {n}), w.unfold(0, 2, {n}), w.unfold(0, 1, 0)",
    "torch.as_strided(w, ({n},), ({n},)).unbind()",
    "F.pad(w, ({n}, {n})).unbind(1), F.one_hot(x, {n}), F.interpolate(w[None], scale_factor={n}.0)",
    "F.interpolate(w[None], scale_factor=float({n}) ** 99), F.interpolate(w[None], scale_factor=float('nan'))",
    "F.pixel_shuffle(w, 0), F.pixel_unshuffle(w, 0), torch.tensor_split(w, 0), w.chunk(0), w.split(0), w.split(-1)",
    "F.conv1d(w[None], w[None], stride={n}, padding={n}, dilation={n})",
    "torch.tensordot(w, w, ([{n}], [{n}])), torch.tensordot(torch.tensor(1.0), w, ([0], [0]))",
    "torch.arange({n}).unbind(), torch.arange(0, {n}, 1e-300), torch.arange({n}, 0.5), torch.range(0, {n})",
    "torch.arange(float('inf')), torch.arange(float('nan')), torch.arange(0, {n}, 0)",
    "torch.tril_indices({n}, {n}), torch.triu_indices({n}, 3), torch.tril_indices(3, {n}, {n}), torch.eye({n})",
    "torch.linspace(0, 1, {n}).unbind(), torch.fft.fft(w, {n}), torch.stft(w, {n})",
    "torch.nn.LSTM(2, 2, num_layers={n}), torch.nn.Transformer(8, 2, {n}, {n}), torch.nn.Linear({n}, {n})(w)",
    "torch.nn.ModuleList([torch.nn.Linear(2, 2)] * {n}), torch.nn.Sequential(*[torch.nn.ReLU()] * {n})(w)",
    "[w] * {n}, [w] * -{n}, {n} * [w], [] * {n}, () * -{n}, 'x' * {n}",
    "[w, x][{n}], [w, x][-{n}], [w, x][{n}:], [w, x][::{n}], (w, x)[-{n}:{n}:-{n}]",
    "range({n})[{n}], range(-{n}, {n}), range(0, {n}, {n}), range(1, 2, 3, {n}), len(range({n}))",
    "[row.sum() for row in range({n})], list(range({n})), sum(range({n})), list(enumerate([w] * {n}))",
    "float({n}), {n} / 3, {n} / 0.0, {n} // 0, {n} % 0, {n} * 1e308, -{n}, {n} ** {n}, {n} << {n}, {n} * {n}",
    "w * {n}, w + {n}, w ** {n}, {n} ** w, w == {n}, w.sum() / {n}, w.div({n}).backward()",
    "values.pop({n}), values.insert({n}, w), values.insert(-{n}, w), values.append({n})",
    "values.__setitem__({n}, w), values.index({n})",
    "exec('')\nvalues[{n}] = w\nvalues[{n}:] = [w]\nvalues[::{n}] = [w]\ndel values[{n}]\ndel values[-{n}:]",
    "text = 'ab'\nfor _ in range(60):\n    text = text + text\n    text = text.replace('a', text)",
    "'%{n}d' % 1, '%.{n}f' % 1.0, '%099999999999d' % 1, 'ab' * {n}",
    "x.add_({n})\nx[{n}] = 1\nx[{n}:] = w\nw.data[..., {n}].zero_()",
)
HEADER = """\
import torch
import torch.nn.functional as F

w = torch.randn(2, 3, requires_grad=True)
x = torch.randn(4)
values = [w, x]
"""
FAULT = "x.requires_grad_().exp_().exp_().sum().backward()\n"


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nobody_dies_of_a_huge_number(statement: str, tmp_path: Path) -> None:
    registry = load()
    selection = Selection(frozenset(registry.names), strict=True)
    for number in NUMBERS:
        program = HEADER + statement.format(n=number) + "\n" + FAULT
        begin = time.process_time()
        findings = check_bytes(str(tmp_path / "main.py"), program.encode(), registry, selection).findings
        assert time.process_time() - begin < 5, number
        assert not [each.message for each in findings if each.code == "TLN000"], number


def test_many_objects_with_handlers_that_differentiate_take_seconds(tmp_path: Path) -> None:
    layers = ", ".join(["torch.nn.Linear(2, 2)"] * 400)
    lines = [
        "import torch",
        "from somewhere import Button, ask",
        f"net = torch.nn.Sequential({layers})",
        "class Panel:",
        "    def __init__(self):",
        "        self.net = net",
        "    def press(self):",
        "        self.net(ask(1)).sum().backward()",
    ]
    for n in range(200):
        lines += [f"panel{n} = Panel()", f"Button().clicked.connect(panel{n}.press)"]
    lines += [f"field{n} = ask({n})" for n in range(2000)]
    assert _seconds(lines, tmp_path) < 20


def test_a_window_with_many_handlers_takes_seconds(tmp_path: Path) -> None:
    names = range(200)
    lines = [
        "import torch",
        "from somewhere import Window, Button, ask",
        "class Main(Window):",
        "    def __init__(self):",
    ]
    lines += [
        f"        self.button{n} = Button()\n        self.button{n}.clicked.connect(self.press{n})" for n in names
    ]
    lines += [f"        self.field{n} = ask({n})" for n in names]
    for n in names:
        lines += [f"    def press{n}(self):", *(f"        self.field{each} = ask(self.button{each})" for each in names)]
    assert _seconds(lines, tmp_path) < 15


def _seconds(lines: list[str], folder: Path) -> float:
    registry = load()
    begin = time.process_time()
    check_bytes(str(folder / "main.py"), "\n".join(lines).encode(), registry, Selection(frozenset(registry.names)))
    return time.process_time() - begin
