"""
The list of events in `docs/writing-a-rule.md` and the page of their fields, `docs/events.md`, are those of the code,
and each of the events is raised.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import class_pages

from torchlint.model import events
from torchlint.model.events import Event

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "writing-a-rule.md"
FIELDS = ROOT / "docs" / "events.md"
HEAD, END = "<!-- events -->\n", "<!-- end of events -->\n"
Bless = Callable[[Path, str, str], None]


def _events() -> Iterator[type[Event]]:
    """Those that a rule can subscribe to, by module and name; not what some of them have in common."""
    modules = [events, *(importlib.import_module(f"{events.__name__}.{each.name}") for each in _below())]
    for module in modules:
        kinds = [each for each in vars(module).values() if inspect.isclass(each) and issubclass(each, Event)]
        own = [each for each in kinds if each.__module__ == module.__name__ and not each.__subclasses__()]
        yield from sorted(own, key=lambda each: each.__name__)


def _below() -> list[pkgutil.ModuleInfo]:
    return sorted(pkgutil.iter_modules(events.__path__), key=lambda each: each.name)


def _rows() -> Iterator[str]:
    yield "| event | module | what happened |"
    yield "| --- | --- | --- |"
    for each in _events():
        module = each.__module__.removeprefix("torchlint.model.")
        told = " ".join(inspect.cleandoc(each.__doc__ or "").partition("\n\n")[0].split()).replace("|", "\\|")
        yield f"| [`{each.__name__}`](events.md#{each.__name__.lower()}) | `{module}` | {told} |"


def _page() -> Iterator[str]:
    yield "# Events and their fields\n"
    yield "What an event rule may ask of the event that it is given; how to subscribe to one stands in"
    yield "[Writing a rule](writing-a-rule.md). The page is made of the classes' own documentation"
    yield "(`pytest tests/test_event_list.py --bless`).\n"
    yield "## What each has\n"
    yield from class_pages.fields(Event)
    common = [each.name for each in dataclasses.fields(Event)]
    for kind in _events():
        yield f"\n## {kind.__name__}\n"
        yield f"`from {kind.__module__.rpartition('.')[0]} import {kind.__module__.rpartition('.')[2]}`\n"
        yield class_pages.paragraphs(kind.__doc__ or "") + "\n"
        yield from class_pages.fields(kind, common)
    yield "\n## The types of the fields\n"
    yield "`cst` is libcst; classes of its nodes are described in [its documentation](https://libcst.readthedocs.io)."
    for name, module in class_pages.named((Event, *_events())).items():
        yield from class_pages.section(name, module, level="###")


@class_pages.interpreted
def test_the_page_tells_every_field(bless: Bless) -> None:
    text = FIELDS.read_text(encoding="utf-8") if FIELDS.exists() else ""
    bless(FIELDS, text, class_pages.page(_page()))


def test_every_type_that_the_page_names_is_described() -> None:
    text = FIELDS.read_text(encoding="utf-8")
    rows = [row.split(" | ")[1] for row in text.splitlines() if row.startswith("| `") and row.count(" | ") >= 2]
    wanted = {name for row in rows for name in class_pages.TYPE.findall(row)} - class_pages.NO_CLASSES
    wanted |= set(class_pages.REFERRED.findall(text))
    assert len(wanted) > 10
    assert not wanted - set(re.findall(r"^##+ (\w+)$", text, re.MULTILINE))


def test_the_page_lists_every_event(bless: Bless) -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = text.partition(HEAD)[2].partition(END)[0]
    assert listed, f"{PAGE.name} has no list of events between its markers"
    bless(PAGE, HEAD + listed, HEAD + "\n".join(_rows()) + "\n")


def test_every_event_says_what_happened() -> None:
    for each in _events():
        assert re.match(
            r"([A-Z`]|torch).*[.:]$", inspect.cleandoc(each.__doc__ or "").partition("\n\n")[0], re.DOTALL
        ), each


def test_every_event_is_raised() -> None:
    """A rule on an event that nobody raises loads, and stays silent for ever."""
    told = ROOT / "torchlint" / "model" / "events"
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "torchlint").rglob("*.py") if path.parent != told]
    named = set(re.findall(r"\b[A-Z]\w+\b", "\n".join(texts)))
    assert not [each.__name__ for each in _events() if each.__name__ not in named]
