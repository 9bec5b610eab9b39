"""
What a file imports from its own project: functions, classes and constants of other files, found when they are needed.

A name of another file is looked up in the statement that binds it, and only that statement is run, in a machine of its
own: what it raises is the other file's business. What cannot be found, or is bound in several ways, stays unknown.
Which file a module is, is the driver's knowledge (`Project`); no file is opened here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Protocol

from torchlint.model.python.interpreter import interpreter
from torchlint.model.python.registries import Changed, constant, is_stateless, plain
from torchlint.model.state.budget import BudgetExceededError, TooDeepError
from torchlint.model.state.values import (
    NONE,
    Bound,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Globals,
    Partial,
    Sequence,
    Unknown,
    Value,
    choose,
    fits,
    globals_of,
    unknown_guard,
)
from torchlint.syntax import ir
from torchlint.syntax.argument_writes import is_initialiser
from torchlint.syntax.bindings import absolute
from torchlint.syntax.features import BUILDS_WRITER
from torchlint.syntax.unread import may_write

MOST_STEPS = 400
"""Statements and calls followed to find one name."""
MOST_HOPS = 12
"""Files a name is followed through: `from .layers import Block`, where `layers/__init__.py` has it from elsewhere."""


MOST_STARS: Final = 12
"""Star imports of one file that are searched for a name: an index of hundreds of files is no place to look."""
MOST_FILES = 60
"""Files that are looked into for one file."""

_GLOBAL = re.compile(r"global\b")


class Project(Protocol):
    """The files of the project that a file belongs to."""

    @property
    def module(self) -> str:
        """The dotted name under which others import the file; "" if there is none."""

    @property
    def is_package(self) -> bool:
        """Whether the file is the `__init__.py` of a package of that name."""

    def offers(self, package: str) -> bool:
        """Whether there is a file or a folder of that name where the project's imports begin."""

    def writes_to_arguments(self, qualified: str, switched: bool) -> bool:
        """
        Whether a full name is a function that looks as if it wrote in place to what it is given, or a class whose
        objects do; of those that must be told so only where that may have been said (`switched`).
        """

    def candidates(self, module: str) -> frozenset[str]:
        """The names of a module that may be such functions; none of what is no file."""

    def mentioning(self, word: str) -> Iterator[tuple[str, str]]:
        """Other files of the package that hold a word: as shown to people, and what is in them."""

    def program(self, module: str) -> tuple[ir.Program, bool] | None:
        """The program of the file that a dotted name stands for, and whether it is a package; None if there is none."""


