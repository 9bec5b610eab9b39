"""
Adversarial stand-ins, torch as judge: an error that is reported while something is unknown must show itself whatever
the unknown turns out to be.

An error is false if the program runs to its end with one of the bodies though all lines of the proof were passed; it is
baseless if no body shows it at all, which is held against warnings, too.
"""

from __future__ import annotations

import random
import sys
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from differential.oracle import FILE, fresh_namespace

from torchlint.rule import Finding, Level

from .bodies import BODIES, assignments, mixtures
from .changes import MODULE
from .hide import Variant, shown, varied
from .passed import Idle, Ran
from .passed import passed as came_through
from .programs import drawn

RAISING = frozenset(
    f"TLN{number}"
    for number in (101, 103, 104, 111, 113, 114, 115, 118, 201, 202, 203, 208, 209, 304, 307, 308, 401, 503, 512)
)
"""Codes whose errors say that torch raises."""
MIXED = 8
"""Runs in which every unknown has some body of its own."""
SEARCHED = 200
"""Further ones, before a warning is held to be baseless: what shows it may want two unknowns to be a certain thing."""
CALLER = "the caller's backward"
"""In a trace: the proof ends with a backward that the program itself may not have."""


@dataclass(frozen=True, slots=True)
class Claim:
    """
    A finding that the stand-ins spoke against.

    Attributes
    ----------
    verdict
        "false": it ran with `bodies`. "baseless": no run showed it, and with `bodies` it ran.
    """

    seed: int
    variant: Variant
    finding: Finding
    verdict: str
    bodies: dict[str, str]

    @property
    def key(self) -> str:
        """What it has in common with others."""
        kinds = "+".join(sorted(set(self.variant.kinds)))
        return f"{self.verdict} {self.finding.level.value} {self.finding.code} {kinds}"


@contextmanager
def _standing_in(bodies: dict[str, str], roles: dict[str, str]) -> Iterator[None]:
    module = types.ModuleType(MODULE)
    for name, body in bodies.items():
        setattr(module, name, BODIES[roles[name]][body]())
    sys.modules[MODULE] = module
    try:
        yield
    finally:
        del sys.modules[MODULE]


_SHARED = (torch, torch.Tensor, torch.nn.functional, torch.autograd, torch.nn.Module, torch.nn.Linear)
"""What all programs of a process share, and some put functions of their own into."""


@contextmanager
def _torch_as_it_was() -> Iterator[None]:
    """What a program sets for all that comes is of that program alone: the next one would be judged in its place."""
    kept = [(owner, dict(vars(owner))) for owner in _SHARED]
    try:
        yield
    finally:
        torch.set_grad_enabled(True)
        torch.set_autocast_enabled("cpu", False)
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
        for owner, before in kept:
            for name, value in list(vars(owner).items()):
                if name not in before:
                    delattr(owner, name)
                elif value is not before[name]:
                    setattr(owner, name, before[name])
            for name in before.keys() - vars(owner).keys():
                setattr(owner, name, before[name])


@dataclass(frozen=True, slots=True)
class Run:
    """How a program ended: without an exception, or with one on some lines; and the lines that ran, if asked for."""

    ended: bool
    raised: frozenset[int]
    error: str
    ran: Ran = field(default_factory=Ran)


def run(code: Any, bodies: dict[str, str], roles: dict[str, str], *, lines: bool = False, idle: bool = False) -> Run:
    """Run a program with its stand-ins; `idle`: and look what torch does nothing with."""
    ran = Ran()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        frame.f_trace_opcodes = True
        ran.trace(frame, event)
        return trace

    with _torch_as_it_was(), _standing_in(bodies, roles), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace = fresh_namespace()
        if lines:
            sys.settrace(trace)
        try:
            with Idle(ran) if idle else nullcontext():
                exec(code, namespace)
        except Exception as error:
            raised, step = set(), error.__traceback__
            while step is not None:
                if step.tb_frame.f_code.co_filename == FILE:
                    raised.add(step.tb_lineno)
                step = step.tb_next
            return Run(False, frozenset(raised), f"{type(error).__name__}: {error}", ran)
        finally:
            sys.settrace(None)
    return Run(True, frozenset(), "", ran)


def claims(found: list[Finding]) -> list[Finding]:
    """Those findings that say that torch raises."""
    return [
        finding
        for finding in found
        if finding.code in RAISING
        and not (finding.code == "TLN101" and "accumulate" in finding.message)
        and not (finding.code == "TLN304" and "never changes" in finding.message)
        and not (finding.code == "TLN401" and "None" not in finding.message)
        and not any(CALLER in step.message for step in finding.trace)
        and (finding.level is Level.ERROR or finding.code in ("TLN101", "TLN201"))
    ]


def judged(variant: Variant, rng: random.Random, seed: int = -1) -> list[Claim]:
    """What the stand-ins say against the findings of a program."""
    found = claims(shown(variant.text, RAISING))
    if not found:
        return []
    code = compile(variant.text, FILE, "exec")
    pending = dict(enumerate(found))
    passed: dict[int, dict[str, str]] = {}
    refuted: list[Claim] = []
    confirmed: set[int] = set()
    for bodies in assignments(variant.roles, rng.choice, MIXED):
        outcome = run(code, bodies, variant.roles)
        if not outcome.ended:
            confirmed |= {number for number, each in pending.items() if outcome.raised & _places(each)}
            continue
        open_ones = [number for number in pending if number not in passed]
        if not open_ones:
            continue
        idle = "dropout" in variant.text.lower() or "] = " in variant.text or "out=" in variant.text
        ran = run(code, bodies, variant.roles, lines=True, idle=idle).ran
        for number in open_ones:
            if came_through(pending[number], ran, variant.text, variant.roles):
                passed[number] = bodies
    if any(each not in confirmed and pending[each].level is not Level.ERROR for each in passed):
        for bodies in mixtures(variant.roles, rng.choice, SEARCHED):
            raised = run(code, bodies, variant.roles).raised
            confirmed |= {number for number, each in pending.items() if raised & _places(each)}
    for number, finding in pending.items():
        if number not in passed:
            continue
        if finding.level is Level.ERROR:
            refuted.append(Claim(seed, variant, finding, "false", passed[number]))
        elif number not in confirmed:
            refuted.append(Claim(seed, variant, finding, "baseless", passed[number]))
    return refuted


def _places(finding: Finding) -> frozenset[int]:
    return frozenset({finding.span.line, *(step.line for step in finding.trace)})


def one(seed: int) -> list[Claim]:
    """A program drawn by a seed, with up to three things unknown."""
    rng = random.Random(f"standins {seed}")
    for _ in range(20):
        variant = varied(drawn(rng), rng, most=3)
        if variant is not None and "code" not in variant.roles.values():
            return judged(variant, rng, seed)
    return []
