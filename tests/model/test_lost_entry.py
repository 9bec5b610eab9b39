"""What goes wrong inside the model costs the entry point that it followed, and nothing else of the file."""

from __future__ import annotations

import re

import pytest

from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection, load
from torchlint.project.index import ProjectIndex
from torchlint.syntax import ir
from torchlint.syntax.place import NodeWantedError

NUMBER = re.compile(r"line \d+")


class Broken(ProjectIndex):
    """A project that fails when somebody looks for its module `broken`."""

    def offers(self, package: str) -> bool:
        if package == "broken":
            raise ZeroDivisionError("a fault of the linter")
        return super().offers(package)

    def program(self, module: str) -> tuple[ir.Program, bool] | None:
        if module == "broken":
            raise ZeroDivisionError("a fault of the linter")
        return super().program(module)


class WithoutANode(ProjectIndex):
    """A project that looks into a node where there are places only, as a fault of an observer would."""

    def program(self, module: str) -> tuple[ir.Program, bool] | None:
        if module == "broken":
            raise NodeWantedError
        return super().program(module)


LOST = """
import torch
import broken
from torch import nn

w = torch.ones(2, requires_grad=True)
y = (w * w).sum()
y.backward()
y.backward()


def lost(x):
    broken.function(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return broken.function(self.layer(x))

    def other(self, x):
        y = x.exp()
        return y.detach().numpy()


if True:
    broken.function(w)


def after():
    w = torch.ones(2, requires_grad=True)
    y = (w * w).sum()
    y.backward()
    y.backward()
"""


def test_an_error_in_the_model_costs_one_entry_point() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchlint.lint.engine.ProjectIndex", Broken)
        registry = load()
        report = check_text("x.py", LOST, registry, Selection(frozenset(registry.names), strict=True))
    assert report.failed
    told = {(finding.span.line, finding.code): finding.message for finding in report.findings}
    assert {(9, "TLN101"), (37, "TLN101")} <= set(told)
    error = "ZeroDivisionError: a fault of the linter (test_lost_entry.py, line N)"
    assert [(line, NUMBER.sub("line N", text)) for (line, code), text in told.items() if code == "TLN000"] == [
        (12, f"the model could not follow `lost`: {error}; the other findings stand"),
        (21, f"the model could not follow `Net.forward`: {error}; the other findings stand"),
        (30, f"the model could not follow the script: {error}; the other findings stand"),
    ]


def test_whoever_wants_a_node_of_a_place_costs_one_entry_point() -> None:
    """It is no `Exception`: nobody between the model and the engine may take it for a failure of theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchlint.lint.engine.ProjectIndex", WithoutANode)
        registry = load()
        report = check_text("x.py", LOST, registry, Selection(frozenset(registry.names), strict=True))
    told = {(finding.span.line, finding.code): finding.message for finding in report.findings}
    assert {(9, "TLN101"), (37, "TLN101")} <= set(told)
    ((line, said),) = [(line, text) for (line, code), text in told.items() if code == "TLN000"]
    assert line == 30
    assert said.startswith("the model could not follow the script: NodeWantedError (test_lost_entry.py")


IN_A_CONTEXT = """
import contextlib
import torch
import broken


@contextlib.contextmanager
def opened():
    yield 1


@contextlib.contextmanager
def both():
    with opened() as one:
        yield one


def lost(x):
    with both() as two:
        broken.function(x)
"""


def test_an_error_inside_a_context_of_the_file_is_told_as_it_is() -> None:
    """The body of such a `with` runs inside the generator: what is on the stack is put back whatever happens there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchlint.lint.engine.ProjectIndex", Broken)
        registry = load()
        report = check_text("x.py", IN_A_CONTEXT, registry, Selection(frozenset(registry.names), strict=True))
    (told,) = [finding.message for finding in report.findings if finding.code == "TLN000"]
    assert "ZeroDivisionError: a fault of the linter" in told


REFUSED = ["max(key=x)", "min()", "sorted(key=x)", "reversed()", "torch.is_vulkan_available(x)"]


@pytest.mark.parametrize("call", REFUSED)
def test_a_call_that_python_refuses_loses_nothing(call: str) -> None:
    registry = load()
    text = f"import torch\n\n\ndef f():\n    x = torch.ones(2)\n    y = {call}\n    return y\n"
    report = check_text("f.py", text, registry, Selection(frozenset(registry.names), strict=True))
    assert not report.failed
    assert not report.findings
