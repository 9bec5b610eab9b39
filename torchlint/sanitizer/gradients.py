"""
The gradient at each named intermediate of one backward, in the order in which backward makes them.

Only looks: the gradient is read where it comes to a node, and no `retain_grad` and no hook of a tensor is set. What an
intermediate is called is read from the statement whose last operation recorded it; nothing in the source is edited.
"""

from __future__ import annotations

import ast
import linecache
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch

from torchlint.sanitizer import picture
from torchlint.sanitizer.calls import Calls, Recorded, is_readable, recorded_by, storage_of
from torchlint.sanitizer.optimizers import parameter_names
from torchlint.sanitizer.passes import Pass, Passes, saved_by
from torchlint.sanitizer.places import Line, is_program

COLUMNS = ("gradient of", "where", "recorded by", "shape", "norm", "flags")


@dataclass
class Row:
    """One gradient."""

    name: str
    where: str
    op: str
    shape: str
    norm: str
    flags: str
    key: int


class Gradients:
    """
    Follows one backward.

    Parameters
    ----------
    passes
        What stands around the engine.
    number
        Which backward of the run.
    """

    def __init__(self, passes: Passes, number: int) -> None:
        self.calls: Calls = passes.calls
        self.passes = passes
        self.number = number
        self.rows: list[Row] = []
        self.nodes: dict[int, Any] = {}
        self.names: dict[int, str] = {}
        self.drawn: list[picture.Box] = []
        passes.check = False
        passes.seen.append(self._seen)

    def _begin(self, current: Pass) -> None:
        self.nodes = {id(node.metadata): node for node in current.graph}
        variables = _variables(sys._getframe(2))
        self.names = _names(current.graph)
        leaves = {**parameter_names(), **variables}
        for key, node in self.nodes.items():
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                self.names[key] = leaves.get(id(leaf), "a leaf")
        for key, node in self.nodes.items():
            self.drawn.append(self._box(key, node))

    def _seen(self, current: Pass, key: int, gradients: Sequence[Any]) -> None:
        if current.number != self.number or len(self.passes.inside) != 1:
            return
        with torch._C.DisableTorchFunction(), torch.no_grad():
            if not self.nodes:
                self._begin(current)
            node = self.nodes.get(key)
            gradient = next((each for each in gradients if isinstance(each, torch.Tensor)), None)
            if node is None or key not in self.names or gradient is None:
                return
            made = recorded_by(node)
            line = made.place.line if made is not None else None
            self.rows.append(
                Row(
                    self.names[key],
                    "" if line is None else f"{line.path}:{line.line}",
                    "leaf" if made is None else made.op,
                    "×".join(map(str, gradient.shape)) or "scalar",
                    *_measured(gradient),
                    key,
                )
            )

    def _box(self, key: int, node: Any) -> picture.Box:
        made = recorded_by(node)
        saved: list[str] = []
        hit: list[str] = []
        for name, value in saved_by(node):
            if isinstance(value, torch.Tensor):
                saved.append(f"{name} {'×'.join(map(str, value.shape)) or 'scalar'}")
            elif isinstance(value, RuntimeError) and "inplace" in str(value):
                saved.append(name)
                hit += self._hits(made, node, name)
        line = made.place.line if made is not None else None
        return picture.Box(
            key,
            self.names.get(key, ""),
            node.name(),
            "" if line is None else f"{line.path}:{line.line}",
            tuple(saved),
            tuple(dict.fromkeys(hit)),
            tuple(id(following.metadata) for following, _ in node.next_functions if following is not None),
        )

    def _hits(self, made: Recorded | None, node: Any, name: str) -> Iterator[str]:
        data = getattr(getattr(node, f"_raw_saved_{name}", None), "data", None)
        clock = 0 if made is None else made.clock
        for write in self.calls.writes.get(storage_of(data), ()) if isinstance(data, torch.Tensor) else ():
            line = write.place.line
            if write.clock > clock and line is not None:
                yield f"{name} overwritten at {line.path}:{line.line} by {write.op}"

    def told(self, task: dict[str, Any]) -> str:
        """The table, and the picture if one is asked for."""
        if not self.rows:
            seen = self.passes.number
            how = "no backward" if seen == 0 else f"{seen} {'backward' if seen == 1 else 'backwards'}"
            if self.nodes:
                return f"torchlint: backward number {self.number} goes through nothing that has a name in the program\n"
            return f"torchlint: backward number {self.number} was not seen: the program ran {how}\n"
        if task["format"] == "json":
            import json

            rows = [{k: v for k, v in vars(row).items() if k != "key"} for row in self.rows]
            text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
        else:
            cells = [COLUMNS, *((r.name, r.where, r.op, r.shape, r.norm, r.flags) for r in self.rows)]
            widths = [max(len(row[column]) for row in cells) for column in range(len(COLUMNS))]
            lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
            text = "\n".join(lines) + "\n"
        if task["svg"]:
            try:
                with open(task["svg"], "w", encoding="utf-8") as file:
                    file.write(
                        picture.svg(self.drawn, {row.key: f"|grad| {row.norm} {row.flags}" for row in self.rows})
                    )
            except OSError as error:
                text += f"torchlint: cannot write {task['svg']}: {error.strerror}\n"
        return text


