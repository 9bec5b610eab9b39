"""Reports for other programs, each held against its schema or its consumer's rules."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from toy import lint

from torchlint import report
from torchlint.condition import Condition
from torchlint.config import ConfigError
from torchlint.finding import Level, TraceLine, Verdict
from torchlint.hosts.command_line.options import OUTPUT_FORMATS
from torchlint.report import About, Style, template
from torchlint.results import FileOutcome, RunResult
from torchlint.syntax.text import Span

pytestmark = pytest.mark.usefixtures("toy_model")

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
TEXT = 'import torch\n\ntorch.ok()\ns = "<script>&"; torch.old()\ntorch.risky()\ntorch.fatal()\ntorch.boom()\n'


def _run(text: str = TEXT, **changed: Any) -> RunResult:
    found = lint(text)
    findings = tuple(replace(finding, **changed) for finding in found.findings)
    return RunResult((FileOutcome(replace(found, findings=findings)),), 1)


def _rendered(name: str, run: RunResult, text: str = TEXT) -> str:
    about = {"PRB001": About("A summary.", Level.WARNING, "# PRB001 called\n\nA page.\n")}
    style = Style(texts={"program.py": text, "odd dir/ü.py": text}, template="{path}:{line}: {code}", about=about.get)
    return "".join(report.render(name, run, style))


def _odd(run: RunResult) -> RunResult:
    """The same with everything a finding may have."""
    elsewhere = TraceLine("/elsewhere/a b.py", 3, 1, "made there", 3, 5)
    (outcome,) = run.outcomes
    findings = tuple(
        replace(
            finding,
            path="odd dir/ü.py",
            trace=(elsewhere, *finding.trace, TraceLine("odd dir/ü.py", 1, 1, "no end")),
            verdict=Verdict("confirmed", "RuntimeError: 100%\nof it", 0.1),
            conditions=(Condition("requires_grad", "x"),),
        )
        for finding in outcome.report.findings
    )
    return RunResult((replace(outcome, report=replace(outcome.report, findings=findings)),), 1)


@pytest.mark.parametrize(
    "run", [_run(), _odd(_run()), _run(cell=3), RunResult((), 0)], ids=["plain", "odd", "cells", "none"]
)
def test_sarif_is_valid(run: RunResult) -> None:
    jsonschema.Draft4Validator(SCHEMA).validate(json.loads(_rendered("sarif", run)))


def test_sarif_says_what_the_finding_says() -> None:
    run = _run()
    (log,) = json.loads(_rendered("sarif", run))["runs"]
    assert log["columnKind"] == "unicodeCodePoints"
    assert log["invocations"] == [{"executionSuccessful": False}]  # a rule has failed
    rules = log["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PRB001", "TLN000"]
    assert rules[0]["help"]["markdown"].startswith("# PRB001")
    for result, finding in zip(log["results"], run.findings, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == finding.code
        region = result["locations"][0]["physicalLocation"]["region"]
        assert Span(*(region[key] for key in ("startLine", "startColumn", "endLine", "endColumn"))) == finding.span
        flows = result.get("codeFlows", [])
        steps = [step["location"] for flow in flows for step in flow["threadFlows"][0]["locations"]]
        assert [step["message"]["text"] for step in steps] == [step.message for step in finding.trace]
        lines = [step["physicalLocation"]["region"]["startLine"] for step in steps]
        assert lines == [step.line for step in finding.trace]
    old = log["results"][0]
    assert old["level"] == "warning"
    (replacement,) = old["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == "torch.new"
    assert old["fixes"][0]["properties"] == {"safe": True}
    prints = [result["partialFingerprints"]["torchlint/v1"] for result in log["results"]]
    assert len(set(prints)) == len(prints)


def test_sarif_paths() -> None:
    (log,) = json.loads(_rendered("sarif", _odd(_run())))["runs"]
    first = log["results"][0]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "odd%20dir/%C3%BC.py",
        "uriBaseId": "%SRCROOT%",
    }
    step = first["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["physicalLocation"]
    assert step["artifactLocation"] == {"uri": "file:///elsewhere/a%20b.py"}


def test_fingerprints_do_not_move_with_lines() -> None:
    def prints(text: str) -> list[str]:
        results = json.loads(_rendered("sarif", _run(text), text))["runs"][0]["results"]
        return [result["partialFingerprints"]["torchlint/v1"] for result in results]

    assert prints(TEXT.replace("\n\n", "\n\n# more\n\n\n")) == prints(TEXT)
    assert prints(TEXT.replace("torch.old()", "torch.old(1)"))[0] != prints(TEXT)[0]


def test_a_notebook_s_fix_is_none_of_the_file_s() -> None:
    (log,) = json.loads(_rendered("sarif", _run(cell=3)))["runs"]
    assert all("fixes" not in result for result in log["results"])
    assert log["results"][0]["locations"][0]["logicalLocations"] == [{"name": "cell 3", "kind": "module"}]


def test_github_commands() -> None:
    lines = _rendered("github", _run()).splitlines()
    shape = re.compile(
        r"::(error|warning|notice) title=[^,:]*,file=[^,:]+,line=\d+,endLine=\d+,col=\d+,endColumn=\d+::(.*)"
    )
    assert all(shape.fullmatch(line) for line in lines)
    assert lines[0].startswith(
        "::warning title=torchlint PRB001 (called),file=program.py,line=4,endLine=4,col=18,endColumn=28::"
    )
    assert "`old` is called%0Aprogram.py:3: after `torch.ok`%0A" in lines[0]
    odd = _rendered("github", _odd(_run())).splitlines()
    assert len(odd) == len(lines)
    assert odd[0].endswith("torch: confirmed: RuntimeError: 100%25%0Aof it")
    assert "a:b,c" not in _rendered("github", _run(path="a:b,c"))


def test_azure_commands() -> None:
    lines = _rendered("azure", _run(message="50%; a]b\nc", path="x;]y")).splitlines()
    shape = re.compile(r"##vso\[task\.logissue (?:[a-z]+=[^;\]]*;){5}\](.*)")
    assert [shape.fullmatch(line)[1] for line in lines] == ["50%AZP25; a]b%0Ac"] * 5  # type: ignore[index]
    assert "sourcepath=x%3B%5Dy;" in lines[0]


def test_gitlab_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The properties that GitLab's documentation calls required, with values that it allows."""
    twice = "import torch\ntorch.fatal()\ntorch.fatal()\n"
    entries = json.loads(_rendered("gitlab", _run(twice), twice))
    assert len(entries) == 2
    for entry in entries:
        assert isinstance(entry["description"], str)
        assert isinstance(entry["check_name"], str)
        assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert entry["location"]["path"] == "program.py"
        assert entry["location"]["lines"]["begin"] in (2, 3)
    assert len({entry["fingerprint"] for entry in entries}) == 2
    monkeypatch.setenv("CI_PROJECT_DIR", str(Path.cwd().parent))
    (first, _) = json.loads(_rendered("gitlab", _run(twice), twice))
    assert first["location"]["path"] == f"{Path.cwd().name}/program.py"


