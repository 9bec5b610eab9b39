"""The event and the observer of `docs/new-fact.md` do what the page says, as they stand there."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import class_pages
import pytest

from torchlint.model.events import Event
from torchlint.model.events.trace import Step
from torchlint.model.observers import observers
from torchlint.model.scheduling import entry_points
from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.state.hooks import HOOKS, Observer
from torchlint.model.state.values import Tensor
from torchlint.syntax.lowering import program_of
from torchlint.truth import Truth

PAGE = Path(__file__).parents[1] / "docs" / "new-fact.md"
PROGRAM = """
import torch

x = torch.rand(3).exp()
x.clamp(2, 1)
torch.clip(x, min=1.0, max=0.5)
x.clamp(1, 2)
x.clamp(unknown, 1)
unknown.clamp(2, 1)
"""


HEAD, END = "<!-- hooks -->\n", "<!-- end of hooks -->\n"
Bless = Callable[[Path, str, str], None]


@pytest.fixture
def page() -> Iterator[ModuleType]:
    """What the page defines."""
    module = ModuleType("new_fact_page")
    module.__dict__["Step"] = Step
    sys.modules[module.__name__] = module  # a dataclass looks there
    text = PAGE.read_text(encoding="utf-8")
    for name in ("event", "observer"):
        found = re.search(rf"<!-- {name} -->\n```python\n(.*?)```", text, re.DOTALL)
        assert found, f"{PAGE.name} has no {name}"
        exec(found[1], module.__dict__)
    yield module
    del sys.modules[module.__name__]


def test_the_observer_raises_its_event(page: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = entry_points.watching
    monkeypatch.setattr(entry_points, "watching", lambda text: (*usual(text), page.CrossedBounds))
    analysis = EntryPoints(program_of(PROGRAM), thorough=False)
    analysis.follow()
    raised: list[Event] = [each for each in analysis.machine.events if isinstance(each, page.BoundsCrossed)]
    assert [each.truth for each in raised] == [Truth.YES, Truth.YES]
    assert [getattr(each, "high") for each in raised] == [1.0, 0.5]  # noqa: B009
    assert [[step.message for step in each.trace] for each in raised] == [["`exp` computes it"]] * 2


def test_it_names_no_observer_that_there_is(page: ModuleType) -> None:
    """Who writes down what the page shows overwrites nothing."""
    folder = Path(inspect.getfile(Observer)).parents[1] / "observers" / "numerics"
    assert folder.is_dir()
    assert not (folder / "crossed_bounds.py").exists()
    assert page.CrossedBounds.__name__ not in {each.__name__ for each in observers()}


@class_pages.interpreted
def test_it_lists_every_hook(bless: Bless) -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = text.partition(HEAD)[2].partition(END)[0]
    rows = ["| hook | is called when |", "| --- | --- |"]
    for name in HOOKS:
        hook = getattr(Observer, name)
        given = ", ".join(list(inspect.signature(hook).parameters)[1:])
        rows.append(f"| `{name}({given})` | {class_pages.cell(class_pages.paragraphs(hook.__doc__ or ''))} |")
    bless(PAGE, HEAD + listed + END, HEAD + "\n".join(rows) + "\n" + END)


def test_a_tensor_has_what_it_lists() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("<!-- tensor -->\n")[2].partition("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    assert len(named) > 15
    assert not named - {*Tensor.__slots__, "requires_grad", "is_leaf"}
