"""Comments that silence findings, and those that silence none."""

from __future__ import annotations

import pytest
from toy import EVERYTHING, REGISTRY, lint, said

from torchlint.fixes import edits
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection

pytestmark = pytest.mark.usefixtures("toy_model")


@pytest.mark.parametrize(
    "text",
    [
        "torch.bad()  # noqa\n",
        "torch.bad()  # NOQA : PRB001\n",
        "torch.bad()  # noqa: E501,PRB001\n",
        "torch.bad()  # noqa: E501 PRB001 because\n",
        "torch.bad()  # type: ignore  # noqa: PRB001\n",
        "torch.bad()  # noqa: PRB\n",
        "torch.bad()  # torchlint: ignore\n",
        "torch.bad()  # torchlint: ignore[PRB001]  it is fine\n",
        "torch.bad()  #torchlint:ignore[PRB003,called]\n",
        "torch.bad(\n    1,\n)  # torchlint: ignore[PRB001]\n",
        "x = [\n    torch.bad(),  # torchlint: ignore[PRB001]\n]\n",
        "x = [  # torchlint: ignore[PRB001]\n    torch.bad(),\n]\n",
        "x = [\n    torch.bad(),\n]  # noqa: PRB001\n",
        "# torchlint: ignore-file\ntorch.bad()\n",
        "def f():\n    torch.bad()\n    # torchlint: ignore-file[PRB0]\n",
    ],
)
def test_silenced(text: str) -> None:
    report = lint(text, Selection(EVERYTHING.enabled - {"TLN002"}))
    assert (said(report), report.suppressed) == ([], 1)


@pytest.mark.parametrize(
    "text",
    [
        "torch.bad()  # noqa: E501\n",
        "torch.bad()  # noqa-ish\n",
        "torch.bad()  # torchlint: ignore[PRB002]\n",
        "x = [\n    torch.bad(),\n    2,  # torchlint: ignore[PRB001]\n]\n",
        "# torchlint: ignore[PRB001]\ntorch.bad()\n",
        "x = '# noqa'; torch.bad()\n",
        "torch.bad('# torchlint: ignore')\n",
        "if x:  # torchlint: ignore\n    torch.bad()\n",
    ],
)
def test_not_silenced(text: str) -> None:
    assert [code for _, code, _ in said(lint(text)) if code != "TLN002"] == ["PRB001"]


def test_flake8_looks_after_noqa_itself() -> None:
    text = "torch.bad()  # noqa\ntorch.bad()  # torchlint: ignore[PRB001]\n"
    report = check_text("x.py", text, REGISTRY, EVERYTHING, noqa=False)
    assert [(line, code) for line, code, _ in said(report)] == [(1, "PRB001")]


@pytest.mark.parametrize(
    ("text", "message", "fixed"),
    [
        ("x = 1  # torchlint: ignore[PRB001]\n", "the suppression of `PRB001` covers no finding", "x = 1\n"),
        ("x = 1  # torchlint: ignore\n", "`# torchlint: ignore` suppresses nothing", "x = 1\n"),
        ("x = 1  # torchlint: ignore[TLN2]  why\ny = 1\n", "the suppression of `TLN2` names no rule", "x = 1\ny = 1\n"),
        ("# torchlint: ignore-file[PRB001]\nx = 1\n", "the suppression of `PRB001` covers no finding", "x = 1\n"),
        ("x = 1  # noqa: E501, TLN201\n", "the suppression of `TLN201` names no rule", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: PRB001\n", "the suppression of `PRB001` covers no finding", "x = 1\n"),
        (
            "x = 1  # keep # torchlint: ignore[PRB001] old # keep\n",
            "the suppression of `PRB001` covers no finding",
            "x = 1  # keep # keep\n",
        ),
        (
            "torch.bad()  # torchlint: ignore[PRB001, PRB002] why\n",
            "the suppression of `PRB002` covers no finding",
            "torch.bad()  # torchlint: ignore[PRB001] why\n",
        ),
    ],
)
def test_unused_ones_are_reported_and_removed(text: str, message: str, fixed: str) -> None:
    (finding,) = lint(text).findings
    assert (finding.code, finding.message) == ("TLN002", message)
    assert finding.fix is not None
    assert finding.fix.safe
    assert edits.apply(text, finding.fix.edits) == fixed
    assert lint(fixed).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501, F401\n",
        "torch.purist()  # torchlint: ignore[PRB001]\n",
        "x = 1  # torchlint: ignore[PRB001]  # noqa: TLN002\n",
        "x = 1  # torchlint: ignore[PRB001, TLN002]\n",
        "# torchlint: ignore-file[TLN002]\nx = 1  # torchlint: ignore[PRB001]\n",
    ],
)
def test_nobody_elses_business_or_wanted(text: str) -> None:
    assert lint(text).findings == ()


