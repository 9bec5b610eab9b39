"""
Torch's word and the linter's on one program, and whether they agree.

Torch runs the program up to its first refusal. What the linter says of a run that gets there is compared: the
exception, and that one of the lines that the exception came by is a line of the finding or of its proof.
"""

from __future__ import annotations

import linecache
import os
import re
import traceback
import warnings
from dataclasses import dataclass, field

import torch

from torchlint.claims import Raises
from torchlint.lint import registry
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.rule import Finding, Level

from .draft import COLUMNS, ROWS

FILE = "<scene>"
OVERWRITTEN = "modified by an inplace operation"
NOWHERE = os.path.join(os.sep, "scene.py")
REFUSALS = (
    OVERWRITTEN,
    "backward through the graph a second time",
    "leaf Variable that requires grad",
    "is a view and is being modified inplace",
    "does not require grad",
    "grad can be implicitly created only for scalar",
    "output of a function that returns multiple views",
    "can only change requires_grad flags of leaf",
    "Can't call numpy() on Tensor that requires grad",
    "Can't detach views in-place",
    "refers to a single memory location",
    "Only Tensors created explicitly by the user",
    "appears to not have been used",
    "Inference tensors cannot be saved",
    "Inplace update to inference tensor outside",
    "can't optimize a non-leaf Tensor",
    "optimizer got an empty parameter list",
    "arguments don't support automatic differentiation",
    "returned an incorrect number of gradients",
    "a view of a leaf Variable",
    "has been freed",
    "out=... arguments",
    "cannot assign",
    "can't retain_grad on Tensor",
    "cannot register a hook",
    "Setting requires_grad=True on inference tensor",
    "The .grad of a Tensor",
    "differentiated with respect to",
    "element 0 of tensors",
    "Output 0 of",
    "Legacy autograd function",
    "view was created",
    "ensors of floating point",
)


@dataclass(frozen=True)
class Refusal:
    """
    What torch raised, and the program's lines that it came by, the innermost last; of a backward that found something
    overwritten also the lines of the operation that had saved it.
    """

    message: str
    lines: tuple[int, ...]


@dataclass
class Comparison:
    """`verdict`: "agree", "missed", "elsewhere", "false alarm" or "invalid" (the program fails for other reasons)."""

    seed: int
    text: str
    verdict: str
    refusal: Refusal | None = None
    findings: list[Finding] = field(default_factory=list)


def run(text: str) -> Refusal | None:
    """Run a program; None if it gets to its end."""
    refusal = _run(text)
    if refusal is None or OVERWRITTEN not in refusal.message:
        return refusal
    with warnings.catch_warnings(record=True) as given, torch.autograd.detect_anomaly(check_nan=False):
        warnings.simplefilter("always")
        _run(text)
    saved = re.findall(rf'File "{FILE}", line (\d+)', "".join(str(each.message) for each in given))
    return Refusal(refusal.message, (*refusal.lines, *map(int, saved)))


def _run(text: str) -> Refusal | None:
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
    try:
        exec(compile(text, FILE, "exec"), {"__name__": "__main__", "print": lambda *_: None})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = tuple(frame.lineno for frame in frames if frame.filename == FILE and frame.lineno)
        return Refusal(f"{type(error).__name__}: {error}", lines)
    finally:
        torch.set_grad_enabled(True)
    return None


def claims(text: str) -> list[Finding]:
    """What the linter says that torch will raise."""
    rules = registry.load()
    report = check_text(NOWHERE, text, rules, Selection(frozenset(rule.code for rule in rules.rules)))
    assert not report.failed, "\n".join(str(finding) for finding in report.findings)
    return [f for f in report.findings if any(isinstance(claim, Raises) for claim in f.claims)]


def compare(seed: int, text: str) -> Comparison:
    """Both sides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refusal = run(text)
    if refusal is not None and not any(part in refusal.message for part in REFUSALS):
        return Comparison(seed, text, "invalid", refusal)
    findings = claims(text)
    errors = [f for f in findings if f.level is Level.ERROR]
    if refusal is None:
        wrong = [finding for finding in errors if not _shown_alone(_class_around(finding, text), errors, text)]
        return Comparison(seed, text, "false alarm" if wrong else "agree", None, wrong)
    if any(_meets(finding, refusal) for finding in findings):
        return Comparison(seed, text, "agree", refusal, findings)
    return Comparison(seed, text, "elsewhere" if errors else "missed", refusal, findings)


def _class_around(finding: Finding, text: str) -> str:
    """The Module whose definition the finding is in, if any."""
    heads = [line for line in text.splitlines()[: finding.span.line] if re.match(r"\S", line)]
    found = re.match(r"class (\w+)\(nn\.Module\)", heads[-1]) if heads else None
    return found[1] if found else ""


def _shown_alone(name: str, findings: list[Finding], text: str) -> bool:
    """
    A class is linted by itself, too: whether torch refuses one of its instances, called and differentiated as it is,
    where the program never calls it, has frozen it or runs it under a checkpoint. One refusal hides the others.
    """
    if not name:
        return False
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"class {name}("))
    ends = [number for number, line in enumerate(lines) if number > start and re.match(r"\S", line)]
    call = f"{name}()(torch.randn({ROWS}, {COLUMNS}, requires_grad=True)).sum().backward()"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refusal = run("\n".join([*lines[: ends[0] if ends else None], call]) + "\n")
    return refusal is not None and any(_meets(finding, refusal) for finding in findings)


def _meets(finding: Finding, refusal: Refusal) -> bool:
    lines = {*range(finding.span.line, finding.span.end_line + 1), *(step.line for step in finding.trace)}
    said = any(isinstance(claim, Raises) and claim.text in refusal.message for claim in finding.claims)
    return said and not lines.isdisjoint(refusal.lines)
