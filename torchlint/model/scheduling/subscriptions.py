"""
Which entry points of a file are followed, and which observers watch each of them.

Chooses by what is written in it (`callgraph`); runs nothing, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from torchlint.model.scheduling.callgraph import CallGraph
from torchlint.model.state.hooks import ForeignWatch, Observer, Watch
from torchlint.model.state.values import Class, Function, Instance
from torchlint.syntax import ir

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
    """

    def __init__(
        self,
        program: ir.Program,
        observers: Sequence[Observer],
        here: Callable[[ir.Node], ir.Node],
        *,
        thorough: bool,
    ) -> None:
        self._observers = tuple(observers)
        self._here = here
        self.thorough = thorough
        self._callgraph = None if thorough else CallGraph(program, [each.concerns for each in observers])
        self._watches: dict[frozenset[int], Watches] = {}
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
        nobody = Watch()
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
