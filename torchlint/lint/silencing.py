"""
Adds the comments that silence findings: `--add-noqa`.

Works on texts and writes no file. A comment goes to the end of the line on which the finding begins, where every tool
reads it; where that is inside a string or continued by a backslash, to the next line that can have one.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchlint.lint.registry import DRIVER_CODES
from torchlint.lint.suppressions import NOQA
from torchlint.results import FileReport
from torchlint.rule import Finding, TextEdit
from torchlint.syntax.text import NEWLINE, Span

ROUNDS = 50
"""Of findings that are shown as one, the next is shown when the first is silenced."""
_OWN = frozenset(item.code for item in DRIVER_CODES)
_LISTED = re.compile(r"#\s*torchlint\s*:\s*ignore\s*\[(?P<codes>[^\]\s][^\]]*?)\s*\]")
_ENDS = (tokenize.NEWLINE, tokenize.NL)


@dataclass(frozen=True, slots=True)
class Silenced:
    """
    A file with comments.

    Attributes
    ----------
    text
        The new text.
    report
        The findings that remain.
    added
        How many were silenced.
    """

    text: str
    report: FileReport
    added: int = 0


def silence(text: str, report: FileReport, check: Callable[[str], FileReport]) -> Silenced:
    """
    Silence all findings of a file, except that it is not Python or that something went wrong.

    Parameters
    ----------
    text
        The file.
    report
        What is found in it.
    check
        Lints a text of that file.
    """
    added = 0
    for _ in range(ROUNDS):
        findings = [finding for finding in report.findings if finding.code not in _OWN]
        changed = with_comments(text, findings) if report.followed else text
        if changed == text:
            break
        after = check(changed)
        if not after.followed:
            break
        text, report, added = changed, after, added + len(findings)
    return Silenced(text, report, added)


def with_comments(text: str, findings: Sequence[Finding]) -> str:
    """A text with `# noqa: CODE` for each finding that has a line where it can stand."""
    ends = [found.span() for found in NEWLINE.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    lines = [text[start : end[0]] for start, end in zip(starts, [*ends, (len(text), len(text))], strict=True)]
    breaks = [text[start:end] for start, end in ends] + [""]
    possible = _commentable(lines)
    codes: dict[int, set[str]] = {}
    for finding in findings:
        line = next((line for line in possible if line >= finding.span.line), None)
        if line is not None:
            codes.setdefault(line, set()).add(finding.code)
    for line, wanted in codes.items():
        lines[line - 1] = _with_codes(lines[line - 1], sorted(wanted), possible[line])
    return "".join(line + end for line, end in zip(lines, breaks, strict=True))


def _commentable(lines: Sequence[str]) -> dict[int, int]:
    """Numbers of the lines whose end is not inside anything, in order, each with the column of its comment or -1."""
    found: dict[int, int] = {}
    comments: dict[int, int] = {}
    inside = 0
    rest = iter(lines)
    try:
        for token in tokenize.generate_tokens(lambda: next(rest, "") + "\n"):
            name = tokenize.tok_name[token.type]
            if name.endswith("STRING_START"):
                inside += 1
            elif name.endswith("STRING_END"):
                inside -= 1
            elif token.type == tokenize.COMMENT:
                comments[token.start[0]] = token.start[1]
            elif token.type in _ENDS and not inside and token.start[0] <= len(lines):
                found[token.start[0]] = comments.get(token.start[0], -1)
            if token.start[0] > len(lines):
                break
    except (tokenize.TokenError, SyntaxError):  # what Python's tokenizer refuses has been read in another way
        pass
    return found


def _with_codes(line: str, codes: Sequence[str], comment: int) -> str:
    listed = NOQA.search(line, comment) if comment >= 0 else None
    if listed is not None and listed["codes"]:
        known = {code.upper() for code in listed["codes"].replace(",", " ").split()}
        more = "".join(f", {code}" for code in codes if code not in known)
        return line[: listed.end("codes")] + more + line[listed.end("codes") :]
    return f"{line.rstrip()}  # noqa: {', '.join(codes)}"


def ignored(lines: Sequence[str], finding: Finding) -> TextEdit | None:
    """
    The edit that writes `# torchlint: ignore[CODE]` on the line on which a finding begins, behind what is said there;
    None where that line ends inside a string or goes on after a backslash.
    """
    number = finding.span.line
    comment = _commentable(lines).get(number)
    if comment is None:
        return None
    line = lines[number - 1]
    listed = _LISTED.search(line, comment) if comment >= 0 else None
    column = len(line) if listed is None else listed.end("codes")
    text = f"  # torchlint: ignore[{finding.code}]" if listed is None else f", {finding.code}"
    return TextEdit(Span(number, column + 1, number, column + 1), text, finding.cell)
