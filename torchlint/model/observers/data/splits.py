"""
Sees attributes that are set on a dataset through one part of a split of it: all parts hold the same object
(https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split). Read from the text, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.knowledge.names import RANDOM_SPLIT, SUBSET
from torchlint.model.events.data import SharedDatasetChanged
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import argument
from torchlint.model.observers.written import Imports, assignments, scopes
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir
from torchlint.syntax.dataflow import alike
from torchlint.syntax.spelling import dotted


class SharedDatasets(Observer):
    """Raises `SharedDatasetChanged`."""

    words = (".dataset.",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        imports = Imports(program)
        for scope in scopes(program):
            for block in _blocks(scope.own):
                for parts, split in _splits(block, imports):
                    self._look_at(parts, split, block, scope.whole)

    def _look_at(
        self, parts: list[str], split: ir.Statement, block: list[ir.Statement], scope: list[ir.Statement]
    ) -> None:
        bound = [dotted(target) for target, _, _ in assignments(scope)]
        unpacked = [target for target, _, _ in assignments(scope) if isinstance(target, ir.Sequence)]
        bound += [dotted(each) for target in unpacked for each in target.elements]
        if any(bound.count(part) > 1 or f"{part}.dataset" in bound for part in parts):
            return
        found: list[tuple[str, ir.Attribute, ir.Assign]] = []
        for statement in block[block.index(split) + 1 :]:
            if isinstance(statement, (ir.For, ir.While)):
                break  # what is set behind a loop need not hold for what it went through
            target = statement.targets[0] if isinstance(statement, ir.Assign) else None
            if not isinstance(statement, ir.Assign) or not isinstance(target, ir.Attribute):
                continue
            part = dotted(target.value).removesuffix(".dataset")
            if part in parts and dotted(target.value) == f"{part}.dataset":
                found.append((part, target, statement))
        if not found:
            return
        part, target, last = found[-1]
        for other, attribute, statement in found[:-1]:
            if attribute.attr == target.attr and other != part and alike(statement.value, last.value):
                return  # all parts are given the same
        others = tuple(each for each in parts if each != part and _is_used(each, scope))
        if others:
            self.machine.emit(
                SharedDatasetChanged(
                    node=target.origin,
                    statement=last.line,
                    trace=(Step(split.origin, "the parts of the split hold the same dataset"),),
                    part=part,
                    others=others,
                    attribute=target.attr,
                )
            )


def _blocks(scope: list[ir.Statement]) -> Iterator[list[ir.Statement]]:
    yield scope
    for statement in scope:
        for block in ir.blocks(statement):
            yield from _blocks(block)


def _splits(block: list[ir.Statement], imports: Imports) -> Iterator[tuple[list[str], ir.Statement]]:
    """The names of parts that share a dataset, and the (last) statement that makes them."""
    subsets: dict[str, tuple[list[str], ir.Statement]] = {}
    for statement in block:
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Call):
            continue
        qualified, target = imports.qualified(statement.value.function), statement.targets[0]
        if qualified in RANDOM_SPLIT and isinstance(target, ir.Sequence):
            names = [dotted(each) for each in target.elements]
            yield [name for name in names if name and name != "_"], statement
        of = argument(statement.value, 0, "dataset") if qualified in SUBSET else None
        if of is not None and dotted(of.value) and dotted(target):
            known, _ = subsets.get(dotted(of.value), ([], statement))
            subsets[dotted(of.value)] = [*known, dotted(target)], statement
    for names, statement in subsets.values():
        if len(names) > 1:
            yield names, statement


def _is_used(part: str, scope: list[ir.Statement]) -> bool:
    """Whether a part is read, but for setting something on its dataset."""
    setting = {id(each) for target, _, _ in assignments(scope) for each in ir.walk(target)}
    return any(
        isinstance(each, (ir.Name, ir.Attribute)) and dotted(each) == part and id(each) not in setting
        for each in ir.walk(scope)
    )
