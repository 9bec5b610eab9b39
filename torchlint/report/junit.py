"""
JUnit's XML: a suite per file with findings, a failed test per finding; for CI that knows tests and nothing else.

See `torchlint.report`.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from itertools import groupby

from torchlint.finding import Finding
from torchlint.report import Style
from torchlint.report.text import block
from torchlint.results import RunResult

INTERNAL_ERROR = "TLN000"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The document; a run without findings is one test that has passed."""
    findings = run.findings
    broken = sum(finding.code == INTERNAL_ERROR for finding in findings)
    top = ElementTree.Element(
        "testsuites",
        name="torchlint",
        tests=str(len(findings) or 1),
        failures=str(len(findings) - broken),
        errors=str(broken),
    )
    for path, group in groupby(findings, key=lambda finding: finding.path):
        own = list(group)
        errors = sum(finding.code == INTERNAL_ERROR for finding in own)
        counts = {"tests": str(len(own)), "failures": str(len(own) - errors), "errors": str(errors)}
        suite = ElementTree.SubElement(top, "testsuite", {"name": _clean(path), **counts})
        for finding in own:
            _case(suite, finding, style)
    if not findings:
        suite = ElementTree.SubElement(top, "testsuite", name="torchlint", tests="1", failures="0", errors="0")
        ElementTree.SubElement(suite, "testcase", name="no findings", classname="torchlint")
    ElementTree.indent(top)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield ElementTree.tostring(top, encoding="unicode") + "\n"


def _case(suite: ElementTree.Element, finding: Finding, style: Style) -> None:
    place = f"{finding.span.line}:{finding.span.column}"
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=f"{finding.code} {finding.name} at {place}",
        classname=_clean(finding.path),
        file=_clean(finding.path),
        line=str(finding.span.line),
    )
    kind = "error" if finding.code == INTERNAL_ERROR else "failure"
    failure = ElementTree.SubElement(case, kind, message=_clean(finding.message), type=finding.level.value)
    plain = Style(trace=style.trace, texts=style.texts)
    failure.text = _clean("\n".join(block(finding, plain)))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
