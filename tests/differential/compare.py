"""
Holds the model's predictions against torch, counts, and shrinks what they disagree on.

A verdict is about one program: "agree", "false alarm" (torch runs it), "miss" (torch refuses it, the model says
nothing), "wrong class", "wrong line", "wrong culprit", or "invalid" (the program fails for a reason that is not
autograd's).
"""

from __future__ import annotations

import ast
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from .generator import generate
from .oracle import Outcome, run
from .predict import Prediction, predict


@dataclass(frozen=True, slots=True)
class Comparison:
    """One program under both."""

    seed: int
    verdict: str
    actual: Outcome
    predicted: Prediction
    program: str = ""


def compare(program: str, seed: int = -1, *, crash_is_verdict: bool = True) -> Comparison:
    """Run a program under torch and under the model."""
    actual = run(program)
    try:
        predicted = predict(program)
    except Exception as error:
        if not crash_is_verdict:
            raise
        return Comparison(seed, "crash", actual, Prediction(type(error).__name__), program)
    return Comparison(seed, verdict(actual, predicted), actual, predicted, program)


def verdict(actual: Outcome, predicted: Prediction) -> str:
    """How the two compare."""
    if actual.kind == "invalid":
        return "invalid"
    if actual.kind == "ok" and predicted.kind == "ok":
        return "agree"
    if actual.kind == "ok":
        return "false alarm"
    if predicted.kind == "ok":
        return "miss"
    if predicted.line != actual.line:
        return "wrong line"
    if predicted.kind != actual.kind:
        return "wrong class"
    if actual.culprits and predicted.culprit not in actual.culprits:
        return "wrong culprit"
    return "agree"


@dataclass
class Tally:
    """Counts over many programs."""

    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    abstained: int = 0
    model_seconds: float = 0.0
    disagreements: list[Comparison] = field(default_factory=list)
    died: list[int] = field(default_factory=list)
    """Seeds of programs that ended the process they ran in, or took too long."""

    def add(self, comparison: Comparison) -> None:
        """Count one program."""
        self.verdicts[comparison.verdict] += 1
        if comparison.verdict == "invalid":
            return
        self.confusion[comparison.actual.kind, comparison.predicted.kind] += 1
        if comparison.verdict == "miss" and comparison.predicted.abstains:
            self.abstained += 1
        if comparison.verdict != "agree":
            self.disagreements.append(comparison)

    def merge(self, other: Tally) -> None:
        """Count another tally's programs."""
        self.confusion += other.confusion
        self.verdicts += other.verdicts
        self.abstained += other.abstained
        self.model_seconds += other.model_seconds
        self.disagreements += other.disagreements
        self.died += other.died

    @property
    def programs(self) -> int:
        """Programs that count."""
        return sum(self.confusion.values())

    @property
    def errors(self) -> int:
        """Programs that torch refuses."""
        return sum(count for (actual, _), count in self.confusion.items() if actual != "ok")

    @property
    def recall(self) -> float:
        """The share of torch's errors predicted: class, line and, for an overwritten tensor, the line of the write."""
        agreed = self.verdicts["agree"] - self.confusion["ok", "ok"]
        return agreed / self.errors if self.errors else 1.0

    def report(self) -> str:
        """Figures for people."""
        kinds = sorted({kind for pair in self.confusion for kind in pair}, key=lambda kind: (kind != "ok", kind))
        rows = [kind for kind in kinds if any(self.confusion[kind, other] for other in kinds)]
        width = max(map(len, kinds), default=2) + 2
        lines = ["confusion (rows: torch, columns: model)", " " * width + "".join(kind.rjust(width) for kind in kinds)]
        for row in rows:
            cells = (str(self.confusion[row, kind] or ".").rjust(width) for kind in kinds)
            lines.append(row.ljust(width) + "".join(cells))
        lines.append("")
        lines.append(f"programs          {self.programs} ({self.verdicts['invalid']} more were invalid)")
        if self.died:
            lines.append(f"died or too long  {len(self.died)}: seeds {', '.join(map(str, sorted(self.died)))}")
        lines.append(f"torch refuses     {self.errors}")
        lines.append(f"recall            {self.recall:.4%}  (class, line of the failure, line of the write)")
        for name in ("false alarm", "miss", "wrong class", "wrong line", "wrong culprit", "crash"):
            extra = f"  (of which the model abstained: {self.abstained})" if name == "miss" else ""
            lines.append(f"{name:<18}{self.verdicts[name]}{extra}")
        lines.append(f"model             {1000 * self.model_seconds / max(self.programs, 1):.2f} ms per program")
        return "\n".join(lines)


def tally(seeds: Iterable[int], *, rare: bool = False) -> Tally:
    """Compare the programs of some seeds, in this process."""
    torch.set_num_threads(1)
    result = Tally()
    for seed in seeds:
        program = generate(seed, rare=rare)
        actual = run(program)
        begin = time.process_time()
        try:
            predicted = predict(program)
            outcome = verdict(actual, predicted)
        except Exception as error:
            predicted, outcome = Prediction(f"{type(error).__name__}: {error}"[:60]), "crash"
        result.model_seconds += time.process_time() - begin
        kept = program if outcome not in ("agree", "invalid") else ""
        result.add(Comparison(seed, outcome, actual, predicted, kept))
    return result


# ---- shrinking ---------------------------------------------------------------------------------------------------


SHRUNK_SECONDS = 2.0
"""Of CPU time for a shorter program: what a loop counted with may be gone, and a list in it fills the memory."""


class _TooLongError(BaseException):
    """No `Exception`: neither the program nor the comparison is to catch it."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def shrink(comparison: Comparison) -> str:
    """The program with every statement removed that the disagreement does not need."""

    def same(text: str) -> bool:
        other = compare(text)
        return (other.verdict, other.actual.kind, other.predicted.kind) == (
            comparison.verdict,
            comparison.actual.kind,
            comparison.predicted.kind,
        )

    return shortened(comparison.program, same)


def shortened(program: str, same: Callable[[str], bool]) -> str:
    """The program with every statement removed without which `same` still holds of it."""

    def holds(text: str) -> bool:
        try:
            with _at_most(SHRUNK_SECONDS):
                return same(text)
        except (SyntaxError, _TooLongError):  # a `return` out of its function; a `while` without its `i += 1`
            return False

    text = ast.unparse(ast.parse(program))
    if not holds(text):
        return program
    shrunk = True
    while shrunk:
        shrunk = False
        for number in reversed(range(_count(text))):
            for unwrap in (False, True):
                shorter = _without(text, number, unwrap=unwrap)
                if shorter is not None and len(shorter) < len(text) and holds(shorter):
                    text, shrunk = shorter, True
                    break
    return text


def _blocks(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for index in range(len(block)):
                    yield block, index


def _count(text: str) -> int:
    return sum(1 for _ in _blocks(ast.parse(text)))


def _without(text: str, number: int, *, unwrap: bool) -> str | None:
    """The program without its n-th statement; with `unwrap`, a block's statements take the block's place."""
    tree = ast.parse(text)
    for index, (block, place) in enumerate(_blocks(tree)):
        if index == number:
            if isinstance(block[place], ast.Import | ast.ImportFrom):
                return None
            inner = getattr(block[place], "body", None)
            if len(block) == 1 and inner is None:
                return None
            block[place : place + 1] = inner if unwrap and isinstance(inner, list) else []
            return ast.unparse(tree) if block else None
    return None
