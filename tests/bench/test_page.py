"""The page and the picture are those of what was measured."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

from tests.bench import page


def test_the_page_is_the_generated_one(bless: Callable[[Path, str, str], None]) -> None:
    measured = json.loads(page.MEASURED.read_text(encoding="utf-8"))
    for path, text in ((page.PAGE, page.page(measured)), (page.PICTURE, page.picture(measured))):
        bless(path, path.read_text(encoding="utf-8") if path.exists() else "", text)
    ElementTree.parse(page.PICTURE)
