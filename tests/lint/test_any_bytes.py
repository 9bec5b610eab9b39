"""Whatever bytes come in: no exception leaves the engine, places lie in the file, fixes converge and parse."""

from __future__ import annotations

import ast
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import EVERYTHING, REGISTRY, interpret

from torchlint.fixes import edits
from torchlint.lint import engine
from torchlint.lint.engine import FileReport, check_bytes, check_text
from torchlint.lint.fixpoint import fix
from torchlint.syntax.tree import NEWLINE, Decoded

pytestmark = pytest.mark.usefixtures("toy_model")

engine_settings = settings(max_examples=150, deadline=None, derandomize=True)
SIMPLE = st.sampled_from(
    [
        "torch.old()", "torch.risky(1); torch.old()", "torch.drop()", "torch.drop()  # why", "a = 1; torch.drop()",
        "x = torch.numpy(\n  1)", "x = [  # why\n  torch.old(),\n]", "torch.old()  # noqa: PRB001", "pass", "# noqa",
        "", "y = 1  # torchlint: ignore[PRB001]", "torch.bad(\\\n1)",
        "torch.twice() # torchlint: ignore[called, PRB009]",
        "ü = torch.old('日本'); torch.numpy()", "import torch", "lambda: torch.drop()", "'''\n torch.old()\n'''",
        "torch.drop(torch.drop())", "f'{torch.old()!r}'", "if a: torch.drop()", "while b: torch.old(); torch.drop()",
    ]
)  # fmt: skip
BROKEN = st.sampled_from(["x = (", "  torch.old()", "else:", "torch.old(]", "'torch", "def torch", "\\", "\x0c torch"])
HEADERS = st.sampled_from(["if a:", "for b in c:", "def f():", "class A:", "with torch.old():", "try:  # torch"])


def _block(header: str, body: list[str], indent: str) -> str:
    inner = "\n".join([*body, "torch.drop()"])
    block = f"{header}\n" + "\n".join(indent + line for line in inner.split("\n"))
    return f"{block}\nfinally:\n{indent}torch.drop()" if header.startswith("try") else block


STATEMENTS = st.recursive(
    SIMPLE,
    lambda inner: st.builds(_block, HEADERS, st.lists(inner, max_size=4), st.sampled_from(["    ", "  ", "\t"])),
    max_leaves=8,
)


def _program(statements: list[str], broken: str, newline: str, end: bool) -> str:
    return ("\n".join([*statements, broken]) + "\n" * end).replace("\n", newline)


PROGRAMS = st.builds(
    _program,
    st.lists(STATEMENTS, max_size=6),
    st.one_of(st.just(""), st.just(""), st.just(""), BROKEN),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)


def _in_the_file(report: FileReport, text: str) -> None:
    lines = NEWLINE.split(text)
    for finding in report.findings:
        assert 1 <= finding.span.line <= finding.span.end_line <= len(lines)
        assert 1 <= finding.span.column <= len(lines[finding.span.line - 1]) + 2, finding


@engine_settings
@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_bytes(before: bytes, after: bytes) -> None:
    report = check_bytes("x.py", before + b"torch" + after, REGISTRY, EVERYTHING)
    assert {finding.code for finding in report.findings} <= {"TLN001", "TLN002"}
    assert not report.failed
    assert all(finding.span.line >= 1 and finding.span.column >= 1 for finding in report.findings)


@engine_settings
@given(PROGRAMS)
def test_any_program(text: str) -> None:
    former = engine.interpret
    engine.interpret = interpret
    try:
        report = check_text("x.py", text, REGISTRY, EVERYTHING)
        _in_the_file(report, text)
        assert not report.failed
        for finding in report.findings:
            if finding.fix is not None:
                ordered = sorted(finding.fix.edits, key=lambda edit: edit.span)
                assert all(not edits.clash(a, b) for a, b in pairwise(ordered))
        fixed = fix(
            Decoded(text), lambda changed: check_text("x.py", changed, REGISTRY, EVERYTHING), unsafe=True, report=report
        )
        assert fixed.notes == ()
        if fixed.applied:
            ast.parse(fixed.text)
            assert not any(finding.fix for finding in fixed.report.findings)
        else:
            assert fixed.text == text
    finally:
        engine.interpret = former