def test_junit_document() -> None:
    top = ElementTree.fromstring(_rendered("junit", _run(message="a < b \x00 \x1b[1m & `c`")))
    assert top.tag == "testsuites"
    (suite,) = top
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "4", "1")
    kinds = [(case.get("classname"), case.get("line"), case[0].tag) for case in suite]
    assert {kind[0] for kind in kinds} == {"program.py"}
    assert sorted(kind[1:] for kind in kinds) == [
        ("4", "failure"), ("5", "failure"), ("6", "failure"), ("7", "error"), ("7", "failure")
    ]  # fmt: skip
    assert "old" in str(suite[0][0].text)
    (suite,) = ElementTree.fromstring(_rendered("junit", RunResult((), 3)))
    assert [(case.tag, len(case)) for case in suite] == [("testcase", 0)]


def test_rdjson_counts_bytes() -> None:
    text = 'import torch\ns = "üł"; torch.old()\n'
    (diagnostic,) = json.loads(_rendered("rdjson", _run(text), text))["diagnostics"]
    assert diagnostic["location"]["range"] == {
        "start": {"line": 2, "column": 13},
        "end": {"line": 2, "column": 24},
    }
    (suggestion,) = diagnostic["suggestions"]
    assert suggestion == {
        "range": {"start": {"line": 2, "column": 13}, "end": {"line": 2, "column": 22}},
        "text": "torch.new",
    }
    assert diagnostic["code"]["value"] == "PRB001"
    assert diagnostic["severity"] == "WARNING"


