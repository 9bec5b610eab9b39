"""Reports: frames that stand under the right characters, and every format's shape."""

from __future__ import annotations

import dataclasses
import json
import unicodedata

import pytest
from toy import lint

from torchlint import report
from torchlint.report import Style
from torchlint.report.frame import WIDTH, Mark, frame
from torchlint.report.text import block
from torchlint.results import FileOutcome, RunResult
from torchlint.rule import Verdict

pytestmark = pytest.mark.usefixtures("toy_model")


def _run(text: str, **fields: int) -> RunResult:
    return RunResult((FileOutcome(lint(text), **fields),), 1)  # type: ignore[arg-type]


def _text(text: str, *, trace: bool = True, color: bool = False, name: str = "text") -> str:
    style = Style(color=color, trace=trace, texts={"program.py": text})
    return "".join(report.render(name, _run(text), style))


def test_a_finding_with_its_trace_and_fix() -> None:
    assert _text("import torch\n\n\ntorch.ok()\nx = 1\ntorch.old()\n").splitlines() == [
        "program.py:6:1: warning[PRB001] `old` is called",
        " 4 | torch.ok()",
        "   | ---------- after `torch.ok`",
        " 5 | x = 1",
        " 6 | torch.old()",
        "   | ^^^^^^^^^^^ `torch.old` is called",
        "   = fix: call `new` (--fix)",
        "",
        "Found 1 warning.",
        "1 fixable with --fix.",
    ]


def test_without_trace() -> None:
    assert _text("torch.ok()\ntorch.risky()\n", trace=False).splitlines() == [
        "program.py:2:1: warning[PRB001] `risky` is called",
        " 2 | torch.risky()",
        "   | ^^^^^^^^^^^^^",
        "   = fix: call `new` (unsafe; --unsafe-fixes)",
        "",
        "Found 1 warning.",
        "1 fixable with --fix --unsafe-fixes.",
    ]


def test_steps_that_do_not_read_downwards_are_numbered() -> None:
    text = "torch.ok()\nx = 1\ny = 2\ntorch.bad()\n"
    run = _run(text)
    (finding,) = run.findings
    turned = dataclasses.replace(finding, trace=finding.trace[::-1])
    style = Style(texts={"program.py": text})
    assert list(block(turned, style))[1:] == [
        " 1 | torch.ok()",
        "   | ---------- 2. after `torch.ok`",
        "...",
        " 4 | torch.bad()",
        "   | ^^^^^^^^^^^ 1. `torch.bad` is called",
    ]


def test_steps_in_another_file_have_a_frame_of_their_own() -> None:
    text = "torch.ok()\ntorch.bad()\n"
    run = _run(text)
    (finding,) = run.findings
    elsewhere = dataclasses.replace(finding.trace[0], path="other.py", line=12, end_line=12)
    moved = dataclasses.replace(finding, trace=(elsewhere, finding.trace[1]))
    style = Style(texts={"program.py": text, "other.py": "\n" * 11 + "torch.ok()\n"})
    assert list(block(moved, style))[1:] == [
        "  2 | torch.bad()",
        "    | ^^^^^^^^^^^ 2. `torch.bad` is called",
        "   ::: other.py:12:1",
        " 12 | torch.ok()",
        "    | ---------- 1. after `torch.ok`",
    ]


def test_the_last_line_counts_what_was_held_back() -> None:
    assert _text("torch.purist()\ntorch.purist()\n").splitlines() == [
        "No findings in 1 file.",
        "At least 2 strict findings held back; see them all with --strict.",
    ]


def test_summary_counts_by_level() -> None:
    text = "torch.fatal()\ntorch.bad()\ntorch.bad()\nx = 1  # torchlint: ignore[PRB001]\n"
    assert _text(text, name="concise").splitlines()[-2:] == [
        "Found 1 error, 2 warnings and 1 smell.",
        "1 fixable with --fix.",
    ]


def test_concise() -> None:
    assert _text("torch.old()\n  \ntorch.bad()\n", name="concise").splitlines()[:2] == [
        "program.py:1:1: warning[PRB001] `old` is called [*]",
        "program.py:3:1: warning[PRB001] `bad` is called",
    ]


