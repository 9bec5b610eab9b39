"""
The user's own program as the driver: it is run once, watched, and every finding whose lines it reached is judged.

The linter's side: what is to be watched, who runs it, and what follows from what was told. A finding is confirmed if
one scene (a test, a script) confirms it, and refuted only if every scene that came to it refutes it. Imports no torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import torchlint
from torchlint.lint.registry import DRIVER_CODES
from torchlint.results import RunResult
from torchlint.rule import Claim, Finding, Observed, Verdict, Warns
from torchlint.syntax.notebook import is_notebook
from torchlint.syntax.text import decode as decoded
from torchlint.verify import ServerError, TorchMissing, start
from torchlint.verify.asked import Asked
from torchlint.verify.case import Case, DraftVerdict
from torchlint.verify.judge import judge, with_later_error, with_words
from torchlint.verify.probes import PROBES
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Outcome, decode, encode
from torchlint.verify.session import Command, Session, Task, Told, WatchedFile
from torchlint.verify.verify import not_judged

GRACE = 10.0
"""Seconds between asking a program to stop and ending it."""
POLL = 0.2


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What bounds a run.

    Attributes
    ----------
    steps
        Steps of optimizers: a script is stopped after so many, a test is not watched any further.
    seconds
        Wall-clock time.
    memory_mb
        Resident memory of the process.
    """

    steps: int = 50
    seconds: float = 600.0
    memory_mb: int = 16384


class Questions:
    """
    The findings of a run, as they are put to the user's program.

    Parameters
    ----------
    run
        What torchlint found.
    command
        How the program is called, for words.
    """

    def __init__(self, run: RunResult, command: str) -> None:
        self.run = run
        self.command = command
        self.ended = ""
        self.files: list[_File] = []
        for outcome in run.outcomes:
            path = outcome.report.path
            claims = [f for f in outcome.report.findings if f.code not in _OWN and not_judged(f) is None]
            if claims and not is_notebook(path) and os.path.isfile(path):
                with contextlib.suppress(SyntaxError, ValueError):
                    self.files.append(_File(path, claims))

    def session(self, steps: int) -> Session:
        """What is to be watched."""
        asked = [each.asked for each in self.files]
        return Session(
            files=tuple(WatchedFile(each.real, each.digest, each.asked.watches) for each in self.files),
            observe=any(each.observe for each in asked),
            calls=tuple(dict.fromkeys(name for each in asked for name in each.calls)),
            functions=tuple(dict.fromkeys(name for each in asked for name in each.functions)),
            steps=steps,
        )

    def take(self, told: Told) -> None:
        """Judge what was seen."""
        if told.file < 0:
            self.ended = told.note
        elif told.outcome is None:
            self.files[told.file].skipped, self.files[told.file].why = told.skipped, told.note
        else:
            self.files[told.file].judge(told.scene, told.outcome)

    def answered(self) -> RunResult:
        """The run with a verdict on each of its findings."""
        files = {each.path: each for each in self.files}
        outcomes = []
        for outcome in self.run.outcomes:
            report = outcome.report
            findings = tuple(self._told(each, files.get(report.path)) for each in report.findings)
            outcomes.append(replace(outcome, report=replace(report, findings=findings)))
        return replace(self.run, outcomes=tuple(outcomes))

    def _told(self, finding: Finding, file: _File | None) -> Finding:
        if finding.code in _OWN:
            return finding
        verdict = not_judged(finding)
        if verdict is None and file is None:
            what = "a notebook" if is_notebook(finding.path) else "this file"
            verdict = Verdict("inconclusive", f"{what} cannot be watched while `{self.command}` runs", 0.0)
        if verdict is None and file is not None:
            verdict = file.verdict(finding, self.command, self.ended)
        return replace(finding, verdict=verdict)


_OWN = frozenset(item.code for item in DRIVER_CODES)


