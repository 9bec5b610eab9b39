"""
Fixes held against the user's own program: applied only where it does the same with them, scene by scene.

The program is run as `own` runs it, once as it is and once with the changed text loaded in the file's stead; nothing
is written for that. What is compared are the scenes that came to the finding's place: how they end, the gradients that
each backward leaves, the values at the end of the function, what a script prints, and how the program ends. Where a
scene fails on a saved tensor that was written, it is held against the same with what was saved kept as a copy. Imports
no torch.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from torchlint.rule import Finding
from torchlint.verify.counterfactual import close, same_passes
from torchlint.verify.fixing import difference, same_error
from torchlint.verify.messages import OVERWRITTEN, message
from torchlint.verify.own import Limits, run_program
from torchlint.verify.programs import Program, Statement
from torchlint.verify.protocol import Execution, Facts, Outcome, WatchedStatement
from torchlint.verify.session import Command, Session, Task, WatchedFile


@dataclass(frozen=True, slots=True)
class Ran:
    """
    What one run of the program showed.

    Attributes
    ----------
    scenes
        Those that were told of, by name.
    ended
        How the program ended, in words.
    why
        Why the file was not watched, or "".
    """

    scenes: Mapping[str, Outcome]
    ended: str
    why: str


class Programs:
    """
    A program of the user's, against which fixes are held.

    Parameters
    ----------
    text
        The command as it was typed.
    python
        The interpreter.
    command, variables, limits, quiet
        As in `own.run_program`.
    """

    def __init__(
        self, text: str, python: str, command: Command, variables: Mapping[str, str], limits: Limits, *, quiet: bool
    ) -> None:
        self.text = text
        self.python = python
        self.command = command
        self.variables = variables
        self.limits = limits
        self.quiet = quiet

    def objection(self, text: str, finding: Finding) -> str:
        """
        Why the fix of a finding is not to be applied, or "".

        Raises
        ------
        TorchMissing, ServerError
            as `own.run_program`.
        """
        assert finding.fix is not None
        try:
            program = Program(text, finding.path)
            changed = Program(program.edited(finding.fix.edits), finding.path)
        except (SyntaxError, ValueError) as error:
            return f"Python cannot compile the file: {error}"
        own = program.statement_at(finding.span.line, finding.span.column)
        if own is None:
            return "its place holds no statement of the program"
        before = self._ran(program, own)
        reached = {name: each for name, each in before.scenes.items() if each.seen and each.seen[0].started}
        if not reached:
            why = f" ({before.why})" if before.why else ""
            return f"line {own.line} was not reached by `{self.text}`{why}"
        after = self._ran(changed, own, told=tuple(reached))
        found = self._compared(reached, before, after, program, own)
        if found:
            again = self._ran(program, own, told=tuple(reached))
            if any(_differ(each, again.scenes.get(name)) for name, each in reached.items()):
                return f"two runs of `{self.text}` without it do not do the same, so that nothing can be compared"
        return found

    def _compared(
        self, reached: Mapping[str, Outcome], before: Ran, after: Ran, program: Program, own: Statement
    ) -> str:
        """What the program does not do as before, in words, or ""."""
        failing = {name: each for name, each in reached.items() if each.raised is not None}
        copied: Ran | None = None
        if any(each.raised is not None and OVERWRITTEN in each.raised.message for each in failing.values()):
            copied = self._ran(program, own, told=tuple(reached), copies=True)
        for name, old in reached.items():
            where = f" (in {name})" if name else ""
            new = after.scenes.get(name)
            if new is None:
                return f"with it the program {after.ended}"
            if same_error(old.raised, new.raised):
                assert new.raised is not None
                return f"the program raises {message(new.raised)}{where}, with it and without: nothing can be compared"
            if new.raised is not None:
                return f"with it the program raises {message(new.raised)}{where}"
            if old.raised is not None:
                reference = copied.scenes.get(name) if copied is not None else None
                if OVERWRITTEN in old.raised.message and (reference is None or reference.raised is not None):
                    return f"{message(old.raised)}{where}, and there is nothing to hold the fix against"
                found = _differ(reference, new) if reference is not None else ""
                if found:
                    return f"held against the program with what was saved kept as a copy, {found}{where}"
            elif found := _differ(old, new):
                return f"{found}{where}"
        if not failing and before.ended != after.ended:
            return f"the program {after.ended}, and not: {before.ended}"
        return ""

    def _ran(self, program: Program, own: Statement, *, told: tuple[str, ...] = (), copies: bool = False) -> Ran:
        path = os.path.realpath(program.path)
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        watches = [WatchedStatement(own.line, own.column, compound=hasattr(own.node, "body"))]
        last = _last(program, own)
        if last is not None:
            watches.append(
                WatchedStatement(last.line, last.column, variables=True, compound=hasattr(last.node, "body"))
            )
        file = WatchedFile(path, digest, tuple(watches), program.text)
        session = Session((file,), True, (), (), self.limits.steps, told, copies)
        scenes: dict[str, Outcome] = {}
        ended = why = ""
        with tempfile.TemporaryFile() as printed:
            script = self.command.kind != "pytest"
            task = Task(self.command, session)
            run = run_program(
                task, self.python, self.variables, self.limits, quiet=self.quiet, printed=printed if script else None
            )
            for each in run:
                if each.file < 0:
                    ended = each.note
                elif each.outcome is not None:
                    scenes[each.scene] = each.outcome
                else:
                    why = each.note
            printed.seek(0)
            words = printed.read().decode(errors="replace")
        if script:
            scenes = {name: replace(each, printed=words) for name, each in scenes.items()}
        return Ran(scenes, ended, why)


def _last(program: Program, own: Statement) -> Statement | None:
    """The last statement of the function that a statement is in, or of the file: there its values are looked at."""
    found = [
        s for s in program.statements
        if (s.classes, s.functions) == (own.classes, own.functions) and not hasattr(s.node, "body") and s is not own
    ]  # fmt: skip
    return found[-1] if found and found[-1].line > own.line else None


def _differ(old: Outcome, new: Outcome | None) -> str:
    """What one run of a scene does not do as the other, in words, or ""."""
    if new is None:
        return "it is not come to"
    if (old.raised is None) != (new.raised is None):
        return "it ends otherwise"
    found = difference(replace(old, gradients=None, probes=None), replace(new, gradients=None, probes=None))
    if found:
        return found
    passes = min(len(old.backwards), len(new.backwards))
    ended = replace(old, gradients={"": None}), replace(new, gradients={"": None})
    if (passes or old.backwards or new.backwards) and not same_passes(*ended):
        for one, other in zip_longest(old.backwards, new.backwards):
            line = (one or other).line
            if one is None or other is None:
                return f"the backward in line {line} is run so often no more"
            for name, value in one.after.items():
                if not close(value, other.after.get(name)):
                    return f"the backward in line {line} leaves another gradient in `{name}`"
        return "the gradients are others"
    return _values(_ends(old), _ends(new))


def _ends(outcome: Outcome) -> tuple[Execution, ...]:
    return outcome.seen[1].executions if len(outcome.seen) > 1 else ()


def _values(old: tuple[Execution, ...], new: tuple[Execution, ...]) -> str:
    for one, other in zip(old, new, strict=False):
        for name, value in {**one.before, **one.after}.items():
            then: Facts | None = {**other.before, **other.after}.get(name)
            if then is not None and value["kind"] == then["kind"] == "tensor" and not close(value, then):
                return f"`{name}` is {then['shown']} at the end of its function, and not {value['shown']}"
    return ""
