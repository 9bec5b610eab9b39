"""
Comments that silence findings.

`# noqa: TLN201`, `# torchlint: ignore[TLN201] reason`, and for a whole file `# torchlint: ignore-file[TLN2]`, or what
flake8 and Ruff have for it, on a line of its own: `# flake8: noqa`, `# ruff: noqa: TLN201`.

Reads the comments, answers whether one covers a finding, and names those that cover none.

A comment covers a finding if it stands on the first or last line of the finding itself, or on the first or last line
of the statement the finding is in (of a compound statement: of its header).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Literal

from torchlint.config import near_code
from torchlint.lint.registry import UNUSED_SUPPRESSION, Registry, matches
from torchlint.rule import Finding, FindingFix, TextEdit
from torchlint.syntax import cst
from torchlint.syntax.tree import NEWLINE, Source, Span, walk

_SUSPECT = re.compile(r"#[^\n\r]*(?:noqa|torchlint\s*:)", re.IGNORECASE)
# the shape flake8 accepts: codes are separated by commas or white space
NOQA = re.compile(r"#\s*noqa(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?(?![\w-])", re.IGNORECASE)
_NEARLY = re.compile(r"[:,\s]\s*(?P<code>TLN\d\w*)", re.IGNORECASE)
"""What comes after a `noqa`, or after its codes, where it begins like a code of ours and is none."""
_NOQA_FILE = re.compile(
    r"#\s*(?:flake8|ruff)\s*[:=]\s*noqa(?:\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?\s*$", re.IGNORECASE
)
_IGNORE = re.compile(r"#\s*torchlint\s*:\s*(?P<word>[\w-]*)\s*(?:\[(?P<codes>[^\]]*)\])?")


@dataclass(slots=True)
class Suppression:
    """
    One directive of one comment.

    Attributes
    ----------
    span
        The directive with the text that belongs to it, up to the next `#`.
    written
        Its text as it stands in the file.
    scope
        "line", or "file" for `ignore-file`.
    tool
        "noqa" or "torchlint".
    selectors
        What it names; empty: everything.
    understood
        Whether it is one of the forms above.
    used
        The selectors that covered a finding ("" for a directive that names none).
    """

    span: Span
    written: str
    scope: Literal["line", "file"]
    tool: Literal["noqa", "torchlint"]
    selectors: tuple[str, ...]
    understood: bool = True
    used: set[str] = field(default_factory=set)


class Suppressions:
    """
    The suppressions of one file.

    Parameters
    ----------
    source
        The file.
    registry
        The rules there are.
    noqa
        Whether `# noqa` counts; flake8 looks after that one itself.
    """

    def __init__(self, source: Source, registry: Registry, *, noqa: bool = True) -> None:
        self._source = source
        self._names = registry.names
        found = list(_read(source, noqa=noqa)) if has_directive(source.text) else []
        self._all = sorted(found, key=lambda item: item.span)
        self._of_file = [item for item in found if item.scope == "file"]
        self._of_line: dict[int, list[Suppression]] = {}
        for item in found:
            if item.scope == "line":
                self._of_line.setdefault(item.span.line, []).append(item)

    def __bool__(self) -> bool:
        return bool(self._all)

    def covers(self, code: str, lines: Collection[int]) -> bool:
        """Whether a comment on one of the lines, or for the whole file, silences a code; remembers which did."""
        candidates = [*self._of_file, *(item for line in sorted(lines) for item in self._of_line.get(line, ()))]
        covered = False
        for item in candidates:
            if not item.understood:
                continue
            for selector in item.selectors or ("",):
                if not selector or matches(selector, code, self._names.get(code, "")):
                    item.used.add(selector)
                    covered = True
        return covered

    def unused(self, enabled: Collection[str]) -> Iterator[Finding]:
        """
        A finding for each suppression that covered nothing.

        Only what this run could have found is judged: a selector all of whose rules are enabled, or one that no rule
        answers to. A bare `# noqa` is never judged, other tools read it too.
        """
        for item in self._all:
            if not item.understood:
                if not self._excused(item.span.line):
                    yield self._finding(item, self._not_understood(item), self._colon(item))
                continue
            stale = [selector for selector in item.selectors if self._stale(item, selector, enabled)]
            whole = (
                not item.selectors
                and item.tool == "torchlint"
                and not item.used
                and all(code in enabled for code in self._names)
            )
            if (stale or whole) and not self._excused(item.span.line):
                yield self._finding(item, self._message(item, stale), self._fix(item, stale))

    def _excused(self, line: int) -> bool:
        """Whether TLN002 itself is silenced there: by name only, else a comment would excuse itself."""
        near = (*self._of_file, *self._of_line.get(line, ()))
        return any(_names_unused(selector) for item in near for selector in item.selectors)

    def _stale(self, item: Suppression, selector: str, enabled: Collection[str]) -> bool:
        if selector in item.used or _names_unused(selector):
            return False
        meant = [code for code, name in self._names.items() if matches(selector, code, name)]
        if not meant:  # a noqa code of another tool is that tool's business
            return item.tool == "torchlint" or selector.upper().startswith("TLN")
        return all(code in enabled for code in meant)

    def _not_understood(self, item: Suppression) -> str:
        if item.tool == "torchlint":
            return f"`{item.written}` is not understood: write `# torchlint: ignore[CODE]`"
        code = item.written
        if self._lacks_colon(item):
            return f"`noqa {code}` lacks a colon, and silences nothing: write `# noqa: {code}`"
        return f"`{code}` is no code, and silences nothing{near_code(code, self._names) or ''}"

    def _lacks_colon(self, item: Suppression) -> bool:
        before = self._source.lines[item.span.line - 1][: item.span.column - 1]
        return before.rstrip().lower().endswith("noqa") and any(
            matches(item.written, *pair) for pair in self._names.items()
        )

    def _colon(self, item: Suppression) -> FindingFix | None:
        if item.tool == "torchlint" or not self._lacks_colon(item):
            return None
        line, column = item.span.line, item.span.column
        at = len(self._source.lines[line - 1][: column - 1].rstrip()) + 1
        return FindingFix("write the colon", True, (TextEdit(Span(line, at, line, at), ":"),))

    def _message(self, item: Suppression, stale: list[str]) -> str:
        if not stale:
            return f"`{item.written}` suppresses nothing"
        unknown = [selector for selector in stale if not any(matches(selector, *pair) for pair in self._names.items())]
        listed = ", ".join(f"`{selector}`" for selector in stale)
        if unknown == stale:
            return f"the suppression of {listed} names no rule"
        return f"the suppression of {listed} covers no finding"

    def _finding(self, item: Suppression, message: str, fix: FindingFix | None = None) -> Finding:
        kind = UNUSED_SUPPRESSION
        return Finding(self._source.path, item.span, kind.code, kind.name, kind.level, message, fix=fix)

    def _fix(self, item: Suppression, stale: list[str]) -> FindingFix:
        kept = [selector for selector in item.selectors if selector not in stale]
        if kept:
            edits = (TextEdit(item.span, _without(item, kept)),)
            return FindingFix(f"remove {', '.join(stale)} from the comment", True, edits)
        return FindingFix("remove the comment", True, (TextEdit(self._room(item.span), ""),))

    def _room(self, span: Span) -> Span:
        """The directive with the white space before it; the whole line where nothing else is on it."""
        line = self._source.lines[span.line - 1]
        before, after = line[: span.column - 1], line[span.end_column - 1 :]
        if after.strip():
            return Span(span.line, span.column, span.line, len(line) - len(after.lstrip()) + 1)
        if before.strip() or span.line == len(self._source.lines):
            return Span(span.line, len(before.rstrip()) + 1, span.line, len(line) + 1)
        return Span(span.line, 1, span.line + 1, 1)


def _names_unused(selector: str) -> bool:
    return selector.upper() == UNUSED_SUPPRESSION.code or selector.lower() == UNUSED_SUPPRESSION.name


def _without(item: Suppression, kept: list[str]) -> str:
    pattern = _IGNORE if item.tool == "torchlint" else _NOQA_FILE if item.scope == "file" else NOQA
    found = pattern.match(item.written)
    assert found is not None
    return item.written[: found.start("codes")] + ", ".join(kept) + item.written[found.end("codes") :]


def has_directive(text: str) -> bool:
    """Whether a file may have a comment that silences findings."""
    if text.isascii():  # else letters are alike in more than one way
        low = text.lower()
        if "noqa" not in low and "torchlint" not in low:
            return False
    return _SUSPECT.search(text) is not None


def may_be_judged(text: str, registry: Registry, *, noqa: bool = True) -> bool:
    """
    Whether a comment of a file may be one that `Suppressions.unused` has something to say about.

    Reads the text line by line without telling comments from strings, so it may say yes where there is none.
    """
    return any(
        item.tool == "torchlint" or not item.understood or _names_rules(item, registry)
        for item in _written(text, noqa=noqa)
    )


def name_rules(text: str, registry: Registry) -> bool:
    """Whether a comment of a file that does not speak of torch may suppress a rule nevertheless; as `may_be_judged`."""
    return "noqa" in text and any(_names_rules(item, registry) for item in _written(text, noqa=True))


def _written(text: str, *, noqa: bool) -> Iterator[Suppression]:
    for found in _SUSPECT.finditer(text) if has_directive(text) else ():
        end = NEWLINE.search(text, found.end())
        comment = text[found.start() : end.start() if end else len(text)]
        yield from _directives(comment, Span(1, 1, 1, 1), noqa=noqa)


def _names_rules(item: Suppression, registry: Registry) -> bool:
    return any(
        selector.upper().startswith("TLN")
        or any(matches(selector, code, name) for code, name in registry.names.items())
        for selector in item.selectors
    )


def _read(source: Source, *, noqa: bool) -> Iterator[Suppression]:
    for node in walk(source.module):
        if isinstance(node, cst.Comment) and _SUSPECT.search(node.value):
            span = source.span(node)
            alone = not source.lines[span.line - 1][: span.column - 1].strip()
            yield from _directives(node.value, span, noqa=noqa, alone=alone)


def _directives(comment: str, span: Span, *, noqa: bool, alone: bool = True) -> Iterator[Suppression]:
    whole = _NOQA_FILE.match(comment) if noqa and alone else None
    if whole is not None:
        codes = tuple(code for code in re.split(r"[,\s]+", whole["codes"] or "") if code)
        yield Suppression(span, comment, "file", "noqa", codes)
        return
    for pattern in (NOQA, _IGNORE) if noqa else (_IGNORE,):
        for found in pattern.finditer(comment):
            end = comment.find("#", found.end())
            written = (comment if end < 0 else comment[:end])[found.start() :].rstrip()
            start = span.column + found.start()
            place = Span(span.line, start, span.line, start + len(written))
            codes = tuple(code for code in re.split(r"[,\s]+", found["codes"] or "") if code)
            if pattern is NOQA:
                nearly = _NEARLY.match(comment, found.end())
                if nearly is not None:
                    begin = span.column + nearly.start("code")
                    at = Span(span.line, begin, span.line, begin + len(nearly["code"]))
                    yield Suppression(at, nearly["code"], "line", "noqa", (), understood=False)
                # flake8 takes one with a misspelt code for one that names none, and silences all
                if codes or nearly is None:
                    yield Suppression(place, written, "line", "noqa", codes)
            else:
                scope: Literal["line", "file"] = "file" if found["word"] == "ignore-file" else "line"
                understood = found["word"] in ("ignore", "ignore-file") and (bool(codes) or found["codes"] is None)
                yield Suppression(place, written, scope, "torchlint", codes, understood)
