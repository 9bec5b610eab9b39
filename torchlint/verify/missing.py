"""
What is missing of a program where a part of it is driven by itself, and what stands there instead.

Runs inside the child. A package that a function imports and that is not installed, a method that others are to write,
an attribute that something else of the program would have set: each gets the least that lets the program go on, after
an error that says it is missing. Nothing is refuted where one of them was used.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import types
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch

from torchlint.verify import values
from torchlint.verify.anything import Anything, tensors
from torchlint.verify.bare import SHAPE, SIZE, attributes, made_of
from torchlint.verify.outputs import OF_OUTPUTS
from torchlint.verify.refusals import around, parsed, raised_in
from torchlint.verify.standins import Inert, completed_base, old_name, supplied
from torchlint.verify.usage import Use

_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_NOTHING = re.compile(r"None[Tt]ype")


class Missing:
    """
    Of one target.

    Parameters
    ----------
    target
        The class or the function that is driven.
    method
        Of a class, what is called.
    touched
        Collects the packages that are stood in for.
    absent
        Sees to it that what an import has not found is stood in for; says whether that is new.
    """

    def __init__(
        self, target: Any, method: str, touched: set[str], absent: Callable[[Exception], bool] | None = None
    ) -> None:
        self.target = target
        self.method = method or "forward"
        self.touched = touched
        self.absent = absent
        self.methods: set[str] = set()
        self.attributes: set[str] = set()
        self.asked: set[str] = set()

    def completed(self, error: Exception, built: Any) -> bool:
        """Whether what an error says is missing is there now. What was built without it is to be built again."""
        gone = re.search(r"module 'numpy' has no attribute '(\w+)'", str(error))
        if gone is not None and old_name(gone[1]):
            self.touched.add("numpy")
            return True
        native = re.search(r"'_OpNamespace' '(\w+)' object has no attribute '(\w+)'", str(error))
        if native is not None and not _has_operators(native[1]):  # of an extension that is not built
            setattr(getattr(torch.ops, native[1]), native[2], Inert(".".join(native.groups()), self.touched))
            return True
        if "process group has not been initialized" in str(error):
            return _alone()
        if isinstance(error, ImportError):
            return (self.absent is not None and self.absent(error)) or self._is_there(error)
        if "is not a Module subclass" in str(error) and not Inert.modules:
            Inert.modules = ".standins." in str(error)
            return Inert.modules
        if self.touched and not Inert.outputs and re.search(OF_OUTPUTS, str(error)):
            Inert.outputs = True
            return True
        name = _left_to_others(error, self.target)
        if name and name not in self.methods | {self.method}:
            self.methods.add(name)
            return True
        if supplied(error, self.touched):
            return True
        new = set(self._unset(error, built)) - self.attributes
        self.attributes |= new
        return bool(new) or completed_base(error, self.touched)

    def _is_there(self, error: Exception) -> bool:
        """Whether what is asked before an import is refused says now that the package is there."""
        place = raised_in(error)
        tree = None if place is None else parsed(place[0].f_code.co_filename)
        if place is None or tree is None:
            return False
        names, new = place[0].f_globals, False
        for statement in around(tree, place[1]):
            for node in ast.walk(statement.test) if isinstance(statement, ast.If) else ():
                if not isinstance(node, ast.Name) or node.id not in names or node.id in self.asked:
                    continue
                held = names[node.id]
                if held is None or held is False:
                    names[node.id] = True if held is False else Inert(node.id, self.touched)
                elif isinstance(held, types.FunctionType):
                    names[node.id] = _answer
                else:
                    continue
                new = True
                self.asked.add(node.id)
                self.touched.add(node.id)
        return new

    def _unset(self, error: Exception, built: Any) -> Iterator[str]:
        """Attributes of the instance that it has not, or that are None where more is wanted."""
        if not isinstance(self.target, type) or built is None:
            return
        if not isinstance(error, (AttributeError, TypeError)):
            yield from _asked_for(error, built)
            return
        said = _NO_ATTRIBUTE.search(str(error))
        if said is not None and said[1] in {each.__name__ for each in type(built).__mro__}:
            yield from [said[2]] if not said[2].startswith("__") and not hasattr(built, said[2]) else []
            return
        place = raised_in(error) if _NOTHING.search(str(error)) else None
        tree = None if place is None else parsed(place[0].f_code.co_filename)
        if place is None or tree is None or place[0].f_locals.get("self") is not built:
            return
        for node in ast.walk(around(tree, place[1])[-1]):
            match node:
                case ast.Attribute(ast.Name("self"), name) if getattr(built, name, ...) is None:
                    yield name

    def concrete(self) -> type[Any]:
        """The class, or one derived from it that lacks no method: those of others give back what they are given."""
        target: type[Any] = self.target
        if _unwritten(target, self.method):
            written = (
                each for each in _derived(target) if not _unwritten(each, self.method) and not inspect.isabstract(each)
            )
            target = next(written, target)
        names = {*self.methods, *getattr(target, "__abstractmethods__", ())} - {self.method, "__init__"}
        if not names and not inspect.isabstract(target):
            return target
        derived: type[Any] = types.new_class(
            target.__name__, (target,), exec_body=lambda inside: inside.update(dict.fromkeys(names, _given_back))
        )
        derived.__abstractmethods__ = frozenset()
        return derived

    def fill(self, built: Any) -> None:
        """Give an instance the attributes that nothing of it sets, by what its class does with them."""
        known = attributes(self.target) if self.attributes else {}
        for name in sorted(self.attributes):
            if getattr(built, name, None) is not None:
                continue
            use = known.get(name, Use(""))
            value = values.make(name, use, SHAPE, SIZE, False, computes=use.kind == "tensor")
            Anything.asked = True
            object.__setattr__(built, name, Anything(value) if not use.kind and type(value) is int else value)
            made_of(built)[name] = use


def _has_operators(namespace: str) -> bool:
    """Whether there are operators of that name: what lacks one of them lacks it for good."""
    return any(each.startswith(f"{namespace}::") for each in torch._C._dispatch_get_all_op_names())


def _answer(*args: Any, **kwargs: Any) -> bool:
    return True


def _asked_for(error: Exception, built: Any) -> Iterator[str]:
    """The attributes of an instance that are None, and its own code refuses that: another method is to set them."""
    place = raised_in(error)
    tree = None if place is None else parsed(place[0].f_code.co_filename)
    if place is None or tree is None or place[0].f_locals.get("self") is not built:
        return
    chain = around(tree, place[1])
    if not chain or not isinstance(chain[-1], (ast.Raise, ast.Assert)):
        return
    tests = [each.test for each in chain[-2:] if isinstance(each, (ast.If, ast.Assert))]
    for node in (node for test in tests for node in ast.walk(test)):
        match node:
            case ast.Attribute(ast.Name("self"), name) if getattr(built, name, ...) is None:
                yield name


def _alone() -> bool:
    """Whether there is a process group now, which there was not: one of this process alone, without connections."""
    distributed = torch.distributed
    if not distributed.is_available() or distributed.is_initialized():
        return False
    from torch.testing._internal.distributed.fake_pg import FakeStore  # nobody else needs it

    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    return True


def _left_to_others(error: Exception, target: Any) -> str:
    """The method of a class that raised because others are to write it."""
    trace = error.__traceback__ if isinstance(error, NotImplementedError) and isinstance(target, type) else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    name = trace.tb_frame.f_code.co_name
    if name.startswith("__"):  # a constructor that refuses its arguments
        return ""
    own = inspect.unwrap(getattr(target, name, int))
    return name if getattr(own, "__code__", None) is trace.tb_frame.f_code else ""


def _given_back(*given: Any, **named: Any) -> Any:
    """A method that nobody has written: a copy of the first tensor that it is given, else something."""
    first = next(tensors((*given, *named.values())), None)
    return Anything() if first is None else first.clone()


def inheriting(target: type[Any], method: str) -> list[type[Any]]:
    """
    The first class beside another one that is derived from it, and has its method from there: what is written to be
    derived from may hold no sense by itself, and the method runs all the same.
    """
    name = method or "forward"
    own = getattr(target, name, None)
    beside = (
        each for each in _derived(target) if each.__module__ == target.__module__ and "<" not in each.__qualname__
    )
    found = (each for each in beside if getattr(each, name, None) is own and not inspect.isabstract(each))
    return list(itertools.islice(found, 1))


def module_of(target: type[Any]) -> type[Any] | None:
    """The first Module of the same file that is derived from a class that is none: a mixin runs as part of it."""
    beside = (each for each in _derived(target) if each.__module__ == target.__module__)
    found = (each for each in beside if issubclass(each, torch.nn.Module) and not inspect.isabstract(each))
    return next((each for each in found if "<" not in each.__qualname__), None)


def _derived(target: type[Any]) -> Iterator[type[Any]]:
    for each in type.__subclasses__(target):  # (of a metaclass, too)
        yield each
        yield from _derived(each)


def _unwritten(target: type[Any], method: str) -> bool:
    """Whether a method does nothing but raise `NotImplementedError`: others are to write it."""
    code = getattr(getattr(target, method, None), "__code__", None)
    names: Collection[str] = () if code is None else code.co_names
    return names == ("NotImplementedError",)