def _measured(gradient: torch.Tensor) -> tuple[str, str]:
    if not (gradient.is_floating_point() or gradient.is_complex()) or gradient.layout is not torch.strided:
        return "", ""
    if not is_readable(gradient):
        return "", ""
    norm = float(torch.linalg.vector_norm(gradient.detach().double() if not gradient.is_complex() else gradient))
    flags = []
    if not math.isfinite(norm):
        if bool(torch.isnan(gradient).any()):
            flags.append("NaN")
        if bool(torch.isinf(gradient).any()):
            flags.append("inf")
    elif norm == 0:
        flags.append("zero")
    return f"{norm:.4g}", " ".join(flags)


def _names(nodes: Sequence[Any]) -> dict[int, str]:
    """What the results of nodes are assigned to, by the address of the node's metadata."""
    made: dict[int, tuple[Recorded, Any]] = {}
    for node in nodes:
        label = recorded_by(node)
        if label is not None:
            known = made.get(id(label))
            if known is None or node._sequence_nr() > known[1]._sequence_nr():
                made[id(label)] = (label, node)
    ordered = sorted(made.values(), key=lambda pair: pair[0].clock)
    found: dict[int, str] = {}
    for (label, node), (following, _) in zip(ordered, [*ordered[1:], (None, None)], strict=True):
        for depth, line in enumerate(label.place.lines):
            if following is not None and _same_statement(label, following, depth):
                break
            name = _assigned(line)
            if name:
                found[id(node.metadata)] = name
                break
    return found


def _same_statement(label: Recorded, following: Recorded, depth: int) -> bool:
    """Whether the next call belongs to the same statement of this frame: it is then not what was assigned."""
    own, other = label.place.lines[depth:], following.place.lines
    if len(other) < len(own):
        return False
    theirs = other[len(other) - len(own) :]
    statement = _statement(own[0])
    if theirs[0].code is not own[0].code or _statement(theirs[0]) != statement or statement is None:
        return False
    return own[1:] == theirs[1:] and theirs[0].offset >= own[0].offset


_statements: dict[str, list[tuple[int, int, str]]] = {}


def _statement(line: Line) -> tuple[int, int, str] | None:
    """First line, last line, and name that is assigned, of the simple statement at a line."""
    name = line.code.co_filename
    if name not in _statements:
        try:
            tree = ast.parse("".join(linecache.getlines(name)))
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        _statements[name] = [
            (node.lineno, node.end_lineno or node.lineno, _target(node))
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and not hasattr(node, "body")
        ]
    return next((each for each in _statements[name] if each[0] <= line.line <= each[1]), None)


def _assigned(line: Line) -> str:
    found = _statement(line)
    return "" if found is None else found[2]


def _target(node: ast.stmt) -> str:
    target: ast.expr | None = None
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        target = node.target
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func  # `y.mul_(2)`
        if isinstance(function, ast.Attribute) and function.attr.endswith("_") and not function.attr.endswith("__"):
            target = function.value
    return ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)) else ""


def _variables(frame: FrameType | None) -> dict[int, str]:
    found: dict[int, str] = {}
    while frame is not None:
        if is_program(frame.f_code):
            for scope in (frame.f_locals, frame.f_globals):
                for name, value in list(scope.items()):
                    if isinstance(value, torch.Tensor):
                        found.setdefault(id(value), name)
        frame = frame.f_back
    return found