def test_what_was_not_looked_for_is_not_called_unused() -> None:
    text = "x = 1  # torchlint: ignore[PRB001]\ny = 1  # torchlint: ignore\nz = 1  # torchlint: ignore[PRB002]\n"
    report = lint(text, Selection(frozenset({"PRB002", "TLN002"})))
    assert [line for line, *_ in said(report)] == [3]


def test_after_a_failure_nothing_is_called_unused() -> None:
    report = lint("torch.boom()\nx = 1  # torchlint: ignore[PRB002]\n")
    assert {code for _, code, _ in said(report)} == {"PRB001", "TLN000"}


@pytest.mark.parametrize("comment", ["# torchlint: ingore[PRB001]", "# torchlint: ignore[]", "# torchlint:"])
def test_a_misspelt_comment_is_reported(comment: str) -> None:
    report = lint(f"torch.bad()  {comment}\n")
    assert said(report) == [
        (1, "PRB001", "`bad` is called"),
        (1, "TLN002", f"`{comment}` is not understood: write `# torchlint: ignore[CODE]`"),
    ]


@pytest.mark.parametrize(
    ("comment", "code", "meant"),
    [
        ("# noqa: PRB001, TLN2O1", "TLN2O1", "codes look like"),  # (there is no such rule in this registry)
        ("# noqa: TLN00l", "TLN00l", "did you mean `TLN001`?"),
        ("# noqa:TLN99x", "TLN99x", "codes look like"),
    ],
)
def test_a_misspelt_code_of_a_noqa_silences_nothing_and_is_reported(comment: str, code: str, meant: str) -> None:
    found = said(lint(f"torch.bad()  {comment}\n"))
    assert [each[1] for each in found] == (["TLN002"] if "PRB001" in comment else ["PRB001", "TLN002"])
    assert found[-1][2].startswith(f"`{code}` is no code, and silences nothing; {meant}")


@pytest.mark.parametrize(
    ("comment", "mended"),
    [("#noqa TLN001", "#noqa: TLN001"), ("# NOQA  TLN001 (why)", "# NOQA:  TLN001 (why)")],
)
def test_a_noqa_without_its_colon_gets_one(comment: str, mended: str) -> None:
    report = lint(f"torch.bad()  {comment}\n")
    assert [each[1] for each in said(report)] == ["PRB001", "TLN002"]
    found = report.findings[-1]
    assert found.message == "`noqa TLN001` lacks a colon, and silences nothing: write `# noqa: TLN001`"
    assert found.fix is not None
    assert found.fix.safe
    (edit,) = found.fix.edits
    line = f"torch.bad()  {comment}"
    assert (
        line[: edit.span.column - 1] + edit.replacement + line[edit.span.end_column - 1 :] == f"torch.bad()  {mended}"
    )


@pytest.mark.parametrize("comment", ["# noqa", "# noqa: TLN is silly", "# noqa because of TLN"])
def test_a_noqa_that_names_no_code_silences_all(comment: str) -> None:
    assert not said(lint(f"torch.bad()  {comment}\n"))