class Importer:
    """
    The other files of a project as one run sees them (`run.Imports`).

    Parameters
    ----------
    project
        The files.
    own
        The variables of the file under analysis, which others may import.
    """

    def __init__(self, project: Project, own: Globals) -> None:
        self.project = project
        self._own = own
        own.module, own.is_package = project.module, project.is_package
        self._files: dict[str, Globals | None] = {project.module: own} if project.module else {}
        self._bindings: dict[int, dict[str, list[tuple[ir.Statement, bool]]]] = {}
        self._programs: dict[int, ir.Program] = {}
        self._values: dict[str, Value | None] = {}
        self._offered: dict[str, bool] = {}
        self._argument_writers: set[str] = set()
        self._sought: dict[tuple[int, str], Value | None] = {}
        """What was looked for in star imports, while one name is."""
        self._hops = 0
        self._opened = 0
        self.run = interpreter()
        self.run.imports = self

    def absolute(self, frame: Frame, qualified: str) -> str:
        """The full name of something imported in a frame: without the dots of a relative import."""
        file = globals_of(frame)
        if not qualified.startswith(".") or not isinstance(file, Globals) or not file.module:
            return qualified
        return absolute(qualified, file.module, file.is_package)

    def writes_to_arguments(self, qualified: str) -> bool:
        """Whether a full name is one of those that `argument_writers` found."""
        return qualified in self._argument_writers

    def argument_writers(self, program: ir.Program, words: set[str]) -> list[tuple[str, frozenset[str]]]:
        """
        Of the words of the file under analysis, those by which it calls such functions: an imported name, or one of a
        module and what of it.
        """
        found: list[tuple[str, frozenset[str]]] = []
        for statement in program.body:
            for name in statement.names if isinstance(statement, ir.Import) else ():
                if name.bound not in words or is_initialiser(name.bound):
                    continue
                try:
                    writing = self._writing(name, words)
                except Exception:  # where the name is used its file is asked again, and that is told of one entry point
                    continue
                if writing is not None:
                    found.append((name.bound, writing))
        return found

    def _writing(self, name: ir.ImportName, words: set[str]) -> frozenset[str] | None:
        """What is written after an imported name to call such functions, nothing if it is one itself; None: no such."""
        qualified = self.absolute(self._own, name.qualified)
        if not self.offers(qualified):
            return None
        switched = BUILDS_WRITER in words or "inplace" in words
        if self.project.writes_to_arguments(qualified, switched):
            self._argument_writers.add(qualified)
            return frozenset()
        module = name.imported or qualified
        attributes = words & self.project.candidates(module)
        writing = frozenset(
            each for each in attributes if self.project.writes_to_arguments(f"{module}.{each}", switched)
        )
        self._argument_writers.update(f"{module}.{each}" for each in writing)
        return writing or None

    def offers(self, qualified: str) -> bool:
        """Whether a full name may be one of the project's: it has a file or a folder called like its first part."""
        if qualified.startswith((".", "builtins.", "torch.")):
            return False
        package = qualified.partition(".")[0]
        if package not in self._offered:
            self._offered[package] = self.project.offers(package)
        return self._offered[package]

    def value(self, qualified: str) -> Value | None:
        """The value of a full name, if a file of the project defines it and it is certain which it is."""
        if qualified.startswith((".", "builtins.", "torch.")):
            return None
        if qualified not in self._values:
            self._values[qualified] = None  # whoever asks again on the way finds nothing: a circle
            self._values[qualified] = self._value(qualified)
        return self._values[qualified]

    def _value(self, qualified: str) -> Value | None:
        module, _, rest = qualified.rpartition(".")
        attributes = [rest]
        while module:
            file = self._file(module)
            if file is not None:
                return self._attribute(file, attributes)
            module, _, rest = module.rpartition(".")
            attributes.insert(0, rest)
        return None

    def _attribute(self, file: Globals, attributes: list[str]) -> Value | None:
        value = self.name(file, attributes[0])
        for attribute in attributes[1:]:
            if isinstance(value, External):
                value = self.value(f"{value.qualified}.{attribute}")
            elif isinstance(value, Class) and attribute in value.attributes:
                value = value.attributes[attribute]
            else:
                return None
        if isinstance(value, External):
            return self._follow(value)
        if value is None or isinstance(value, Unknown):
            return None
        return value if file.other or certain(value) else None

    def _may_change(self, file: Globals, name: str) -> bool:
        """Whether somebody may change the container of a name of another file."""
        program = self._programs.get(id(file))
        if program is None:
            return False
        if program.changed is None:
            program.changed = Changed(program.body)
        return name in program.changed

    def _follow(self, value: External) -> Value | None:
        """What a name is that another file has imported itself."""
        if self._hops == MOST_HOPS:
            return None
        self._hops += 1
        try:
            return self.value(value.qualified) or value
        finally:
            self._hops -= 1

    def _file(self, module: str) -> Globals | None:
        if module not in self._files:
            self._files[module] = None
            found = self.project.program(module) if self._opened < MOST_FILES else None
            if found is not None:
                self._opened += 1
                program, is_package = found
                file = Globals({}, module=module, is_package=is_package, other=True)
                file.variables["__name__"] = Constant(module)
                if program.bindings is None:
                    program.bindings = _bindings(program)
                self._bindings[id(file)] = dict(program.bindings)
                self._programs[id(file)] = program
                self._files[module] = file
        return self._files[module]

    def name(self, frame: Globals, name: str) -> Value | None:
        """The value of a variable that a file has not set as far as it has run."""
        if name in frame.variables:
            return frame.variables[name]
        bindings = self._bindings.get(id(frame), {})
        found = bindings.pop(name, None)
        if found is not None:
            statement, sure = found[-1]
            if sure or len(found) == 1:
                return self._run(frame, statement, name)
            return self._run_optional(frame, [each for each, _ in found], name)
        key = (id(frame), name)
        if key in self._sought:
            return self._sought[key]
        first = not self._sought
        self._sought[key] = None  # whoever asks again on the way finds nothing: files that import each other
        try:
            value = self._sought[key] = self._from_stars(frame, bindings, name)
        finally:
            if first:
                self._sought.clear()
        return value

    def _run_optional(self, file: Globals, found: list[ir.Statement], name: str) -> Value | None:
        """What is imported if it is there, and None if not: `try: from elsewhere import x`, `except …: x = None`."""
        if len(found) != 2 or not isinstance(found[0], ir.Import) or not _is_none(found[1]):
            return None
        imported = self._run(file, found[0], name)
        if imported is not None:
            either = choose([(unknown_guard(), imported), (unknown_guard(), NONE)])
            file.variables[name] = either
        return file.variables.get(name)

    def _from_stars(
        self, frame: Globals, bindings: dict[str, list[tuple[ir.Statement, bool]]], name: str
    ) -> Value | None:
        """The value of a name that a file has from a star import."""
        stars = list(reversed(frame.stars)) if not bindings.get("*") else self._stars(frame, bindings)
        for module in stars if len(stars) <= MOST_STARS else ():
            file = self._file(module)
            if file is not None and self._offers(file, name):
                value = self.name(file, name)
                if value is not None:
                    return self._follow(value) if isinstance(value, External) else value
        return None

    def _stars(self, file: Globals, bindings: dict[str, list[tuple[ir.Statement, bool]]]) -> list[str]:
        """Run the star imports of another file, which only note where it looks."""
        for statement, _ in bindings.pop("*"):
            self._run(file, statement, "*")
        return list(reversed(file.stars))

    def _offers(self, file: Globals, name: str) -> bool:
        """Whether `from file import *` brings a name."""
        exported = self.name(file, "__all__")
        if isinstance(exported, Sequence) and exported.items is not None:
            return Constant(name) in exported.items
        return not name.startswith("_")

    def _run(self, file: Globals, statement: ir.Statement, name: str) -> Value | None:
        """Run the one statement of another file that binds a name."""
        if isinstance(statement, ir.Assign) and not plain(statement.value):
            return None
        machine = self.run.machine
        frame, before, nested = machine.frame, machine.statement, machine.budget.nested
        if frame is machine.globals:
            machine.budget.steps_left = MOST_STEPS
            machine.budget.followed = 0
        machine.frame = file
        try:
            self.run.execute([statement])
        except (BudgetExceededError, TooDeepError):
            file.variables.pop(name, None)
        finally:
            machine.frame, machine.statement, machine.budget.nested = frame, before, nested
            machine.dead = False
            machine.events.clear()
        for each in _bound(statement):
            value = file.variables.get(each)
            if value is not None and each != "__all__" and not isinstance(value, External) and not certain(value):
                held = Unknown(source=statement) if self._may_change(file, each) else constant(value)
                file.variables[each] = held
        return file.variables.get(name)


