"""
Indirection: unknown code acts where the program has no plain call of it.

What `y = unknown(x)`, `unknown.method(x)` and a layer that nobody knows may do is described in `unknown_code`. Other
roads: a name that unknown code has chosen (`getattr(x, name)()`), a method that it is given (`unknown(x.detach)()`), a
special method called by hand, a list of arguments that nobody knows, a function that Python runs
(`max(found, key=unknown)`), a context in which a generator yields, a part of a Module that it is given. Each has the
effects that the model knows of; that it has no others is more than can be listed. So each is reflection
(`state/reflection`): what is told from then on rests on a condition.

Notes that, in one place for all of them; changes nothing else and evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.python.run import Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.frames import running
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    Bound,
    Class,
    External,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    parts,
)
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_PLAIN: Final = frozenset(
    """
    __call__ __class__ __contains__ __eq__ __format__ __getitem__ __hash__ __init__ __iter__ __len__ __new__ __next__
    __repr__ __str__ __subclasses__
    """.split()  # noqa: SIM905
)
"""Special methods that people call by hand for what they are."""
_STORING = frozenset({"__set__", "__setattr__", "__setitem__"})
"""Special methods whose last argument is what is stored: which, says the one before it."""
_SIZED = frozenset(
    """
    expand flip movedim new_empty new_ones new_zeros permute repeat reshape roll split squeeze sum mean tile transpose
    unflatten unsqueeze view
    """.split()  # noqa: SIM905
)
"""Methods of tensors that people give a list of sizes or dimensions."""
_MODES = frozenset(
    """
    autocast device enable_grad inference_mode no_grad set_autocast_enabled set_default_device set_default_dtype
    set_default_tensor_type set_grad_enabled set_multithreading_enabled set_warn_always
    """.split()  # noqa: SIM905
)
"""Functions of torch that set what holds for all of a program."""
_UNSEEN: Final = frozenset(
    """
    __del__ __delattr__ __delete__ __enter__ __exit__ __get__ __getattr__ __getattribute__ __init_subclass__ __new__
    __set__ __set_name__ __setattr__ __setstate__ __torch_dispatch__ __torch_function__ _apply parameters requires_grad_
    """.split()  # noqa: SIM905
)
"""Methods of the file that Python and torch run where no call of them is written, to change something."""
_CHANGING: Final = frozenset(
    """
    add_module add_param_group append backward extend insert load_state_dict register_forward_hook
    register_forward_pre_hook register_hook setdefault update
    """.split()  # noqa: SIM905
)
"""Methods without an underscore that change their object, or what it holds."""
LOOKING_UP: Final = frozenset({"operator.attrgetter", "operator.methodcaller"})
"""Functions that make one that asks for an attribute by its name."""
_COMPARING = frozenset({"builtins.max", "builtins.min", "builtins.sorted"})
"""What of `_RUN_GIVEN` in `knowledge/foreign` takes no function first."""
_FUNCTIONS = ("func", "function", "key", "target")
"""Under which name a function is given to what runs it."""
_SHARED = tuple(map(External, ("builtins.object", "builtins.type", "torch", "torch.Tensor", "torch.nn.Module")))
"""Of Python and torch, what programs of all kinds share."""
_LIVE = (Bound, Class, Function, GradModeGuard, Instance, Module, Optimizer, Tensor)
_ACTED_ON = (Class, GradModeGuard, Instance, Mapping, Module, Optimizer, Sequence, Super, Tensor)


def is_unknown_code(value: Value) -> bool:
    """Whether a value may be a function, or an object, that nobody knows."""
    if isinstance(value, External):
        return not (foreign.keeps_flags(value.qualified) or foreign.is_foreign(value.qualified))
    return isinstance(value, Unknown) and value.tensor is None and not is_foreign(value)


def is_unknown_context(value: Value) -> bool:
    """Whether a value may be a context manager that nobody knows, and no library has made."""
    found = [each for _, each in alternatives(value)]
    return any(is_unknown_code(each) and not (isinstance(each, Unknown) and each.keeps_flags) for each in found)


def note_method(run: Run, receiver: Value, name: str, site: CallSite) -> None:
    """A method is called that is a special one, or with a list of arguments that nobody knows."""
    options = [each for _, each in alternatives(receiver)]
    if name[:2] == "__":
        given = site.positional[:-1] if name in _STORING and site.complete else site.positional
        by_hand = name not in _PLAIN and (not site.complete or _is_any_unknown([receiver, *given]))
        made = name == "__init__" and any(isinstance(each, Unknown) and _is_made(each) for each in options)
        if by_hand or made:
            _note(run, site)
    elif not site.complete and (name not in _SIZED or _names_more(site)) and any(map(_takes_few, options)):
        _note(run, site)


def _names_more(site: CallSite) -> bool:
    """Whether options are given under names that nobody knows: no sizes."""
    return any(argument.star == "**" for argument in site.node.arguments)


def note_function(run: Run, qualified: str, site: CallSite) -> None:
    """
    A function of torch that sets what holds for all, or writes in place, is given arguments that nobody knows;
    `methodcaller(name)` a name.
    """
    owner, _, name = qualified.rpartition(".")
    changes = name in _MODES or name[-1:] == "_" or owner in ("torch.Tensor", "torch.autograd", "torch.nn.Module")
    looks_up = qualified in LOOKING_UP and (not site.complete or _is_any_unknown(site.positional[:1]))
    if looks_up or (owner.startswith("torch") and changes and not site.complete):
        _note(run, site)


def note_given(run: Run, given: Iterable[Value], site: CallSite) -> None:
    """Unknown code is given a method of a tensor, a container or a Module, or what sets a mode, to call it somehow."""
    for value in given:
        method = type(value) is Bound and (value.function is None or isinstance(value.receiver, Tensor))
        unbound = type(value) is Function and value.owner is not None and value.name == "__init__"
        sets = type(value) is External and value.qualified.startswith("torch.") and _sets_mode(value.qualified)
        by_name = type(value) is Unknown and isinstance(value.source, ir.Attribute) and _changes(value.source.attr)
        if method or unbound or sets or by_name:
            _note(run, site)


def note_parts(run: Run, given: Iterable[Value], site: CallSite) -> None:
    """Unknown code is given a part of a Module, nobody knows which; what it does with a tensor, `flags` counts with."""
    for value in given:
        for _, each in alternatives(value):
            if type(each) is Unknown and isinstance(each.part_of, (Instance, Module)):
                _note(run, site)


def note_run(run: Run, qualified: str, site: CallSite) -> None:
    """Python runs a function that nobody knows on what the program has: `max(found, key=unknown)`."""
    placed = [] if qualified in _COMPARING else site.placed()[:1]
    named = [site.keywords[each] for each in _FUNCTIONS if each in site.keywords]
    if not _is_any_unknown([*placed, *named]):
        return
    for value in site.values():
        each_of = parts(value) if isinstance(value, (Sequence, Mapping)) else [value]
        if any(isinstance(each, _LIVE) or each in _SHARED for each in each_of):
            _note(run, site)


def note_name(run: Run, owner: Value, name: Value, site: CallSite) -> None:
    """`getattr(x, name)`, `setattr(x, name, value)`: nobody knows the name; of one that is composed a part is known."""
    if not _is_any_unknown([name]):
        return
    statement = run.machine.statement
    alone = isinstance(statement, ir.ExpressionStatement) and isinstance(statement.value, ir.Call)
    for _, each in alternatives(owner):
        of_torch = isinstance(each, External) and each.qualified in ("torch", "torch.autograd", "torch.Tensor")
        called = alone and isinstance(each, Unknown) and statement.value.function is site.node  # type: ignore[union-attr]
        if isinstance(each, _ACTED_ON) or of_torch or (called and not is_foreign(each)):
            _note(run, site)


def note_context(run: Run, node: ir.With, context: ir.Expression) -> None:
    """A context that nobody knows is entered, and a generator yields inside: what it sets lasts until that goes on."""
    if any(isinstance(each, ir.Yield) for each in ir.walk(node.body)):
        note_generator(run, context)


def note_generator(run: Run, context: ir.Expression) -> None:
    """A generator yields inside of contexts, of which nobody knows which are entered then."""
    note_reflection(run.machine, f"with {shown(context)}")


def note_yields(run: Run, definition: ir.Node) -> None:
    """A generator is made that yields inside of contexts: of those of torch's and Python's own the model knows."""
    for node in (each for each in ir.walk(definition) if isinstance(each, ir.With)):
        for context in (item.context for item in node.items):
            called = context.function if isinstance(context, ir.Call) else context
            found = lookup(run, dotted(called).partition(".")[0])
            if not isinstance(found, External) or is_unknown_code(found):
                note_context(run, node, context)


def note_unseen(run: Run, site: CallSite) -> None:
    """Unknown code is called by a method that runs where no call of it is written."""
    if any(each.name in _UNSEEN or _is_setter(each) for each in running(run.machine)):
        _note(run, site)


def _is_setter(definition: ir.FunctionDef) -> bool:
    for each in definition.decorators:  # noqa: SIM110  (nearly all have none)
        if isinstance(each, ir.Attribute) and each.attr == "setter":
            return True
    return False


def _note(run: Run, site: CallSite) -> None:
    note_reflection(run.machine, f"{shown(site.node.function)}(…)")


def shown(callee: ir.Expression) -> str:
    """What is called, or entered, as a message shows it."""
    if isinstance(callee, ir.Call):
        return f"{shown(callee.function)}(…)"
    if isinstance(callee, ir.Attribute):
        return f"{shown(callee.value)}.{callee.attr}"
    return dotted(callee) or "…"


def _is_any_unknown(values: Iterable[Value]) -> bool:
    return any(is_unknown_code(each) for value in values for _, each in alternatives(value))


def _is_made(value: Unknown) -> bool:
    """Whether a value is one that unknown code has made of a class, or an object, of the file."""
    return isinstance(value.source, ir.Call) and any(isinstance(each, Class) for each in value.may_be)


def _takes_few(receiver: Value) -> bool:
    """Whether the methods of a value are called with arguments that are written out."""
    if isinstance(receiver, Sequence):
        return True
    if isinstance(receiver, Mapping):
        return any(isinstance(each, _LIVE) for each in parts(receiver))
    return isinstance(receiver, (GradModeGuard, Module, Optimizer, Tensor))


def _changes(name: str) -> bool:
    """Whether what has a name is a method that changes its object, whatever that is."""
    return name in _CHANGING or name[:2] == "__" or (name[-1:] == "_" and name[:1] != "_")


def _sets_mode(qualified: str) -> bool:
    return qualified.rpartition(".")[2] in _MODES