def test_json_is_the_contract() -> None:
    text = "torch.ok()\nif x:\n    torch.drop()\n"
    (item,) = json.loads(_text(text, name="json"))
    assert item == {
        "path": "program.py",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 17,
        "code": "PRB001",
        "name": "called",
        "level": "warning",
        "message": "`drop` is called",
        "trace": [
            {"path": "program.py", "line": 1, "column": 1, "message": "after `torch.ok`"},
            {"path": "program.py", "line": 3, "column": 5, "message": "`torch.drop` is called"},
        ],
        "fix": {
            "title": "remove it",
            "safe": True,
            "edits": [{"line": 3, "column": 5, "end_line": 3, "end_column": 17, "replacement": "pass"}],
        },
        "verdict": None,
    }
    assert json.loads(_text("torch.ok()\n", name="json")) == []


def test_jsonl_has_the_same_objects() -> None:
    text = "torch.bad()\ntorch.old()\n"
    lines = _text(text, name="jsonl").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(_text(text, name="json"))
    assert len(lines) == 2


def test_verdicts() -> None:
    run = _run("torch.bad()\n")
    verdict = Verdict("confirmed", "RuntimeError: one of the\nvariables", 0.12345)
    finding = dataclasses.replace(run.findings[0], verdict=verdict)
    judged = dataclasses.replace(run.outcomes[0].report, findings=(finding,))
    run = RunResult((FileOutcome(judged),), 1)
    style = Style(texts={"program.py": "torch.bad()\n"})
    assert "   = torch: confirmed: RuntimeError: one of the variables\n" in "".join(report.render("text", run, style))
    (item,) = json.loads("".join(report.render("json", run, style)))
    assert item["verdict"] == {
        "status": "confirmed",
        "evidence": "RuntimeError: one of the\nvariables",
        "seconds": 0.123,
    }


def test_colors_change_nothing_but_escapes() -> None:
    import click

    text = "torch.ok()\ntorch.old()\n"
    colored = _text(text, color=True)
    assert "\x1b[" in colored
    assert click.unstyle(colored) == _text(text)


def _frame(line: str, start: int, end: int) -> list[str]:
    mark = Mark(1, start, 1, end, "here", main=True)
    return list(frame([mark], lambda number: line if number == 1 else None, 2, lambda text, role: text))


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


@pytest.mark.parametrize(
    "line",
    [
        "\tx = MARK",
        "日本 = MARK",
        "é = 'e\u0301'; MARK",
        "a\tb\tMARK",
        "'\x1b[31m' MARK",
        "'\u202e' MARK",
        "x" * 500 + " MARK" + "y" * 500,
    ],
    ids=["tab", "wide", "combining", "tabs", "escape", "bidi", "long"],
)
def test_marks_stand_under_their_characters(line: str) -> None:
    start = line.index("MARK") + 1
    shown, marks = _frame(line, start, start + 4)
    assert _width(shown[: shown.index("MARK")]) == marks.index("^^^^")
    assert marks.endswith("^^^^ here")
    assert _width(shown) <= WIDTH + 10
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize(("start", "end"), [(1, 1), (5, 5), (50, 60), (1, 4)])
def test_places_at_the_edges(start: int, end: int) -> None:
    shown, marks = _frame("abc", start, end)
    assert shown == " 1 | abc"
    assert "^" in marks


def test_a_line_that_is_gone_is_left_out() -> None:
    assert list(frame([Mark(9, 1, 9, 2, "")], lambda number: None, 2, lambda text, role: text)) == []


def test_gaps() -> None:
    marks = [Mark(line, 1, line, 2, "") for line in (1, 3, 9)]
    shown = list(frame(marks, lambda number: f"line {number}", 2, lambda text, role: text))
    assert [line for line in shown if "-" not in line] == [
        " 1 | line 1",
        " 2 | line 2",
        " 3 | line 3",
        "...",
        " 9 | line 9",
    ]


def test_an_unreadable_file_still_has_its_headline() -> None:
    run = _run("torch.bad()\n")
    assert "".join(report.render("text", run, Style())).startswith(
        "program.py:1:1: warning[PRB001] `bad` is called\n\n"
    )


def test_statistics() -> None:
    from torchlint.report import statistics

    text = "torch.bad()\ntorch.bad()\n"
    lines = list(statistics.table(_run(text), {"PRB001": "called", "PRB002": "broken", "PRB003": "doubled"}))
    assert [line.split()[:3] for line in lines[:1]] == [["2", "PRB001", "called"]]
    assert {line.split()[1] for line in lines if line.strip()[0].isdigit()} == {"PRB001", "PRB002", "PRB003"}
    assert sum("following the program" in line for line in lines) == 1
