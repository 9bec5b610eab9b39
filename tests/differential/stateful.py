"""
Statements with state of their own: values carried over iterations, objects, closures, counting loops.

Templates and how they are filled; what runs, the generator finds out. Knows Python and torch, nothing of the model.
"""

# ruff: noqa: E501 (tables of statements, many to a line)

from __future__ import annotations

import random
import textwrap

CELLS = (
    "torch.tanh({x} * h)", "h * {x} + {x}", "(h + {x}).sigmoid()", "torch.lerp(h, {x}, 0.5)", "h + {x} * {y}", "{x}.exp() - h",
    "torch.where({x} > 0, h, {x})", "h + 1", "0.9 * h + 0.1 * {x}.detach()",
)  # fmt: skip
EXTRAS = (
    "", "", "", "h[0] = 0", "h.mul_(0.9)", "h += {x}", "total = total + h.sum()", "total += h.sum().item()", "kept.append(h)",
    "kept.append(h.detach())", "h = h.clone()", "with torch.no_grad():\n    h.add_(1)", "state['h'] = h", "h = state.get('h', h)",
)  # fmt: skip
LOSSES = (
    "h.sum()", "h.sum()", "h.pow(2).mean()", "(h - {x}).abs().sum()", "total + h.sum()", "sum(k.sum() for k in kept) + h.sum()",
    "F.mse_loss(h, {x})",
)  # fmt: skip
BACKWARDS = (
    "{loss}.backward()", "{loss}.backward()", "{loss}.backward(retain_graph=True)", "total = total + {loss}", "",
    "g = torch.autograd.grad({loss}, {x})[0]", "g = torch.autograd.grad({loss}, {x}, create_graph=True)[0]\nh = h - 0.1 * g",
)  # fmt: skip
AFTERWARDS = (
    "", "h = h.detach()", "h.detach_()", "h = h.data", "with torch.no_grad():\n    {x} -= 0.1 * {x}.grad", "{x}.grad = None", "h = h.detach().requires_grad_()",
    "kept.clear()", "h, old = h.detach(), h", "{x}.data.sub_(0.01 * {x}.grad)",
)  # fmt: skip
LOOPS = ("for i in range({k}):\n{body}", "for i in range({k}):\n{body}", "i = 0\nwhile i < {k}:\n{body}    i += 1\n")

OBJECTS = (
    """
class Cell{n}:
    def __init__(self, w):
        self.w = w
        self.h = torch.zeros_like(w)

    def step(self, x):
        self.h = torch.tanh(self.h * self.w + x)
        return self.h.sum()

    def forget(self):
        self.h = self.h.detach()


cell{n} = Cell{n}({x})
""",
    """
class Cell{n}:
    scale = 2

    def __init__(self, w):
        self.w, self.h = w, w * self.scale

    @property
    def step(self):
        return lambda x: (self.h * x).sum()

    def forget(self):
        self.h.detach_()


cell{n} = Cell{n}({x})
""",
)
USES = (
    "{v} = {c}.step({y})",
    "{c}.step({y}).backward()",
    "{c}.forget()",
    "{c}.h.mul_(2)",
    "{c}.h = {c}.h * 2",
    "{v} = {c}.h.exp()",
)

CLOSURES = (
    "scale{n} = lambda t: t.mul_(2)\n{v} = scale{n}({x})\n",
    "def outer{n}(w):\n    def inner(t, *rest, k=2, **more):\n        return (t * w).sum() * k\n    return inner\n{v} = outer{n}({x})({y}, k=3)\n",
    "def both{n}(*tensors, **options):\n    for t in tensors:\n        if options.get('write'):\n            t.add_(1)\n    return sum(t.sum() for t in tensors)\n"
    "{v} = both{n}({x}, {y}, write={flag})\n",
    "def early{n}(t):\n    if t.dim() > 5:\n        return t\n    t = t.exp()\n    try:\n        return t * 2\n    finally:\n        t.add_(1)\n{v} = early{n}({x})\n",
    "parts{n} = {{'a': {x}, 'b': {y}.exp()}}\nfor name, t in parts{n}.items():\n    parts{n}[name] = t * 2\n{v} = sum(t.sum() for t in parts{n}.values())\n",
    "first{n}, (second{n}, *_) = {x}, ({y}, {x})\n{v} = first{n}.tanh().sum() + second{n}.sum()\n",
)  # fmt: skip


def carried(rng: random.Random, x: str, y: str) -> str:
    """A loop that carries `h` from one iteration to the next."""
    loss = f"({rng.choice(LOSSES)})"
    lines = [f"h = {rng.choice(CELLS)}"]
    lines += rng.choices(EXTRAS, k=2)
    lines += [rng.choice(BACKWARDS).replace("{loss}", loss), rng.choice(AFTERWARDS)]
    body = textwrap.indent("\n".join(line for line in lines if line), "    ").format(x=x, y=y) + "\n"
    begin = rng.choice(
        ("torch.zeros_like({x})", "torch.zeros_like({x})", "{x} * 1", "{x}.detach().clone()", "{y}")
    ).format(x=x, y=y)
    times = rng.choice((1, 2, 3, 5, 9))
    if "create_graph" in body:
        times = min(times, 5)  # the graph of a gradient of a gradient grows with the power of the iterations
    loop = rng.choice(LOOPS).format(k=times, body=body)
    end = rng.choice(("", "h.sum().backward()\n", "h = h * 2\n", "total = total * 1\n"))
    return f"h = {begin}\ntotal = 0\nkept = []\nstate = {{}}\n{loop}{end}"


def closure(rng: random.Random, number: int, name: str, x: str, y: str) -> str:
    """A function within a function, a lambda, a dictionary gone through, or nested targets."""
    return rng.choice(CLOSURES).format(n=number, v=name, x=x, y=y, flag=rng.choice((True, False)))
