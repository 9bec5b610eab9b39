"""The site: every page is reached from its navigation or from a page that is, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import DOCS

ROOT = DOCS.parent
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!`)!?\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _links(page: Path) -> list[str]:
    return [found["target"] for found in LINK.finditer(CODE.sub("", page.read_text(encoding="utf-8")))]


def _anchor(heading: str) -> str:
    """As Python-Markdown's `toc` makes it: words in lower case, joined by hyphens."""
    plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")).strip().lower()
    return re.sub(r"[\s-]+", "-", plain)


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(DOCS))) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for link in _links(page):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.is_relative_to(DOCS), f"{link} leads out of the site"
        assert file.exists(), link
        if anchor:
            headings = HEADING.findall(re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.M | re.S))
            assert anchor in {_anchor(heading) for heading in headings}, link


def test_the_first_page_leads_to_all_others() -> None:
    """Those of the rules have an index of their own."""
    linked = {link.partition("#")[0] for link in _links(DOCS / "index.md")}
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= linked


def test_every_page_is_reached() -> None:
    named = re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(named) > 15
    for name in named:
        assert (DOCS / name).exists(), name
    reached = {(DOCS / name).resolve() for name in named}
    pending = list(reached)
    while pending:
        page = pending.pop()
        for link in _links(page):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target.exists() and target not in reached:
                reached.add(target)
                pending.append(target)
    assert {page.resolve() for page in PAGES} <= reached
