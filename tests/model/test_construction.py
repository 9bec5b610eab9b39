"""An object that is copied from a prototype is the object that its constructor would have built."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.model import construction
from torchlint.model.analysis import Analysis
from torchlint.model.domain import Class, Instance, Module, Sequence, Tensor
from torchlint.model.lower import lower
from torchlint.source import Source

BLOCKS = """
    import torch
    from torch import nn


    class Block(nn.Module):
        def __init__(self, width, act=nn.ReLU):
            super().__init__()
            self.width = width
            self.scale = nn.Parameter(torch.ones(3))
            self.tied = self.scale
            self.layer = nn.Linear(4, 4)
            self.act = act()


    class Net(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one = Block(width)
            self.two = Block(width)
            self.other = Block(width, nn.Tanh)
            self.many = nn.ModuleList([Block(width) for _ in range(3)])
"""


def built(text: str, name: str) -> tuple[Analysis, Instance]:
    """The object that a class of the program builds of nothing but unknown arguments."""
    source = Source.parse("x.py", textwrap.dedent(text))
    analysis = Analysis(lower(source.module, source.text))
    analysis.run_script()
    cls = analysis.globals.variables[name]
    assert isinstance(cls, Class)
    instance = Instance(cls)
    analysis._build(instance, defaults=False)
    return analysis, instance


def test_a_copy_is_alike_and_another() -> None:
    _, net = built(BLOCKS, "Net")
    one, two, other = (net.attributes[name] for name in ("one", "two", "other"))
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    assert isinstance(other, Instance)
    assert one is not two
    assert list(one.attributes) == list(two.attributes)
    first, second = one.attributes["scale"], two.attributes["scale"]
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    assert first is not second
    assert first.storage is not second.storage
    assert (first.shape, first.is_parameter, first.requires_grad) == (second.shape, second.is_parameter, second.own)
    assert two.attributes["tied"] is second
    act = other.attributes["act"]
    assert isinstance(act, Module)
    assert act.kind.name == "Tanh"


def test_copies_have_the_arguments_of_their_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = construction.Prototypes.make
    monkeypatch.setattr(construction.Prototypes, "make", lambda *given: made.append(original(*given)) or made[-1])
    _, net = built(BLOCKS, "Net")
    copied = [each for each in made if each is not None]
    assert copied, "nothing was copied"
    one, two = net.attributes["one"], net.attributes["two"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    assert two in copied
    assert one.attributes["width"] is two.attributes["width"]


@pytest.mark.parametrize(
    "body",
    [
        "into.append(self)",
        "self.later = lambda: into",
        "self.view = torch.ones(2, 2, requires_grad=True).t()",
        "self.product = torch.ones(2, requires_grad=True) * 2",
    ],
)
def test_what_cannot_be_copied_faithfully_is_built_again(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"""
        import torch


        class Block:
            def __init__(self, into):
                {body}


        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                into = []
                self.one = Block(into)
                self.two = Block(into)
                self.kept = into
    """
    made = []
    original = construction.Prototypes.make
    monkeypatch.setattr(construction.Prototypes, "make", lambda *given: made.append(original(*given)) or made[-1])
    _, net = built(text, "Net")
    assert made == [None, None] or made == [None]
    if "append" in body:
        kept = net.attributes["kept"]
        assert isinstance(kept, Sequence)
        assert kept.items is not None
        assert len(kept.items) == 2
