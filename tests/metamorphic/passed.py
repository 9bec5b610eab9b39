"""
Whether a run came through all places of a proof: what a line alone does not tell.

Of a line with a conditional expression only one arm is run, and `and` may stop at its first operand; a statement may
begin and raise; dropout leaves an empty tensor as it is, and `x[False] = 0` (of Python's own False, which few mean who
write `x[found] = 0`) any; `torch.add(x, 1, out=y)` takes a number for `y`, too, and writes to nothing (who writes
`out=` has a tensor to write to); what the second iteration
of a loop does the first has not done, and a loop or a comprehension over nothing does nothing (that a loop over what
nobody knows runs, and more than once, is the model's word: docs/model.md, "Loops and widening");
a function is run for one call of it,
not for another. Where the text of a
program leaves such a question open, the run has not passed. Knows Python and torch, nothing of the model.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any, TypeAlias

import torch
from torch.overrides import TorchFunctionMode

from torchlint.rule import Finding
from torchlint.syntax.text import Span

Part: TypeAlias = tuple[int, int, int, int]
"""First line and column, last line and column behind the last."""

IN_ORDER = frozenset({"TLN101", "TLN201", "TLN202"})
"""Codes whose proof is a sequence of events, in the order of its steps."""
RAISING_ELSEWHERE = frozenset({"TLN503"})
"""Codes about what torch refuses in another line: that of the backward."""
_INSIDE_LINES = frozenset({"<genexpr>", "<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>"})
"""Code that has frames of its own inside of one statement."""


@dataclass(slots=True)
class Ran:
    """
    What a run did.

    Attributes
    ----------
    lines
        How often each line was come by, without those times at which it raised.
    order
        The lines one after the other.
    parts
        The places in the text of the instructions that ran; none before Python 3.11, which does not tell.
    raised
        The lines at which it raised, whoever caught that.
    empty_dropout
        Whether dropout was given an empty tensor, which torch neither writes nor saves.
    nowhere
        Whether something was written at the place `False`: torch does nothing then, and asks nothing.
    into_number
        Whether a result was written into a number, of which torch makes a tensor that nobody sees.
    """

    lines: Counter[int] = field(default_factory=Counter)
    order: list[int] = field(default_factory=list)
    parts: set[Part] = field(default_factory=set)
    raised: set[int] = field(default_factory=set)
    empty_dropout: bool = False
    nowhere: bool = False
    into_number: bool = False

    def trace(self, frame: FrameType, event: str) -> None:
        """What `sys.settrace` tells of a frame whose instructions are traced."""
        line = frame.f_lineno
        if event != "opcode" and frame.f_code.co_name in _INSIDE_LINES:
            if event == "exception":
                self.raised.add(line)
            return  # how often the line was come by, the frame of the statement around it tells
        if event == "line":
            self.lines[line] += 1
            self.order.append(line)
        elif event == "exception":
            self.lines[line] -= 1
            self.raised.add(line)
        elif event == "opcode" and sys.version_info >= (3, 11):
            first, last, column, end = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
            if first is not None and last is not None and column is not None and end is not None:
                self.parts.add((first, column + 1, last, end + 1))


class Idle(TorchFunctionMode):
    """Notes in a run whether torch is given what it does nothing with: nothing to drop, no place or tensor to write."""

    def __init__(self, ran: Ran) -> None:
        super().__init__()
        self.ran = ran

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if "dropout" in getattr(function, "__name__", ""):
            given = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
            self.ran.empty_dropout |= any(each.numel() == 0 for each in given)
        elif function is torch.Tensor.__setitem__:
            self.ran.nowhere |= args[1] is False
        self.ran.into_number |= isinstance(kwargs.get("out"), int | float)
        return function(*args, **kwargs)


def passed(finding: Finding, ran: Ran, text: str, unknown: Collection[str]) -> bool:
    """Whether a run of a program came through all places of a finding's proof; `unknown` are the names of stand-ins."""
    places = [step.line for step in finding.trace]
    wanted = {finding.span.line, *places}
    twice = "iteration" in finding.message
    told = " ".join((finding.message, *(step.message for step in finding.trace)))
    if (ran.empty_dropout and "dropout" in told) or (ran.nowhere and "[...]" in told):
        return False
    if ran.into_number and "(out=...)" in told:
        return False
    if finding.span.line in ran.raised:  # it came to what it says in another iteration or call
        return False
    if finding.code in RAISING_ELSEWHERE and ran.raised:  # and the program caught it
        return False
    if not all(ran.lines[line] > 0 for line in wanted) or ran.lines[finding.span.line] <= twice:
        return False
    if ran.parts and not any(_within(part, finding.span) for part in ran.parts):
        return False
    if any(ran.lines[line] < 2 for line in _twice(finding, text.splitlines())):
        return False
    tree = ast.parse(text)
    if ran.parts and not all(any(_within(part, arm) for part in ran.parts) for arm in _arms(tree, finding.span)):
        return False
    steps = [(step.line, step.column, step.end_line, step.end_column) for step in finding.trace]
    if ran.parts and not all(any(_within(part, arm) for part in ran.parts) for arm in _arms_around(tree, steps)):
        return False
    calls = [call for place in wanted for call in _calls(tree, place)]
    if not all(ran.lines[line] > 0 for line, *_ in calls):
        return False
    if ran.parts and not all(any(_within(part, call) for part in ran.parts) for call in calls):
        return False
    for first, last in _loops(tree, unknown):
        again = {line for line in wanted if first <= line <= last}
        if not all(ran.lines[line] > 1 for line in again) or not _entered(ran, first, last):
            return False
        if again and _iterations(ran.order, first) < 2:  # a loop inside of it has come by several times in one
            return False
    if ran.parts and not all(any(_within(part, made) for part in ran.parts) for made in _made(tree, wanted, unknown)):
        return False
    return finding.code not in IN_ORDER or _follow(places, ran.order)


