"""
Calls: the callee and the arguments are evaluated, then what is called decides (`CALLEES`).

Methods are in `methods`, functions of the file in `functions`, what is imported in `externals`.
"""

from __future__ import annotations

from torchlint.model.python.classes import call_instance, call_module, instantiate
from torchlint.model.python.externals import call_external
from torchlint.model.python.functions import run_function, with_mode
from torchlint.model.python.indirection import note_method
from torchlint.model.python.methods import call_bound, method_call
from torchlint.model.python.run import Callees, Expressions, Run
from torchlint.model.python.unknown_code import unknown_call
from torchlint.model.python.variables import not_none
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.reachable import some_of
from torchlint.model.state.values import (
    Bound,
    Choice,
    Class,
    External,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Partial,
    Sequence,
    Value,
)
from torchlint.syntax import ir

_LAYER = 50
"""What running a layer of torch costs, in expressions."""


def call(run: Run, node: ir.Call) -> Value:
    """Evaluate a call: the callee, the arguments, the call."""
    run.budget.spend()
    function = node.function
    if isinstance(function, ir.Attribute):
        receiver = run.evaluate(function.value)
        site = call_site(run, node)
        if not site.complete or function.attr[:2] == "__":
            note_method(run, receiver, function.attr, site)
        return method_call(run, receiver, function, site)
    callee = run.evaluate(function)
    site = call_site(run, node)
    return run.invoke(callee, site)


def call_site(run: Run, node: ir.Call) -> CallSite:
    """Evaluate the arguments of a call."""
    site = CallSite(node, [], {})
    for argument in node.arguments:
        value = run.evaluate(argument.value)
        if not argument.star:  # as most are
            if argument.keyword:
                site.keywords[argument.keyword] = value
                site.arguments[argument.keyword] = argument
            else:
                site.arguments[len(site.positional)] = argument
                site.positional.append(value)
        elif argument.star == "*":
            if isinstance(value, Sequence) and value.items is not None:
                site.positional += value.items
            else:
                site.complete = False
                site.positional.append(some_of([value], argument.value))
                if isinstance(value, Sequence) and argument is node.arguments[-1]:
                    site.tail = value.last
        elif isinstance(value, Mapping) and value.items is not None:
            site.keywords.update({k: v for k, v in value.items.items() if isinstance(k, str)})
        else:
            site.complete = False
    return site


def _choice(run: Run, callee: Choice, site: CallSite) -> Value:
    return run.machine.each(not_none(run, callee), lambda each: run.invoke(each, site))


def _imported(run: Run, callee: External, site: CallSite) -> Value:
    return call_external(run, callee.qualified, site)


def _function(run: Run, callee: Function, site: CallSite) -> Value:
    return run_function(run, callee, site.positional, site.keywords, site)


def _layer(run: Run, callee: Module, site: CallSite) -> Value:
    run.budget.followed += _LAYER
    return call_module(run, callee, site)


def _partial(run: Run, callee: Partial, site: CallSite) -> Value:
    given, named = [*callee.given, *site.positional], {**callee.named, **site.keywords}
    return run.invoke(callee.function, CallSite(site.node, given, named, {}, site.complete and callee.complete))


def _grad_mode(run: Run, callee: GradModeGuard, site: CallSite) -> Value:
    """A grad mode used as a decorator."""
    if len(site.positional) == 1:
        decorated = site.positional[0]
        if isinstance(decorated, Function):
            return with_mode(decorated, callee.mode, callee.inference)
    return unknown_call(run, callee, site)


CALLEES: Callees = {
    Choice: _choice,
    External: _imported,
    Function: _function,
    Bound: call_bound,
    Class: instantiate,
    Instance: call_instance,
    Module: _layer,
    Partial: _partial,
    GradModeGuard: _grad_mode,
}
"""By the type of what is called; what is not here is unknown code."""

EXPRESSIONS: Expressions = {
    ir.Call: call,
}
