"""What a run leaves behind is gone when it is over, without the garbage collector."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest

from torchlint.model import interpret
from torchlint.model.state.values import Frame, GraphNode, Storage, Tensor
from torchlint.project.index import ProjectIndex
from torchlint.syntax import ir
from torchlint.syntax.lowering import program_of
from torchlint.syntax.nodes import Nodes

PROGRAM = """
import torch
from torch import nn
from other import Block, scale


class Net(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.inner = Block(width)
        self.weight = nn.Parameter(torch.randn(width, width))

    def forward(self, x, *, deep=False):
        hidden = torch.sigmoid(self.inner(x) @ self.weight)
        for _ in range(3):
            hidden = hidden * scale(hidden) if deep else hidden.tanh()
        hidden[:, 0] = hidden[:, 1]
        hidden = nn.functional.softmax(hidden)
        return hidden, [each.exp() for each in hidden]


def training(loader):
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())

    def step(batch):
        nonlocal net
        loss = net(batch)[0].square().mean()
        loss.backward(retain_graph=True)
        return loss

    for batch in loader:
        if batch.numel() > len(loader):
            continue
        optimizer.zero_grad()
        try:
            step(batch)
        except RuntimeError:
            if batch.isnan().any():
                raise
        match len(batch):
            case 3:
                optimizer.step()


if __name__ == "__main__":
    training([torch.ones(3, 3)])
"""
OTHER = """
import torch
from torch import nn


def scale(x):
    return x.exp().sum(-1, keepdim=True)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return self.layer(x).relu()
"""


ALIKE = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        weights = torch.arange(config.length).float() * (1 / config.width)
        weights = torch.cat([torch.sin(weights), torch.cos(weights)]).view(config.length, -1)
        weights[config.padding, :] = 0
        self.weights = weights

    def forward(self, x):
        return x * self.weights


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.blocks = nn.ModuleList([Block(config), Block(config), Block(config)])
        self.last = Block(config)

    def forward(self, x):
        x.mul_(self.last(x))
        return x
"""


@pytest.mark.parametrize("text", [PROGRAM, ALIKE])
@pytest.mark.parametrize("thorough", [False, True])
def test_nothing_waits_for_the_collector(tmp_path: Path, text: str, thorough: bool) -> None:
    path = tmp_path / "program.py"
    path.write_text(text)
    (tmp_path / "other.py").write_text(OTHER)
    kinds = (Frame, GraphNode, Storage, Tensor, ir.FunctionDef, ir.Call)

    def alive() -> dict[str, int]:
        found = [each for each in gc.get_objects() if isinstance(each, kinds)]
        return {kind.__name__: sum(isinstance(each, kind) for each in found) for kind in kinds}

    def run() -> int:
        program = program_of(text)
        nodes = Nodes(str(path), program)
        events = interpret(program, ProjectIndex(str(path)), nodes.find, thorough=thorough)
        nodes.release()
        return len(events)

    run()  # what is kept of the other file for the next time is kept now
    gc.collect()
    before, enabled = alive(), gc.isenabled()
    gc.disable()
    try:
        assert run() > 0
        after = alive()
    finally:
        if enabled:
            gc.enable()
    assert after == before


CIRCLE = """
from elsewhere import Draw


class Noise(Draw):
    def __init__(self, width):
        super().__init__(width)
        self.drawn = self.draw(width)

    def forward(self, x):
        return x + self.drawn
"""


def test_a_circle_of_values_keeps_no_tree(tmp_path: Path) -> None:
    """An object that holds what a method from elsewhere gave refers to itself, and to its class."""
    path = tmp_path / "program.py"
    path.write_text(CIRCLE)
    program = program_of(CIRCLE)
    nodes = Nodes(str(path), program)
    (returned,) = [each for each in ast.walk(program.at) if isinstance(each, ast.Return)]
    interpret(program, ProjectIndex(str(path)), nodes.find)
    del program
    enabled = gc.isenabled()
    gc.disable()
    try:
        nodes.release()
        del nodes
        holding = [each for each in gc.get_referrers(returned) if isinstance(each, list) and len(each) == 1]
    finally:
        if enabled:
            gc.enable()
    assert holding == []