def _twice(finding: Finding, lines: list[str]) -> Iterator[int]:
    """The lines at which a proof has two backwards, one that frees a graph and one that reads it."""
    freed = {step.line for step in finding.trace if "frees the graph here" in step.message}
    read = {step.line for step in finding.trace if "comes to the freed node" in step.message}
    for line in freed & read:
        if " for " not in lines[line - 1]:  # a comprehension comes by several times in one
            yield line


def _within(part: Part, place: Part | Span) -> bool:
    line, column, end_line, end_column = part
    if isinstance(place, Span):
        place = (place.line, place.column, place.end_line, place.end_column)
    return place[:2] <= (line, column) and (end_line, end_column) <= place[2:]


def _arms(tree: ast.Module, span: Span) -> Iterator[Part]:
    """The expressions inside of a place that are run on one condition: nobody knows which of them is meant."""
    for node, arms in _conditional(tree):
        if _within(_part(node), span):
            yield from (_part(each) for each in arms)


def _arms_around(tree: ast.Module, steps: Collection[Part]) -> Iterator[Part]:
    """The expressions run on one condition in which a step of a proof stands: it is of a run of these."""
    for _, arms in _conditional(tree):
        yield from (arm for arm in map(_part, arms) if any(_within(step, arm) for step in steps))


def _conditional(tree: ast.Module) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """The expressions that have parts which are run on one condition, and these parts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            yield node, [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            yield node, node.values[1:]


def _part(node: ast.expr) -> Part:
    last, end = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return node.lineno, node.col_offset + 1, last, end + 1


def _calls(tree: ast.Module, line: int) -> Iterator[Part]:
    """
    The calls by which the function around a line is called by its name, or the class around it, as may be written in a
    text: nobody knows which of them is meant.
    """
    definitions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    around = [each for each in definitions if each.lineno <= line <= (each.end_lineno or each.lineno)]
    functions = {each.name for each in around if isinstance(each, ast.FunctionDef)}
    classes = {each.name for each in around if isinstance(each, ast.ClassDef)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in functions:
            yield _part(node)
        named = {each.id for each in ast.walk(node.func) if isinstance(each, ast.Name)}
        written = {str(each.value) for each in ast.walk(node.func) if isinstance(each, ast.Constant)}
        if classes & (named | written):
            yield _part(node)


def _taken(tree: ast.Module, unknown: Collection[str]) -> set[str]:
    """The stand-ins, and the variables that are bound to what one of them gives."""
    names = set(unknown)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) or node.value is None:
            continue
        if any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node.value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(e.id for target in targets for e in ast.walk(target) if isinstance(e, ast.Name))
    return names


def _loops(tree: ast.Module, stand_ins: Collection[str]) -> Iterator[tuple[int, int]]:
    """The loops of which nobody knows how often they run: what they go over, or count with, is a stand-in's."""
    unknown = _taken(tree, stand_ins)
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            over = node.iter if isinstance(node, ast.For) else node.test
            if any(isinstance(each, ast.Name) and each.id in unknown for each in ast.walk(over)):
                yield node.lineno + 1, node.end_lineno or node.lineno


def _made(tree: ast.Module, wanted: Collection[int], stand_ins: Collection[str]) -> Iterator[Part]:
    """What comprehensions of a proof make of each element, as `_loops`: one over nothing has made nothing."""
    unknown = _taken(tree, stand_ins)
    for node in ast.walk(tree):
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and node.lineno in wanted:
            over = [each for generator in node.generators for each in ast.walk(generator.iter)]
            if any(isinstance(each, ast.Name) and each.id in unknown for each in over):
                yield _part(node.elt)


def _iterations(order: list[int], first: int) -> int:
    """How often a loop has come from its head to the first line of its body."""
    number, at_head = 0, False
    for line in order:
        number += at_head and line == first
        at_head = line == first - 1 or (at_head and line != first)
    return number


def _entered(ran: Ran, first: int, last: int) -> bool:
    """Whether a loop has run its body, if it was come by: the model takes it that there is something to go over."""
    return not ran.lines[first - 1] or any(ran.lines[line] > 0 for line in range(first, last + 1))


def _follow(places: list[int], order: list[int]) -> bool:
    """Whether the lines were come by one after the other."""
    rest = iter(order)
    last = 0
    return all(place == last or (last := place) in rest for place in places)
