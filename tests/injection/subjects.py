"""
The Modules that statements are put into: where they come from, how each is built and called, and its mutants.

Knows Python's syntax, neither torch nor torchlint, so that both sides of the comparison can use it.
"""

from __future__ import annotations

import ast
import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

CATALOGUE = Path(__file__).parent / "subjects.jsonl"
STATEMENTS = (
    "{x}.add_(1)", "{x}.mul_(2)", "{x} += 1", "{x} *= 2", "{x}[..., :1] = 0", "{x}.zero_()", "{x}.relu_()",
    "{x}.exp_()", "{x}.sigmoid_()", "{x}.clamp_(min=0.1)", "{x}.copy_(torch.zeros_like({x}))",
    "torch.nn.functional.relu({x}, inplace=True)",
)  # fmt: skip
"""The in-place statements; `{x}` is the name that was just assigned."""


@dataclass(frozen=True)
class Subject:
    """
    One Module of a package.

    Attributes
    ----------
    package
        As pip installs it: `timm==1.0.19`.
    module, name
        The Python module, and the class in it.
    construct
        An expression that builds it, in the words of `oracle.vocabulary` and of the Python module itself.
    inputs
        An expression for each argument of `forward`, in the same words.
    """

    package: str
    module: str
    name: str
    construct: str
    inputs: dict[str, str]

    def file_of(self, path: str, packages: str) -> str | None:
        """The path of a file in the folder of the packages, or None if it is not one of this Module's package."""
        name = os.path.relpath(os.path.realpath(path), os.path.realpath(packages))
        top = self.module.partition(".")[0]
        return name if name == f"{top}.py" or name.startswith(top + os.sep) else None


@dataclass(frozen=True)
class Mutant:
    """
    A statement put into a file, on the line where an assignment ends, so that no line moves.

    Attributes
    ----------
    line, column
        Where it is inserted: line from 1, column in characters from 0.
    statement
        Without the semicolon before it.
    start
        The line on which the assignment begins: the one that runs.
    """

    line: int
    column: int
    statement: str
    start: int

    def applied(self, text: str) -> str:
        """The file with the statement in it."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = f"{line[: self.column]}; {self.statement}{line[self.column :]}"
        return "".join(lines)


def load(path: Path = CATALOGUE) -> list[Subject]:
    """The committed list."""
    return [Subject(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def save(subjects: list[Subject], path: Path = CATALOGUE) -> None:
    """Write the list, sorted."""
    ordered = sorted(subjects, key=lambda each: (each.package, each.module, each.name))
    path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in ordered), encoding="utf-8")


def mutants(text: str, subject: Subject, seed: int, most: int) -> list[Mutant]:
    """Up to `most` mutants of a Module's `forward`, drawn by the seed."""
    places = list(dict.fromkeys(_places(text, subject.name)))
    draw = random.Random(f"{seed}/{subject.module}.{subject.name}")
    draw.shuffle(places)
    return [
        Mutant(line, column, draw.choice(STATEMENTS).format(x=name), start)
        for line, column, name, start in places[:most]
    ]


def _places(text: str, name: str) -> Iterator[tuple[int, int, str, int]]:
    """The ends of the assignments to plain names in a class's `forward`."""
    lines = text.splitlines(keepends=True)
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == name]
    for method in classes[-1].body if classes else ():
        if isinstance(method, ast.FunctionDef) and method.name == "forward":
            for node in _statements(method.body):
                if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                    line = node.end_lineno or node.lineno
                    column = len(lines[line - 1].encode()[: node.end_col_offset].decode())
                    yield line, column, node.targets[0].id, node.lineno


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.For | ast.While | ast.With | ast.Try):
            for block in (node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])):
                yield from _statements(block)
