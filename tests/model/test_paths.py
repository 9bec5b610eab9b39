"""
Paths: branches, loops, early exits, calls and closures, each as a program with the findings that hold on its paths.

`somewhere.flag` is a value nobody knows. An error needs a proof on every path that comes to the write; what holds
where one condition does is a warning that names it; what rests on more is silent.
"""

from __future__ import annotations

import textwrap

import expectations
import pytest

HEAD = "import torch\nimport somewhere\nfrom somewhere import flag\nx = torch.ones(3, requires_grad=True)\n"
PROGRAMS = {
    "a function sees what each path has set where it was made": """
        def make():
            y = x.exp()
            def get():
                return y
            if flag:
                return get
            y = x + 1
            return get
        z = make()()
        z.add_(1)  # warning: [TLN201]
        z.sum().backward()
    """,
    "a lambda sees it, too": """
        def make():
            y = x + 1
            get = lambda: y
            if flag:
                y = x.exp()
                return get
            return get
        z = make()()
        z.add_(1)  # warning: [TLN201]
        z.sum().backward()
    """,
    "both arms save": """
        if flag:
            y = x.exp()
        else:
            y = x.sigmoid()
        y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "one arm saves": """
        if flag:
            y = x.exp()
        else:
            y = x + 1
        y.add_(1)  # warning: [TLN201]
        y.sum().backward()
    """,
    "the other arm saves": """
        y = x + 1 if flag == 1 else x.exp()
        y.add_(1)  # warning: [TLN201]
        y.sum().backward()
    """,
    "two conditions": """
        y = x.exp() if flag else x + 1
        if somewhere.other:
            y.add_(1)
        y.sum().backward()
    """,
    "a condition about the mode": """
        y = x.exp() if somewhere.evaluation else x + 1
        y.add_(1)
        y.sum().backward()
    """,
    "a condition that nobody can name": """
        y = x.exp() if somewhere.ask() else x + 1
        y.add_(1)
        y.sum().backward()
    """,
    "one condition, one of several iterations": """
        y = x
        for i in range(somewhere.number):
            y = y.exp() if i == 0 else y + 1
            y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "write in the arm of the save": """
        y = x + 1
        if flag:
            y = x.exp()
            y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "exclusive arms": """
        y = x + 1
        if flag:
            y = x.exp()
        if not flag:
            y.add_(1)
        y.sum().backward()
    """,
    "the same condition twice": """
        y = x + 1
        if flag:
            y = x.exp()
        if flag:
            y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "second iteration": """
        w = torch.ones(3)
        for batch in somewhere.loader:
            loss = (x * w).sum()
            w += 1  # error: [TLN201]
            if flag:
                continue
            loss.backward()
    """,
    "state carried over": """
        h = torch.zeros(3)
        while flag:
            h = torch.tanh(h * x)
            h.sum().backward()  # error: [TLN101]
    """,
    "state detached": """
        h = torch.zeros(3)
        while flag:
            h = torch.tanh(h.detach() * x)
            h.sum().backward()
    """,
    "break before the second backward": """
        y = (x * 2).sum()
        for batch in somewhere.loader:
            y.backward()
            break
    """,
    "return before the write": """
        def step(inputs):
            y = x.exp()
            if flag:
                return y.sum()
            y = x + 1
            y.add_(1)
            return y.sum()
        step(1).backward()
    """,
    "two returns, both broken": """
        def step():
            y = x.exp()
            y.add_(1)  # error: [TLN201]
            if flag:
                return y.sum()
            return y.mean()
        step().backward()
    """,
    "closure and default": """
        scale = torch.ones(3)
        def product(a, factor=scale):
            return (a * factor).sum()
        loss = product(x)
        def spoil():
            scale.add_(1)  # error: [TLN201]
        spoil()
        loss.backward()
    """,
    "through a list": """
        outputs = []
        for step in range(3):
            outputs.append(x.exp())
        outputs[1].add_(1)  # error: [TLN201]
        torch.stack(outputs).sum().backward()
    """,
    "through a dict and a tuple": """
        state = {"pair": (x.exp(), x + 1)}
        first, second = state["pair"]
        second.add_(1)
        first.add_(1)  # error: [TLN201]
        (first + second).sum().backward()
    """,
    "no_grad by decorator": """
        @torch.no_grad()
        def update():
            x.add_(1)
        update()
        x.sum().backward()
    """,
    "enable_grad inside": """
        with torch.no_grad():
            with torch.enable_grad():
                y = x.exp()
            y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "unknown context": """
        with somewhere.context():
            x.add_(1)
    """,
    "expected by a test": """
        import pytest
        y = x.exp()
        with pytest.raises(RuntimeError):
            y.add_(1)
            y.sum().backward()
    """,
    "recursion ends": """
        def power(a, n):
            return a if n == 0 else power(a, n - 1) * a
        power(x, 3).sum().backward()
    """,
    "conditional expression": """
        y = x.exp() if flag else x.sigmoid()
        y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "try and handler": """
        y = x.exp()
        try:
            somewhere.function()
        except ValueError:
            y = y + 1
        else:
            y.add_(1)  # error: [TLN201]
        y.sum().backward()
    """,
    "walrus and comprehension": """
        parts = [part for part in [x.exp(), x.sigmoid()]]
        if (first := parts[0]) is not None:
            first.mul_(2)  # error: [TLN201]
        sum(parts).sum().backward()
    """,
    "known condition": """
        debug = False
        y = x.exp()
        if debug:
            y.add_(1)
        y.sum().backward()
    """,
    "saved on one path, written on the other": """
        y = x + 1
        z = y[:2] * x[:2] if flag else y[:2]
        z += 1
        z.sum().backward()
    """,
    "match": """
        y = x.exp()
        match flag:
            case 1:
                y.add_(1)  # error: [TLN201]
            case _:
                pass
        y.sum().backward()
    """,
}