class _File:
    """
    A file of the run.

    Raises
    ------
    SyntaxError
        if Python cannot compile it.
    """

    def __init__(self, path: str, findings: Sequence[Finding]) -> None:
        data = Path(path).read_bytes()
        self.path = path
        self.real = os.path.realpath(path)
        self.digest = hashlib.sha256(data).hexdigest()
        self.findings = list(findings)
        self.asked = Asked(Program(decoded(data).text, path), findings)
        self.seen: list[list[_Seen]] = [[] for _ in findings]
        self.skipped = 0
        self.why = ""

    def judge(self, scene: str, outcome: Outcome) -> None:
        for case, seen in zip(self.asked.cases, self.seen, strict=True):
            if case is not None and case.seen(outcome, case.own).started:
                seen.append(_Seen(scene, _draft(case, outcome), outcome.seconds))

    def verdict(self, finding: Finding, command: str, ended: str) -> Verdict:
        index = self.findings.index(finding)
        if self.asked.cases[index] is None:
            return Verdict("inconclusive", "its place holds no statement of the program", 0.0)
        seen = self.seen[index]
        seconds = round(sum(each.seconds for each in seen), 3)
        if not seen:
            quietly = ended in ("ended", "ended with status 0")
            why = f" ({self.why})" if self.why else "" if quietly else f": it {ended}"
            return Verdict("inconclusive", f"line {finding.span.line} was not reached by `{command}`{why}", seconds)
        for status in ("confirmed", "inconclusive", "refuted"):
            found = [each for each in seen if each.draft.status == status]
            if found:
                break
        first = found[0]
        where = f" (in {first.scene})" if first.scene else ""
        if status == "refuted" and len(found) > 1:
            where = f" (in each of {len(found)} scenes that came there, the first {first.scene})"
        if status == "refuted" and self.skipped:
            where += f"; {self.skipped} more were not looked at"
        return Verdict(first.draft.status, first.draft.evidence + where, seconds)


@dataclass(frozen=True, slots=True)
class _Seen:
    scene: str
    draft: DraftVerdict
    seconds: float


def _once(claim: Claim) -> bool:
    """Whether what is claimed may show only the first time that it happens in a process."""
    return PROBES[claim.probe].once if isinstance(claim, Observed) else isinstance(claim, Warns)


def _draft(case: Case, outcome: Outcome) -> DraftVerdict:
    """What a scene says about a finding. The program is not run a second time with one thing changed."""
    draft = judge(case, outcome, timeout=0.0, memory_mb=0)
    if draft.status == "confirmed":
        return with_later_error(case, outcome, draft) if draft.error is None else draft
    if draft.status == "refuted" and any(_once(claim) for claim in case.finding.claims):
        return DraftVerdict("inconclusive", "it gave no such warning; but a warning may be shown once in a process")
    changes = [c for c in case.finding.claims if isinstance(c, Observed) and PROBES[c.probe].compare is not None]
    if changes and len(changes) == len(case.finding.claims):
        words = "; what it claims is about a changed program, which `check --verify` runs, and `--with` does not"
        return with_words(DraftVerdict("inconclusive", f"line {case.own.line} ran"), words)
    return draft


def run_program(
    task: Task,
    python: str,
    variables: Mapping[str, str],
    limits: Limits,
    *,
    quiet: bool,
    printed: IO[bytes] | None = None,
) -> Iterator[Told]:
    """
    Run a program of the user's in his interpreter.

    Nothing is kept from it but time and memory: it is his program, in his environment and directory. What it prints
    goes to standard error.

    Parameters
    ----------
    task
        What to run, and to watch.
    python
        The interpreter.
    variables
        Variables of the environment that are set for it.
    limits
        What bounds it.
    quiet
        Whether what it prints is thrown away.
    printed
        Takes what it writes to standard output instead.

    Raises
    ------
    TorchMissing
        if its interpreter has no torch.
    ServerError
        if it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="torchlint-") as directory:
        question, report = Path(directory, "task"), Path(directory, "report")
        question.write_bytes(encode(task))
        report.touch()
        own = str(Path(torchlint.__file__).parent)
        environment = {**os.environ, **variables}
        environment.setdefault("TORCHDYNAMO_DISABLE", "1")  # what is checked is eager mode
        try:
            process = subprocess.Popen(
                [python, "-c", _BEGIN, own, str(question), str(report)],
                stdin=subprocess.DEVNULL,
                stdout=printed if printed is not None else subprocess.DEVNULL if quiet else 2,
                stderr=subprocess.DEVNULL if quiet else None,
                start_new_session=hasattr(os, "setsid"),
                env=environment,
            )
        except OSError as error:
            raise ServerError(f"cannot start {python}: {error}") from error
        try:
            ended = _bounded(process, limits)
        finally:
            _end(process)
        yield from _answers(report.read_bytes(), python, ended)


_BEGIN = """\
import sys
if sys.version_info < (3, 10):
    sys.exit("torchlint: Python 3.10 or newer is needed here, this is " + sys.version.split()[0])
