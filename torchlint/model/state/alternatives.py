"""
Events that rest on an assumption about the value of a variable.

By itself such an event is no more than possible. Those that say the same of one place are kept until the run is over:
where their assumptions leave no way around, it is certain. Decides about guards alone; knows no kind of event.
"""

from __future__ import annotations

from dataclasses import replace

from torchlint.model.events import Event
from torchlint.model.state.guards import ALWAYS, Truth, covered
from torchlint.model.state.machine import Machine


def emit_each(machine: Machine, event: Event, *key: object) -> None:
    """
    Report an event that happens for one value that a variable may have, and perhaps for the others. `key` tells events
    of one kind and place apart.
    """
    told = machine.emit(event)
    if told is not event and not machine.expected_errors and machine.foreign_call is None:
        add_alternative(machine, told, (type(event), id(event.node), machine.path, *key))


def add_alternative(machine: Machine, event: Event, key: object) -> None:
    """Keep an event of this moment as one of those that may leave no way around."""
    machine.alternatives.setdefault(key, []).append((machine.assumed - machine.path, event))


def emit_covered(machine: Machine) -> None:
    """The run is over: report as certain what happened for all the values that a variable may have."""
    for options in machine.alternatives.values():
        if covered([need for need, _ in options], ALWAYS):
            machine.emit(replace(options[0][1], truth=Truth.YES))
    machine.alternatives.clear()
