"""The list of events in `docs/writing-a-rule.md` is that of the code, and each of them is raised."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from torchlint.model import events
from torchlint.model.events import Event

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "writing-a-rule.md"
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
        yield f"| `{each.__name__}` | `{module}` | {told} |"


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