def certain(value: Value) -> bool:
    """Whether a value found in another file is the same whenever somebody looks: nobody can have changed it."""
    if isinstance(value, Sequence):
        items = value.items if value.kind == "tuple" and fits(value) else None
        return items is not None and all(certain(item) for item in items)
    if isinstance(value, Partial):
        parts = (value.function, *value.given, *value.named.values())
        return all(
            not each.qualified.startswith(".") if isinstance(each, External) else certain(each) for each in parts
        )
    if isinstance(value, Bound):
        return isinstance(value.receiver, Class)  # `apply` of a custom Function
    return isinstance(value, (Function, Class, Constant)) or is_stateless(value)


def _is_none(statement: ir.Statement) -> bool:
    value = statement.value if isinstance(statement, ir.Assign) else None
    return isinstance(value, ir.Constant) and value.value is None


def _bindings(program: ir.Program) -> dict[str, list[tuple[ir.Statement, bool]]]:
    """
    The statements that bind each name of a file, in order; and whether one comes whatever else happens. A constant that
    some function declares `global` is bound there too.
    """
    found: dict[str, list[tuple[ir.Statement, bool]]] = {}
    for statement, sure in _statements(program.body, True):
        alone = isinstance(statement, (ir.FunctionDef, ir.ClassDef, ir.Import, ir.Assign))
        for name in _bound(statement):
            # What only adds to a name, or binds it again and again, is no binding that could be run alone.
            found.setdefault(name, []).extend([(statement, sure)] if alone else [(statement, False)] * 2)
    # Functions are read only where they may have such a declaration.
    for statement in ir.everything(program.body, _may_declare) if _may_declare_global(program.text) else ():
        if isinstance(statement, ir.Scope) and statement.kind == "global":
            for name in statement.names:
                found.setdefault(name, []).extend([(statement, False)] * 2)
    return found


def _may_declare(definition: ir.FunctionDef) -> bool:
    return may_write(definition, ("global",))


def _may_declare_global(text: str) -> bool:
    """Whether a statement of a text may begin with `global`: the word is looked for first, most texts have none."""
    for found in _GLOBAL.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].rstrip(" \t\f")
        if not before or before[-1] in ":;":
            return True
    return False


def _statements(body: list[ir.Statement], sure: bool) -> Iterator[tuple[ir.Statement, bool]]:
    for statement in body:
        yield statement, sure
        for inner in ir.blocks(statement):
            yield from _statements(inner, False)


def _bound(statement: ir.Statement) -> list[str]:
    if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
        return [statement.name]
    if isinstance(statement, ir.Import):
        return [name.bound for name in statement.names]
    if isinstance(statement, ir.Assign):
        return [name for target in statement.targets for name in _targets(target)]
    if isinstance(statement, (ir.AugmentedAssign, ir.For)):
        return _targets(statement.target)
    if isinstance(statement, ir.Delete):
        return [name for target in statement.targets for name in _targets(target)]
    return []


def _targets(target: ir.Expression) -> list[str]:
    if isinstance(target, ir.Name):
        return [target.id]
    if isinstance(target, ir.Sequence):
        return [name for element in target.elements for name in _targets(element)]
    if isinstance(target, ir.Starred):
        return _targets(target.value)
    return []