class _Page(HTMLParser):
    """The elements of a page, and whether each that was opened is closed in turn."""

    VOID = frozenset({"meta", "input", "br", "link", "img"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(
    "run", [_run(), _odd(_run()), _run(cell=3), RunResult((), 2)], ids=["plain", "odd", "cells", "none"]
)
def test_html_is_whole_and_alone(run: RunResult) -> None:
    text = _rendered("html", run)
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert not [attributes for _, attributes in page.tags if {"src", "href"} & attributes.keys()]
    assert "@import" not in text
    assert "url(" not in text
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    cards = [attributes for tag, attributes in page.tags if tag == "article"]
    assert [card["data-code"] for card in cards] == [finding.code for finding in run.findings]
    assert [card["data-level"] for card in cards] == [finding.level.value for finding in run.findings]


def test_html_draws_the_trace_beside_the_source() -> None:
    text = _rendered("html", _run())
    card = text[text.index("<article") : text.index("</article>")]
    rows = re.findall(r"<div class='([^']*)'><i>(\d+)</i><pre>(.*?)</pre><span>(.*?)</span></div>", card)
    steps = {line: (classes.split(), labels) for classes, line, _, labels in rows if labels}
    assert steps["3"] == (["row", "rail", "top", "step"], "<em><b>1</b> after <code>torch.ok</code></em>")
    assert steps["4"][1] == "<em><b>2</b> <code>torch.old</code> is called</em>"
    assert "bottom" in steps["4"][0]
    assert "&lt;script&gt;&amp;" in card
    assert "<mark>torch.old()</mark>" in card


def test_a_template_is_filled_in() -> None:
    assert _rendered("template", _run()).splitlines()[0] == "program.py:4: PRB001"
    split = "".join(template.body(_run().findings[:1], Style(template=r"{line}\t{code}\n")))
    assert split == "4\tPRB001\n\n"
    for wrong, complaint in (
        ("{lime}", "no field `{lime}`; did you mean `line`?"),
        ("{path.__class__}", "no field"),
        ("{0}", "no field"),
        ("{line", "--template"),
        ("{message:d}{", "--template"),
    ):
        with pytest.raises(ConfigError, match=re.escape(complaint)):
            template.check(wrong)


@pytest.mark.parametrize("name", [*OUTPUT_FORMATS, "template"])
def test_every_format_of_nothing_and_of_much(name: str) -> None:
    assert isinstance(_rendered(name, RunResult((), 0)), str)
    assert "PRB001" in _rendered(name, _odd(_run()))


@pytest.mark.parametrize("name", [name for name in report.FORMATS if report.streams(name)])
def test_streamed_is_the_same(name: str) -> None:
    run, style = _run(), Style(texts={"program.py": TEXT}, template="{path}")
    pieces: list[str] = []
    for finding in run.findings:
        pieces += report.body(name, [finding], style)
    assert "".join([*pieces, *report.closing(name, run, style)]) == "".join(report.render(name, run, style))


def test_a_finding_in_a_file_that_is_gone() -> None:
    lost = replace(_run().findings[0], path="gone.py")
    run = RunResult((FileOutcome(replace(lint(TEXT), findings=(lost,), path="gone.py")),), 1)
    for name in report.FORMATS:
        assert "".join(report.render(name, run, Style(template="{path}"))), name


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser here")
def test_html_filters_in_a_browser(tmp_path: Path) -> None:
    choose = 'form.elements.code.value = "TLN000"; form.dispatchEvent(new Event("input"));'
    page = _rendered("html", _run()).replace("</body>", f"<script>{choose}</script></body>")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    address = (tmp_path / "page.html").as_uri()
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", address]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert "1 shown</output>" in shown
    cards = re.findall(r"<article [^>]*>", shown)
    assert [card for card in cards if "hidden" not in card] == [card for card in cards if "TLN000" in card]
    assert len(cards) == 5
