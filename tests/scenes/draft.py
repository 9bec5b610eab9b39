"""
A program that is being written: its lines, its names, and the tensors it may speak of.

Knows shapes, so that what is written runs; knows nothing of autograd, which is torch's and the linter's to judge.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Shape = tuple[int, ...]
ROWS, COLUMNS = 3, 4


@dataclass
class Tensor:
    """A variable that holds a float tensor; `leaf` if it was made with `requires_grad=True` and never assigned."""

    name: str
    shape: Shape
    leaf: bool = False


@dataclass
class Draft:
    """The text so far."""

    seed: int
    imports: set[str] = field(default_factory=set)
    definitions: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    tensors: list[Tensor] = field(default_factory=list)
    _taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draw = random.Random(f"scenes/{self.seed}")

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def pick(self, *options: str) -> str:
        return self.draw.choice(options)

    def number(self, low: int, high: int) -> int:
        return self.draw.randint(low, high)

    def name(self, *stems: str) -> str:
        """A name that is not taken yet."""
        stem = self.draw.choice(stems)
        count = self._taken.get(stem, 0)
        self._taken[stem] = count + 1
        return stem if not count else f"{stem}{count + 1}"

    def say(self, *lines: str) -> None:
        """Write lines at the present indentation."""
        self.lines += ["    " * self.depth + line for line in lines]

    @contextlib.contextmanager
    def block(self, header: str) -> Iterator[None]:
        """What is written inside stands under the header; what it names is not spoken of afterwards."""
        self.say(header)
        self.depth += 1
        before = len(self.lines)
        known = list(self.tensors)
        yield
        if len(self.lines) == before:
            self.say("pass")
        self.depth -= 1
        self.tensors = known

    def define(self, lines: Sequence[str]) -> None:
        self.definitions.append(list(lines))

    def known(self, shape: Shape | None = None) -> list[Tensor]:
        return [t for t in self.tensors if shape is None or t.shape == shape]

    def data(self, shape: Shape | None = None) -> Tensor:
        """A variable that needs no gradient."""
        shape = shape or self.draw.choice([(ROWS, COLUMNS), (COLUMNS,), (COLUMNS, ROWS)])
        name = self.name("x", "data", "inputs", "mask", "noise", "target")
        sizes = ", ".join(map(str, shape))
        maker = self.pick("torch.randn", "torch.rand", "torch.ones", "torch.zeros", "torch.empty")
        self.say(
            f"{name} = {maker}({sizes})"
            if maker != "torch.empty"
            else f"{name} = torch.empty({sizes}).uniform_(0.1, 1)"
        )
        return self.keep(name, shape)

    def leaf(self, shape: Shape | None = None) -> Tensor:
        """A variable that requires grad."""
        shape = shape or self.draw.choice([(ROWS, COLUMNS), (COLUMNS,), (COLUMNS, ROWS)])
        name = self.name("w", "weight", "theta", "a", "b", "scale")
        sizes = ", ".join(map(str, shape))
        way = self.number(0, 4)
        if way == 0:
            self.say(f"{name} = nn.Parameter(torch.rand({sizes}))")
        elif way == 1:
            self.say(f"{name} = torch.rand({sizes})", f"{name}.requires_grad_()")
        elif way == 2:
            self.say(f"{name} = torch.ones({sizes}).requires_grad_(True)")
        elif way == 3:
            self.say(f"{name} = torch.randn(({sizes},), requires_grad=True)")
        else:
            self.say(f"{name} = torch.full(({sizes},), 0.5, requires_grad=True)")
        return self.keep(name, shape, leaf=True)

    def keep(self, name: str, shape: Shape, *, leaf: bool = False) -> Tensor:
        tensor = Tensor(name, shape, leaf)
        self.tensors = [t for t in self.tensors if t.name != name] + [tensor]
        return tensor

    def some(self, shape: Shape | None = None) -> Tensor:
        """A known tensor, or a new one; late ones rather than early ones."""
        known = self.known(shape)
        if not known or self.chance(0.1):
            return self.leaf(shape) if self.chance(0.6) else self.data(shape)
        return known[-1] if self.chance(0.4) else self.draw.choice(known)

    def text(self) -> str:
        head = ["import torch", "from torch import nn", *sorted(self.imports), "", "torch.manual_seed(0)"]
        parts = ["\n".join(head), *("\n".join(lines) for lines in self.definitions), "\n".join(self.lines)]
        return "\n\n\n".join(parts) + "\n"
