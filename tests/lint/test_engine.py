"""One file in, findings out, and nothing that goes wrong in between is lost."""

from __future__ import annotations

import threading

import expectations
import pytest
from toy import EVERYTHING, REGISTRY, lint, said

from torchlint.lint.engine import MODEL, PARSE, PLACES, check_bytes
from torchlint.lint.registry import Selection
from torchlint.rule import Level
from torchlint.syntax.tree import Span

pytestmark = pytest.mark.usefixtures("toy_model")


def test_findings_are_sorted_and_placed() -> None:
    report = lint("import torch\nb = torch.second(torch.first(1))\na = torch.third(\n    2)\n")
    assert [(finding.span, finding.message) for finding in report.findings] == [
        (Span(2, 5, 2, 33), "`second` is called"),
        (Span(2, 18, 2, 32), "`first` is called"),
        (Span(3, 5, 4, 7), "`third` is called"),
    ]
    assert {finding.path for finding in report.findings} == {"program.py"}
    assert not report.failed


def test_trace_has_places_and_ends() -> None:
    report = lint("torch.ok()\ntorch.bad()\n")
    steps = report.findings[0].trace
    assert [(step.line, step.column, step.end_line, step.end_column) for step in steps] == [
        (1, 1, 1, 11),
        (2, 1, 2, 12),
    ]


def test_only_yes_fires() -> None:
    assert lint("torch.maybe()\n").findings == ()


def test_the_worst_of_several_findings_at_one_place_stays() -> None:
    assert [(f.level, f.message) for f in lint("torch.twice()\n").findings if f.code == "PRB003"] == [
        (Level.ERROR, "said plainly")
    ]


def test_strict_findings_are_held_back_and_counted() -> None:
    text = "torch.purist()\ntorch.bad()\n"
    report = lint(text)
    assert (said(report), report.held_back) == ([(2, "PRB001", "`bad` is called")], 1)
    for selection in (
        Selection(EVERYTHING.enabled, strict=True),
        Selection(EVERYTHING.enabled, explicit=frozenset({"PRB001"})),
    ):
        report = lint(text, selection)
        assert ([line for line, *_ in said(report)], report.held_back) == ([1, 2], 0)


def test_a_rule_that_raises_is_named_and_the_other_findings_stand() -> None:
    report = lint("torch.bad()\ntorch.boom()\ntorch.boom()\ntorch.worse()\n")
    assert said(report) == [
        (1, "PRB001", "`bad` is called"),
        (2, "PRB001", "`boom` is called"),
        (
            2,
            "TLN000",
            "the rule PRB002 (broken) failed: ValueError: toy rule (toy.py, line N); the other findings stand",
        ),
        (3, "PRB001", "`boom` is called"),
        (4, "PRB001", "`worse` is called"),
    ]
    assert report.failed
    assert report.followed


def test_a_model_that_raises_is_named() -> None:
    report = lint("torch.bad()\ntorch.crash()\n")
    assert said(report) == [
        (1, "TLN000", "the model could not follow this file: ZeroDivisionError: toy model (toy.py, line N)"),
    ]
    assert report.failed
    assert not report.followed


def test_a_rule_that_points_outside_the_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst as cst

    from torchlint.rule import Diagnostic

    monkeypatch.setattr(type(REGISTRY.rules[1]), "check", lambda self, event: iter([Diagnostic(cst.Name("x"), "x")]))
    (finding,) = lint("torch.ok()\n").findings
    assert finding.code == "TLN000"
    assert "failed: LookupError: it points at a Name that is not in this file" in finding.message


def test_a_finding_stands_without_a_fix_that_cannot_be_written() -> None:
    report = lint("torch.stranger()\n")
    assert said(report) == [
        (1, "PRB001", "`stranger` is called"),
        (1, "TLN000", "the fix of PRB001 (called) is left out: the fix edits a node that is not in this file"),
    ]
    assert report.findings[0].fix is None
    assert report.failed


def test_syntax_errors_are_findings() -> None:
    report = lint("import torch\nx = (\n")
    assert said(report) == [(2, "TLN001", "'(' was never closed")]
    assert not report.failed


@pytest.mark.parametrize("data", [b"x = (\n", b"\xff\xfe", b"x\0"])
def test_a_file_without_torch_must_be_python(data: bytes) -> None:
    report = check_bytes("x.py", data, REGISTRY, EVERYTHING)
    assert [finding.code for finding in report.findings] == ["TLN001"]
    report = check_bytes("x.py", b"x = 1\n", REGISTRY, EVERYTHING)
    assert (report.findings, report.mentions_torch) == ((), False)


