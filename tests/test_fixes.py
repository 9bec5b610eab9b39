"""
What safe fixes leave as it was, under torch, and that all fixes together come to an end.

A safe fix keeps a program's numbers. Programs are the rules' bad examples and all cases; what is compared, before and
after all safe fixes of the program, with the same seed:

- The program runs as it stands: what it prints, the gradients and values of every leaf it can name (variables,
  parameters of modules and optimizers, elements of lists), and the values of its other tensors, arrays and numbers.
- The program raises as it stands: nothing to compare with in general. The rule's examples are held against a reference.

Where the numbers are themselves the fault, a fix that mends them is unsafe; there, too, the fixed example is held
against a reference. A reference is the mathematically intended program, written without the construct that the rule is
about: out of place, with `torch.func`, by hand. A tail that runs a backward is put behind both where the example has
none. What cannot be compared: numbers that no name leads to (in functions that return nothing), and cases that raise.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from functools import cache

import expectations
import gradients
import pytest
from test_cases import CASES

from torchlint.lint import fixpoint
from torchlint.lint.engine import FileReport
from torchlint.rule import Rule
from torchlint.syntax.tree import Decoded

RULES = {rule.code: rule for rule in expectations.rules()}
NAMES = {rule.name.replace("-", "_"): rule for rule in expectations.rules()}
ASPECTS = ("gradients", "leaves", "others")


@dataclass(frozen=True)
class Program:
    """A program with the rule it is for."""

    rule: Rule
    text: str


@dataclass(frozen=True)
class Reference:
    """The intended program, and a tail for it and the fixed one."""

    text: str
    tail: str = ""


def _programs() -> dict[str, Program]:
    programs = {
        f"{rule.code}-{number}": Program(rule, expectations.stripped(example.source))
        for rule in RULES.values()
        for number, example in enumerate(rule.bad, start=1)
    }
    for case in CASES:
        programs[f"{case.path.stem}-{case.name}"] = Program(NAMES[case.path.stem], expectations.stripped(case.program))
    return programs


PROGRAMS = _programs()


@cache
def _lint(text: str) -> FileReport:
    return expectations.lint(text, strict=True)


def _fixed(program: str, *, unsafe: bool) -> fixpoint.Fixed:
    return fixpoint.fix(Decoded(program), _lint, unsafe=unsafe)


def _differences(one: gradients.Ended, other: gradients.Ended) -> list[str]:
    """What both name and is not the same, and the leaves that only one of them names."""
    found = []
    for aspect in ASPECTS:
        before, after = getattr(one, aspect), getattr(other, aspect)
        found += [
            f"{aspect} of {name}: {before[name]} became {after[name]}"
            for name in before.keys() & after.keys()
            if not _close(before[name], after[name])
        ]
        if aspect != "others":
            found += [f"{aspect}: {name} is in one only" for name in before.keys() ^ after.keys()]
    return found


def _close(one: gradients.Numbers, other: gradients.Numbers) -> bool:
    """Equal but for round-off."""
    largest = max((abs(number) for number in one if math.isfinite(number)), default=0.0)
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=max(1e-6, 1e-5 * largest)) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one, other, strict=True)
    )


REFERENCES = {
    "TLN215-2": Reference("import torch\n\nqueue = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 5.0])\n"),
    "TLN804-1": Reference(
        """
        from torch.utils.data import DataLoader

        loader = DataLoader(range(8), batch_size=4)
        """,
        "import torch\nbatches = torch.stack(list(loader)).float()",
    ),
    "TLN901-1": Reference(
        """
        import torch

        A = torch.rand(3, 3)
        rank = torch.linalg.matrix_rank(A)
        """
    ),
    "TLN107-1": Reference(
        """
        import torch

        critic = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        x = torch.rand(8, 2, requires_grad=True)
        weights = dict(critic.named_parameters())

        def value(weights, x):
            return torch.func.functional_call(critic, weights, (x,)).sum()

        def total(weights, x):
            slope = torch.func.grad(value, argnums=1)(weights, x)
            return value(weights, torch.ones(8, 2)) / 8 + 10 * (slope.norm(dim=1) - 1).pow(2).mean()

        of_weights, of_x = torch.func.grad(total, argnums=(0, 1))(weights, x)
        for name, parameter in critic.named_parameters():
            parameter.grad = of_weights[name]
        x.grad = of_x
        del weights, of_weights, of_x, parameter
        """
    ),
    "TLN110-1": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        model.weight.grad, model.bias.grad = torch.ones(1, 2), torch.ones(1)
        """
    ),
    "TLN110-3": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        out = torch.ones(4, 2) @ model.weight.detach().T + model.bias.detach()
        """,
        "out.requires_grad_().sum().backward()",
    ),
    "TLN111-1": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        prediction = model(torch.ones(4, 2))
        curve = [[float(number)] for number in prediction]
        curve = torch.tensor(curve)
        """,
        "prediction.sum().backward()",
    ),
    "TLN111-2": Reference(
        """
        import torch

        w = torch.ones(3, requires_grad=True)
        scale = torch.full((3,), 2.0)
        """
    ),
    "TLN206-1": Reference(
        """
        import torch

        p = torch.tensor(2.0, requires_grad=True)
        c_copy = torch.tensor(2 * p.item())
        c = 2 * p * 2
        """,
        "c.backward()",
    ),
    "TLN206-2": Reference(
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        slope = 2 * torch.ones(2)
        w.grad = slope
        moved = (0.1 * slope).norm()
        w.data -= 0.1 * slope
        before = torch.ones(2)
        optimizer = torch.optim.SGD([w], lr=0.1)
        del slope
        """
    ),
    "TLN208-1": Reference(
        """
        import torch

        bias = torch.zeros(1, 3)
        rows = bias.expand(4, 3)
        rows = rows + torch.ones(4, 3)
        """
    ),
    "TLN210-1": Reference(
        """
        import torch

        x = torch.tensor(2.0, requires_grad=True)
        (first,) = torch.autograd.grad(x**2, x)
        (x**2 + x**3).backward()
        """
    ),
    "TLN210-2": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        before = list(torch.autograd.grad(model(torch.ones(1, 2)).sum(), list(model.parameters())))
        norms = [g.norm() for g in before]
        """
    ),
    "TLN302-1": Reference(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))

            def forward(self, x):
                return self.layers[2](self.layers[1](self.layers[0](x).relu()).relu()).relu()

        net = Net()
        """,
        "net(torch.ones(2, 4)).sum().backward()",
    ),
    "TLN302-2": Reference(
        """
        import torch

        class Mixture(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.means = torch.nn.Module()
                self.means.a = torch.nn.Parameter(torch.zeros(3))
                self.means.b = torch.nn.Parameter(torch.ones(3))

        mixture = Mixture()
        """,
        "sum(p.exp().sum() for p in mixture.parameters()).backward()",
    ),
    "TLN308-1": Reference(
        """
        from torch import nn

        class Net(nn.Module):
            forward = lambda self, x: self.layer(x)

        net = Net()
        net.layer = nn.Linear(3, 1)
        """,
        "import torch\nnet(torch.ones(2, 3)).sum().backward()",
    ),
    "TLN308-2": Reference(
        """
        import torch

        class Scale(torch.nn.Module):
            forward = lambda self, x: x * self.scale

        scale = Scale()
        scale.register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
        """,
        "scale(torch.ones(2)).sum().backward()",
    ),
    "TLN310-1": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        weight, bias = (p.data for p in model.parameters())
        del model
        """,
        "weight = None",
    ),
    "TLN310-2": Reference(
        """
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        frozen = [(name, p.data) for name, p in model[0].named_parameters()]
        for name, value in frozen:
            delattr(model[0], name)
            model[0].register_buffer(name, value)
        del frozen, value
        """,
        "model(torch.ones(1, 2)).sum().backward()",
    ),
    "TLN403-1": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        before = model.weight.detach().clone()
        with torch.no_grad():
            for _ in range(3):
                loss = model(torch.ones(1, 2)).sum()
                model.weight -= 0.1
                model.bias -= 0.1
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        """
    ),
    "TLN403-2": Reference(
        """
        import torch

        model = torch.nn.Linear(2, 1)
        loss = model(torch.ones(1, 2)).sum()
        with torch.no_grad():
            model.weight -= 0.1
            model.bias -= 0.1
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        """
    ),
    "TLN506-1": Reference(
        """
        import torch

        x = torch.tensor(2.0, requires_grad=True)  # no second derivative: refused
        """
    ),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_the_fixed_example_is_the_intended_program(name: str) -> None:
    program, reference = PROGRAMS[name], REFERENCES[name]
    result = _fixed(program.text, unsafe=True)
    tail = "\n" + reference.tail + "\n"
    after = gradients.run(result.text + tail)
    intended = gradients.run(textwrap.dedent(reference.text) + tail)
    assert not intended.raised, intended.raised
    assert not after.raised, after.raised
    assert after.gradients or after.leaves or after.others
    assert not (differences := _differences(intended, after)), differences
    before = gradients.run(program.text + tail)
    assert before.raised or _differences(intended, before), "the program was right as it stood"


@pytest.mark.parametrize("name", PROGRAMS)
def test_fixes_come_to_an_end_and_safe_ones_keep_the_numbers(name: str) -> None:
    program = PROGRAMS[name]
    codes = {finding.code for finding in _lint(program.text).findings if finding.fix}
    if codes:
        for unsafe in (False, True):
            once = _fixed(program.text, unsafe=unsafe)
            assert not once.notes
            twice = _fixed(once.text, unsafe=unsafe)
            assert (twice.text, twice.applied) == (once.text, 0)
    safe = _fixed(program.text, unsafe=False)
    if not safe.applied:
        return
    before, after = gradients.run(program.text), gradients.run(safe.text)
    if name[:3] == "TLN" and before.raised:
        assert name in REFERENCES or after.raised, "an example that the fix mends has a reference"
    if not before.raised:
        assert not after.raised, after.raised
        assert after.printed == before.printed
        assert not (differences := _differences(before, after)), differences