import importlib.util, os
folder, task, report = sys.argv[1:]
first = os.path.join(folder, "__init__.py")
spec = importlib.util.spec_from_file_location("torchlint", first, submodule_search_locations=[folder])
sys.modules["torchlint"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from torchlint.verify.start import main
main(task, report)
"""
"""Loads this torchlint, and nothing else that lies beside it, into an interpreter that need not have one."""


def _bounded(process: subprocess.Popen[bytes], limits: Limits) -> str:
    """Wait for a program, and stop it at its limits; how it ended, if not by itself."""
    end = time.monotonic() + limits.seconds
    asked = ""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=POLL)
            return "" if process.returncode >= 0 else f"was killed by signal {-process.returncode}"
        if time.monotonic() > end:
            if asked:
                return f"did not end when it was asked to: {asked}"
            asked, word = f"it takes longer than {limits.seconds:g} s (--seconds)", start.TIME
        elif not asked and _resident_mb(process.pid) > limits.memory_mb:
            asked, word = f"it needs more than {limits.memory_mb} MB (--memory)", start.MEMORY
        else:
            continue
        end = time.monotonic() + GRACE
        number = getattr(signal, word, None)
        if number is None:
            return f"was ended: {asked}"
        process.send_signal(number)


def _resident_mb(process: int) -> float:
    """The resident memory of a process, where the system says so in a file; 0 elsewhere."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except (OSError, ValueError, IndexError):
        return 0.0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()


def _answers(data: bytes, python: str, ended: str) -> Iterator[Told]:
    """What was told, as far as it was told whole."""
    begun = finished = False
    place = 0
    size = struct.Struct(">Q")
    while place + size.size <= len(data):
        (length,) = size.unpack_from(data, place)
        frame = data[place + size.size : place + size.size + length]
        place += size.size + length
        if len(frame) < length:
            break
        told = decode(Told, frame)
        if told.file < 0 and not begun:
            begun = True
            continue
        if told.note.startswith(start.NO_TORCH):
            raise TorchMissing(f"{python} cannot import torch ({told.note.partition(': ')[2]})")
        finished = finished or told.file < 0
        yield told
    if not begun:
        raise ServerError(f"{python} could not begin: what it says stands above")
    if not finished:
        yield Told(-1, note=ended or "ended without an answer")


def python_of(named: str, asked: str | None) -> str:
    """
    The interpreter of a project: the one asked for, the one the command names, that of an active environment, or ours.
    """
    if asked is not None or named:
        return asked or named
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        python = Path(active, folder, name)
        if python.exists():
            return str(python)
    return sys.executable


def with_program(
    run: RunResult,
    text: str,
    named: str,
    command: Command,
    variables: Mapping[str, str],
    limits: Limits,
    *,
    quiet: bool,
) -> RunResult:
    """
    The run with the verdicts of a program of the user's.

    Parameters
    ----------
    run
        What torchlint found.
    text
        The command as it was typed.
    named
        The interpreter.
    command, variables, limits, quiet
        As in `run_program`.

    Raises
    ------
    TorchMissing, ServerError
        as `run_program`.
    """
    questions = Questions(run, text)
    if questions.files:
        task = Task(command, questions.session(limits.steps))
        for told in run_program(task, named, variables, limits, quiet=quiet):
            questions.take(told)
    return questions.answered()
