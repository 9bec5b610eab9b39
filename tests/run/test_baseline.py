"""A baseline: what is known stays known wherever it moves, and what is new is reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from toy import lint

from torchlint.config import ConfigError
from torchlint.report import Style
from torchlint.results import FileOutcome, RunResult
from torchlint.run.baseline import Baseline, written

pytestmark = pytest.mark.usefixtures("toy_model")

FILE = Path("baseline.json")
TEXT = "import torch\n\ntorch.bad()\n\ndef f():\n    torch.bad()\n    return 1\n"


def _run(**texts: str) -> tuple[RunResult, Style]:
    named = {f"{name}.py": text for name, text in texts.items()}
    outcomes = []
    for path, text in named.items():
        report = lint(text)
        findings = tuple(replace(finding, path=path) for finding in report.findings)
        outcomes.append(FileOutcome(replace(report, path=path, findings=findings)))
    return RunResult(tuple(outcomes), len(outcomes)), Style(texts=named)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _known(before: Baseline | None = None, **texts: str) -> Baseline:
    run, style = _run(**texts)
    text, _ = written(run, FILE, style.line, [f"{name}.py" for name in texts], before)
    FILE.write_text(text)
    return Baseline.read(FILE)


def _new(baseline: Baseline, **texts: str) -> list[int]:
    """The lines of what is new."""
    run, style = _run(**texts)
    kept = [baseline.without(outcome, style.line)[0] for outcome in run.outcomes]
    return [finding.span.line for outcome in kept for finding in outcome.report.findings]


def test_all_is_known() -> None:
    baseline = _known(a=TEXT)
    assert _new(baseline, a=TEXT) == []
    assert baseline.gone(["a.py"]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "# more\n\n\n" + TEXT,
        TEXT.replace("\n\n", "\n\n\nx = 1\n\n"),
        TEXT.replace("    torch.bad()", "    if True:\n        torch.bad()"),
        TEXT.replace("torch.bad()", "torch.bad( )"),
        TEXT.replace("\n", "\r\n"),
        "\n".join([TEXT[TEXT.index("def") :], TEXT[: TEXT.index("def")]]),
    ],
    ids=["above", "between", "indented", "spaces", "crlf", "turned"],
)
def test_moves_change_nothing(text: str) -> None:
    assert _new(_known(a=TEXT), a=text) == []


def test_the_new_one_of_equal_lines_is_reported() -> None:
    """The neighbours tell which of the three is new."""
    text = TEXT.replace("def f", "y = 2\ntorch.bad()\nz = 3\n\ndef f")
    assert _new(_known(a=TEXT), a=text) == [6]


def test_what_is_new() -> None:
    baseline = _known(a=TEXT)
    assert _new(baseline, a=TEXT + "torch.fatal()\n") == [8]
    assert _new(baseline, a=TEXT.replace("torch.bad()", "torch.bad(1)", 1)) == [3]
    assert _new(baseline, b=TEXT) == [3, 6]


def test_what_is_gone() -> None:
    baseline = _known(a=TEXT, b=TEXT, c=TEXT)
    Path("c.py").write_text("")
    assert _new(baseline, a="import torch\ntorch.bad()\n") == []
    assert baseline.gone(["a.py"]) == 1 + 2  # one in a.py, and b.py is not there any more


def test_a_failure_is_never_known() -> None:
    """A rule failed; that is no finding to get used to."""
    text = "import torch\ntorch.boom()\n"
    run, style = _run(a=text)
    assert "TLN000" not in written(run, FILE, style.line, ["a.py"], None)[0]
    baseline = _known(a=text)
    kept, known = baseline.without(run.outcomes[0], style.line)
    assert [finding.code for finding in kept.report.findings] == ["TLN000"]
    assert known == 1


def test_files_that_were_not_checked_keep_their_findings() -> None:
    for name in "ab":
        Path(f"{name}.py").write_text("")
    first = _known(a=TEXT, b=TEXT, c=TEXT)
    second = _known(first, a="import torch\n")
    assert sorted(second.known) == ["b.py"]  # c.py does not exist
    assert _new(second, b=TEXT) == []


def test_paths_are_relative_to_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("inner").mkdir()
    baseline = _known(**{"inner/a": TEXT})
    assert list(baseline.known) == ["inner/a.py"]
    absolute = Baseline.read(FILE.absolute())
    monkeypatch.chdir("inner")
    assert _new(absolute, a=TEXT) == []


def test_the_file_reads_well_in_a_diff() -> None:
    _known(b=TEXT, a=TEXT)
    text = FILE.read_text()
    assert list(json.loads(text)["findings"]) == ["a.py", "b.py"]
    assert all("line" not in each for own in json.loads(text)["findings"].values() for each in own)
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read: No such file or directory; --write-baseline makes one"),
        ("", "not a baseline"),
        ("[]", "not a baseline"),
        ('{"version": 1}', "not a baseline"),
        ('{"version": 1, "findings": {"a.py": [{"code": "X"}]}}', "not a baseline"),
        ('{"version": 2, "findings": {}}', "a baseline of version 2; this torchlint reads 1"),
        ("[" * 100_000, "not a baseline"),
    ],
)
def test_what_is_no_baseline(content: str | None, complaint: str) -> None:
    if content is not None:
        FILE.write_text(content)
    with pytest.raises(ConfigError, match=complaint):
        Baseline.read(FILE)
