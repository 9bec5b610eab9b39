"""
Runs a program under torch, and says whether a rule's example shows the symptom that the rule promises.

Does not import torch: the program runs in the child process of `server`.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchlint.rule import Holds, Raises, Symptom, Warns
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared


def run_program(
    text: str,
    *,
    timeout: float = 30.0,
    memory_mb: int = 4096,
    probes: Sequence[str] = (),
    path: str = "<program>",
) -> Outcome:
    """
    Run a program as a script.

    Parameters
    ----------
    text
        The program.
    timeout, memory_mb
        Limits.
    probes
        Expressions evaluated in its namespace afterwards, also when it raised.
    path
        Its name in tracebacks.

    Raises
    ------
    TorchMissing
        if torch cannot be imported.
    """
    return shared().run(Request(text=text, path=path, probes=tuple(probes), timeout=timeout, memory_mb=memory_mb))


def shows(example_source: str, symptom: Symptom, *, timeout: float = 30.0) -> tuple[bool, str]:
    """
    Whether running an example shows a symptom, and what was seen.

    Parameters
    ----------
    example_source
        The program.
    symptom
        `Raises`: it ends with an exception whose "Class: message" contains the text. `Warns`: one of its warnings does.
        `Holds`: it runs to its end and the expression is true then.

    Raises
    ------
    TorchMissing
        if torch cannot be imported.
    """
    probes = (symptom.expression,) if isinstance(symptom, Holds) else ()
    outcome = run_program(example_source, timeout=timeout, probes=probes)
    seen = describe_ending(outcome, timeout=timeout)
    match symptom:
        case Raises(text):
            raised = outcome.raised
            return raised is not None and text in f"{raised.type}: {raised.message}", seen
        case Warns(text):
            return any(text in w for w in outcome.warnings), "; ".join(outcome.warnings) or f"no warning; {seen}"
        case Holds(expression):
            probe = (outcome.probes or {}).get(expression, {})
            if outcome.ending != "ended":
                return False, seen
            if "error" in probe:
                return False, f"`{expression}` raises {probe['error']}"
            return bool(probe.get("truth")), f"`{expression}` is {probe.get('shown') or probe.get('truth')}"


WORDS = 2_000
"""No message of an exception is told at greater length."""


def describe_ending(outcome: Outcome, *, timeout: float = 30.0, memory_mb: int = 4096) -> str:
    """How a program ended, in words: "raises RuntimeError: … (line 7)"."""
    match outcome.ending:
        case "ended":
            return outcome.note or "runs to its end"
        case "raised" if outcome.raised is not None:
            raised = outcome.raised
            where = f" (line {raised.lines[-1]})" if raised.lines else ""
            return f"raises {raised.type}: {raised.message[:WORDS]}{where}"
        case "time":
            return outcome.note or f"does not end within the time limit of {timeout:g} s"
        case "memory":
            return f"needs more than the memory limit of {memory_mb} MB"
        case _:
            return outcome.note or "ends without an answer"