@pytest.mark.parametrize("comment", ["# noqa: PRB001", "# noqa: E501, TLN201"])
def test_a_comment_for_a_rule_is_judged_where_nothing_speaks_of_torch(comment: str) -> None:
    report = check_bytes("x.py", f"x = 1  {comment}\n".encode(), REGISTRY, EVERYTHING)
    assert [finding.code for finding in report.findings] == ["TLN002"]


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: E501", "# noqa : what", "# noqa:E501,W291"])
def test_other_comments_there_are_not(comment: str) -> None:
    report = check_bytes("x.py", f"x = 1  {comment}\n".encode(), REGISTRY, EVERYTHING)
    assert (report.findings, report.mentions_torch) == ((), False)


def test_a_fix_of_some_places_of_a_group_says_which() -> None:
    whole = "values, vectors = torch.symeig(A, eigenvectors=True)\n"
    part = "import torch\nA = torch.eye(2)\n" + whole + "print(torch.symeig(A)[0])\n"
    titles = [finding.fix.title for finding in expectations.lint(part, codes=["TLN901"]).findings if finding.fix]
    assert titles == ["in line 4: use `torch.linalg.eigvalsh`, since only the values are used"]
    both = part.replace(whole, "print(torch.symeig(A)[0])\n")
    titles = [finding.fix.title for finding in expectations.lint(both, codes=["TLN901"]).findings if finding.fix]
    assert titles == ["use `torch.linalg.eigvalsh`, since only the values are used"]
    two = part + "print(torch.symeig(A)[0])\n"
    titles = [finding.fix.title for finding in expectations.lint(two, codes=["TLN901"]).findings if finding.fix]
    assert titles == ["at 2 of 3 places: use `torch.linalg.eigvalsh`, since only the values are used"]


def test_a_file_that_mentions_torch_must_be_text() -> None:
    report = check_bytes("x.py", b"import torch\n\xff\n", REGISTRY, EVERYTHING)
    assert said(report) == [(2, "TLN001", "not utf-8: cannot decode byte 0xff")]


@pytest.mark.parametrize("text", ["", "\n", "# torch\n", "\ufeff# torch\n", "\x0c\nx = 1\n", "x = 1"])
def test_odd_but_valid_files(text: str) -> None:
    report = check_bytes("x.py", text.encode() + b"# torch", REGISTRY, EVERYTHING)
    assert (report.findings, report.failed) == ((), False)


@pytest.mark.parametrize(
    "text",
    [
        "torch.bad(" + "(" * 150 + ")" * 150 + ")\n",
        "x = " + "+".join(["a"] * 1500) + "\ntorch.bad()\n",
        "x = a" + ".b" * 1500 + "\ntorch.bad()\n",
        "if x:\n  pass\n" + "elif y:\n  pass\n" * 1500 + "torch.bad()\n",
    ],
    ids=["brackets", "sum", "attributes", "elif"],
)
def test_deep_nesting_is_no_crash(text: str) -> None:
    before = threading.stack_size()
    report = lint(text)
    assert [code for _, code, _ in said(report)] == ["PRB001"]
    assert threading.stack_size() == before


@pytest.mark.parametrize(
    "text",
    [
        "torch.bad(" + "(" * 100_000 + ")" * 100_000 + ")\n",
        "torch.bad()\nx = a" + ".b" * 20_000 + "\n",
        "torch.bad()\nx = a" + ".b(c)\\\n" * 5_000 + "\n",
        "torch.bad()\nx = " + "not " * 50_000 + "a\n",
        "torch.bad()\nx = (\n" + "a +\n" * 20_000 + "b)\n",
        "torch.bad()\nif x:\n  pass\n" + "elif y:\n  pass\n" * 5_000,
    ],
    ids=["brackets", "attributes", "calls", "not", "sum", "elif"],
)
def test_what_is_nested_too_deeply_is_told_and_no_crash(text: str) -> None:
    ((_, code, message),) = said(lint(text))
    assert code == "TLN001"
    assert message in ("nested too deeply to be parsed", "too many nested parentheses")


def test_time_is_kept_per_rule() -> None:
    seconds = lint("torch.bad()\n").seconds
    assert set(seconds) == {PARSE, MODEL, PLACES, "PRB001", "PRB002", "PRB003"}
    assert all(value > 0 for value in seconds.values())


def test_rules_not_selected_are_not_asked() -> None:
    report = lint("torch.boom()\n", Selection(frozenset({"PRB001"})))
    assert [code for _, code, _ in said(report)] == ["PRB001"]