@pytest.mark.parametrize(
    "program", [pytest.param(HEAD + textwrap.dedent(text), id=name) for name, text in PROGRAMS.items()]
)
def test_findings_on_paths(program: str) -> None:
    assert expectations.check(program) is None


def test_the_condition_is_named() -> None:
    program = HEAD + "y = x + 1 if flag == 1 else x.exp()\ny.add_(1)\ny.sum().backward()\n"
    (finding,) = expectations.lint(program, codes=["TLN201"]).findings
    assert finding.message.endswith("saved for backward, where `flag == 1` does not hold")


def test_more_ways_than_are_kept_leave_none_around() -> None:
    arms = "".join(f"        if self.a{each} is not None:\n            y = self.a{each}(y)\n" for each in range(5))
    given = ", ".join(f"a{each}" for each in range(5))
    text = (
        f"import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, {given}):\n"
        "        super().__init__()\n        self.layer = nn.Linear(3, 3)\n"
        + "".join(f"        self.a{each} = nn.ReLU() if a{each} else None\n" for each in range(5))
        + "\n    def forward(self, x):\n        p = self.layer(x).softmax(-1)\n        p.exp_()\n        y = p * 2\n"
        + arms
        + "        return y\n"
    )
    assert [each.code for each in expectations.lint(text).findings if each.level.value == "error"] == ["TLN201"]


def test_what_one_of_the_values_asks_for_beside_is_asked_for_by_all() -> None:
    text = textwrap.dedent("""
        import torch
        from torch import nn


        class Part(nn.Module):
            def __init__(self, noise):
                super().__init__()
                self.layer = nn.Linear(1, 4)
                self.noise = noise

            def forward(self, x: torch.Tensor):
                if self.training and self.noise > 0:
                    x = x * torch.rand_like(x)
                return self.layer(x)


        class Net(nn.Module):
            def __init__(self, n, m, noise=0.1):
                super().__init__()
                self.m = m
                self.noise = noise
                self.parts = nn.ModuleList([Part(noise) for _ in range(n)])

            def forward(self, x: torch.Tensor):
                if self.training and self.noise > 0:
                    x = x * torch.rand_like(x)
                total = torch.zeros(x.shape[0], self.m)
                for i, part in enumerate(self.parts):
                    col = x[:, i].unsqueeze(1)
                    col.exp_()
                    y = part(col)
                    for j in range(self.m):
                        total[:, j] += y.sum(1)
                return total
    """)
    (finding,) = expectations.lint(text, codes=["TLN201"]).findings
    assert finding.level.value == "warning"
    assert finding.message.endswith("if `x` requires grad")


@pytest.mark.parametrize("cast", ["to(x.dtype)", "type_as(x)"])
def test_a_cast_to_the_dtype_of_an_input_is_named(cast: str) -> None:
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Gate(nn.Module):\n    def __init__(self, n):\n"
        "        super().__init__()\n        self.layer = nn.Linear(n, n)\n\n    def forward(self, x):\n"
        f"        gate = self.layer(x).sigmoid()\n        gate = gate.{cast}\n        gate += 1\n        return gate\n"
    )
    (finding,) = expectations.lint(text, codes=["TLN201"]).findings
    assert finding.level.value == "warning"
    assert finding.message.endswith("where `x.dtype == torch.float32`")


@pytest.mark.parametrize(("activation", "told"), [(".tanh()", ["warning"]), ("", [])])
def test_a_second_part_that_a_branch_has_bound_anew(activation: str, told: list[str]) -> None:
    text = (
        "import torch\nfrom torch import nn\n\n\nclass Cell(nn.Module):\n    def __init__(self, n):\n"
        "        super().__init__()\n        self.one = nn.Linear(n, n)\n        self.two = nn.Linear(n, n)\n\n"
        "    def forward(self, x, batched: bool):\n        a = self.one(x)\n"
        f"        b = self.two(x){activation}\n        b.add_(1)\n        if not batched:\n"
        "            a, b = a.squeeze(0), b.squeeze(0)\n        return a, b\n"
    )
    findings = expectations.lint(text, codes=["TLN201"]).findings
    assert [each.level.value for each in findings] == told
    assert all(each.message.endswith("where the caller differentiates `b`") for each in findings)


def test_of_several_that_saved_the_one_that_surely_did_is_named() -> None:
    """A product with what may be a number saves nothing where it is one."""
    text = textwrap.dedent("""
        import torch
        from torch import nn

        class Focal(nn.Module):
            def __init__(self, gamma=4, smoothing: float = 0.1):
                super().__init__()
                self.gamma = gamma
                self.smoothing = smoothing

            def forward(self, inputs):
                targets = torch.zeros_like(inputs)
                p = inputs.exp()
                p = p * targets
                weight = torch.pow(1 - p, self.gamma * targets)
                weighted = inputs * weight
                if self.smoothing > 0:
                    targets.mul_(1 - self.smoothing)
                loss = -targets.mul(weighted)
                return loss.sum()
    """)
    (finding,) = expectations.lint(text, codes=["TLN201"]).findings
    assert finding.message.endswith("if `inputs` requires grad")
    assert text.splitlines()[finding.trace[0].line - 1].strip() == "p = p * targets"
