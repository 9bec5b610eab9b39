"""
Which entry points of a file are followed, and which observers watch each of them.

Chooses by what is written in it (`callgraph`); runs nothing, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torchlint.model.scheduling.callgraph import CallGraph, Writers, calls_writer
from torchlint.model.state.hooks import NOBODY, ForeignWatch, Observer, Watch, looks_at_objects
from torchlint.model.state.values import Class, Function, Instance
from torchlint.syntax import ir
from torchlint.syntax.reading import written_in

Watches = tuple[Watch, ForeignWatch]
"""Who watches the file's own code, and who is told of another file's."""


class Subscriptions:
    """
    The observers of one file, and what each of them looks at.

    Parameters
    ----------
    program
        The file.
    observers
        All that watch it, in the order in which they are told.
    here
        The place in the file itself of a node that is run (`Machine.here`).
    thorough
        Follow everything, with everybody watching.
    elsewhere
        Those of the file's words by which it calls what writes to its arguments, in other files.
    """

    def __init__(
        self,
        program: ir.Program,
        observers: Sequence[Observer],
        here: Callable[[ir.Node], ir.Node],
        *,
        thorough: bool,
        elsewhere: Callable[[set[str]], Writers] | None = None,
    ) -> None:
        self._observers = tuple(observers)
        self._here = here
        self.thorough = thorough
        self._callgraph = None if thorough else CallGraph(program, [each.concerns for each in observers], elsewhere)
        if self._callgraph is not None:
            self._writers = self._callgraph.writers_elsewhere
        else:
            self._writers = elsewhere(written_in(program.body).words) if elsewhere is not None else []
        self._watches: dict[frozenset[int], Watches] = {}
        kinds = [type(each) for each in self._observers]
        self._of_objects = frozenset(number for number, kind in enumerate(kinds) if looks_at_objects(kind))
        self.everybody = self._watching(frozenset(range(len(self._observers))))

    def of(self, function: Function, instance: Instance | None = None) -> Watches | None:
        """Who watches a function, or a method of an object, by itself; None if it is not followed."""
        if self._callgraph is None:
            return self.everybody
        cls = instance.cls.definition if instance is not None else None
        concerned = self._callgraph.concerned(function.definition, cls)
        if instance is not None:
            waiting = [number for number, each in enumerate(self._observers) if each.concerned_with(instance)]
            if waiting:
                concerned = (concerned or frozenset()).union(waiting)
        return self._watching(concerned) if concerned is not None else None

    def of_building(self, cls: Class) -> Watches:
        """Who watches while an object of a class is built, before its methods are followed."""
        if self._callgraph is None:
            return self.everybody
        classes = cls.ancestry()
        methods = [value for each in classes for value in each.attributes.values() if isinstance(value, Function)]
        concerned = self._callgraph.concerned_building(
            [each.definition for each in classes], [each.definition for each in methods]
        )
        return self._watching(concerned | self._of_objects)

    def calls_writer(self, part: ir.Node | list[ir.Statement]) -> bool:
        """Whether something in a piece of program calls what writes to its arguments in another file."""
        return bool(self._writers) and calls_writer(written_in(part).words, self._writers)

    def in_order(self, functions: Iterable[Function]) -> list[Function]:
        """
        The order in which to follow functions: what writes in place first, for it may turn out that nobody who calls
        it need be followed on its account.
        """
        known = self._callgraph
        return (
            list(functions) if known is None else sorted(functions, key=lambda each: not known.writes(each.definition))
        )

    def is_wanted(self, cls: Class) -> bool:
        """Whether a class is looked at by itself: its constructor, or any of its methods."""
        known = self._callgraph
        if known is None or known.must_be_built(cls.definition):
            return True
        return any(
            isinstance(value, Function)
            and name != "__init__"
            and known.concerned(value.definition, cls.definition) is not None
            for name, value in cls.attributes.items()
        )

    def note_pure(self, function: Function) -> None:
        """A function was followed by itself, and wrote to nothing but what it had made."""
        if self._callgraph is not None:
            self._callgraph.note_pure(function.definition)

    def dismiss(self) -> None:
        """Nobody watches any more."""
        nobody = NOBODY
        self._observers, self._here = (), _itself
        self._watches.clear()
        self.everybody = nobody, ForeignWatch(nobody, _itself)

    def _watching(self, numbers: frozenset[int]) -> Watches:
        known = self._watches.get(numbers)
        if known is None:
            chosen = [each for number, each in enumerate(self._observers) if number in numbers]
            floor = tuple({kind for each in chosen for kind in each.rests_on})
            watch = Watch(tuple(each for each in self._observers if each in chosen or isinstance(each, floor)))
            known = self._watches[numbers] = watch, ForeignWatch(watch, self._here)
        return known


def _itself(origin: ir.Node) -> ir.Node:
    return origin
