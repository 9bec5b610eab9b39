"""An object that is copied from a prototype is the object that its constructor would have built."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.model.python import classes, prototypes
from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.state.values import (
    Choice,
    Class,
    GraphNode,
    Guard,
    Instance,
    Mapping,
    Module,
    Saved,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Write,
)
from torchlint.syntax.lowering import program_of

interpreted = pytest.mark.skipif(not prototypes.__file__.endswith(".py"), reason="compiled calls cannot be watched")

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


def built(text: str, name: str) -> tuple[EntryPoints, Instance]:
    """The object that a class of the program builds of nothing but unknown arguments."""
    analysis = EntryPoints(program_of(textwrap.dedent(text)))
    analysis.run_script()
    cls = analysis.machine.globals.variables[name]
    assert isinstance(cls, Class)
    instance = Instance(cls)
    analysis.entry.build(instance, defaults=False)
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


@interpreted
def test_copies_have_the_arguments_of_their_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = prototypes.Prototypes.make
    monkeypatch.setattr(prototypes.Prototypes, "make", lambda *given: made.append(original(*given)) or made[-1])
    _, net = built(BLOCKS, "Net")
    copied = [each.instance for each in made if each is not None]
    assert copied, "nothing was copied"
    one, two = net.attributes["one"], net.attributes["two"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    assert two in copied
    assert one.attributes["width"] is two.attributes["width"]


@interpreted
@pytest.mark.parametrize(
    "body",
    [
        "into.append(self)",
        "self.later = lambda: into",
        "self.cut = (torch.ones(2, requires_grad=True) * 2).detach()",
        "self.kept = torch.ones(2, requires_grad=True) * 2; self.kept.retain_grad()",
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
    original = prototypes.Prototypes.make
    monkeypatch.setattr(prototypes.Prototypes, "make", lambda *given: made.append(original(*given)) or made[-1])
    _, net = built(text, "Net")
    assert made == [None, None] or made == [None]
    if "append" in body:
        kept = net.attributes["kept"]
        assert isinstance(kept, Sequence)
        assert kept.items is not None
        assert len(kept.items) == 2


SETTINGS = """
    from torch import nn


    class Config:
        def __init__(self):
            self.width = 4
            self.sizes = [1, 2]
            self.text = None
            self.names = {{}}


    class Block(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.sizes = config.sizes
            self.layer = nn.Linear(config.width, 4)
            {inside}


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            config = Config()
            config.text = Config()
            self.one = Block(config)
            {between}
            self.two = Block(config)
"""


@interpreted
@pytest.mark.parametrize(
    ("inside", "between", "is_copied"),
    [
        ("", "", True),
        ("", "config.width = 8", False),
        ("", "config.sizes.append(3)", False),
        ("", "config.names['a'] = 1", False),
        ("", "config.text.width = 8", False),
        ("config.width += 1", "", False),
        ("config.text.sizes.append(1)", "", False),
    ],
)
def test_blocks_of_the_same_settings_are_built_once(
    inside: str, between: str, is_copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    original = prototypes.Prototypes.make
    monkeypatch.setattr(prototypes.Prototypes, "make", lambda *given: made.append(original(*given)) or made[-1])
    _, net = built(SETTINGS.format(inside=inside or "pass", between=between or "pass"), "Net")
    one, two = net.attributes["one"], net.attributes["two"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    assert any(each is not None and each.instance is two for each in made) is is_copied
    assert one.attributes["config"] is two.attributes["config"]
    assert one.attributes["sizes"] is two.attributes["sizes"]


@interpreted
@pytest.mark.parametrize("other", ["Block(config)", "copy.deepcopy(self.one)"])
def test_a_copy_keeps_the_keys_of_dictionaries(other: str) -> None:
    text = "    import copy" + SETTINGS.format(inside="self.held = {config: 1}", between="").replace(
        "self.two = Block(config)", f"self.two = {other}"
    )
    _, net = built(text, "Net")
    keys = []
    for name in ("one", "two"):
        block = net.attributes[name]
        assert isinstance(block, Instance)
        held = block.attributes["held"]
        assert isinstance(held, Mapping)
        keys.append(held.keys)
    assert all(isinstance(each, Instance) for each in keys)
    assert (keys[0] is keys[1]) is (other == "Block(config)")


CONFIGURED = """
    import torch
    from torch import nn


    class Inner(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.width = config.width
            self.heads = config.text.heads
            self.layer = nn.Linear(config.width, config.width)


    class Outer(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.depth = config.depth
            self.inner = Inner(config)


    class Other(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.width = config.width
            self.inner = Inner(config)
"""


@interpreted
def test_a_configuration_of_which_something_was_read_is_as_unknown_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    original = classes.initialise
    monkeypatch.setattr(
        classes, "initialise", lambda run, *given: ran.append(given[0].cls.name) or original(run, *given)
    )
    analysis, outer = built(CONFIGURED, "Outer")
    cls = analysis.machine.globals.variables["Other"]
    assert isinstance(cls, Class)
    other = Instance(cls)
    analysis.entry.build(other, defaults=False)
    assert ran == ["Inner"], "built a second time"
    one, two = outer.attributes["inner"], other.attributes["inner"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    assert one.attributes["config"] is not two.attributes["config"]
    assert two.attributes["width"] is other.attributes["width"], "an attribute of its own configuration"
    assert one.attributes["width"] is not two.attributes["width"]
    config = two.attributes["config"]
    assert isinstance(config, Unknown)
    text = config.attributes["text"]
    assert isinstance(text, Unknown)
    assert two.attributes["heads"] is text.attributes["heads"]


@pytest.mark.parametrize("second", ["Pair(config, config)", "Pair(config, other)"])
def test_the_same_argument_twice_is_another_construction(second: str) -> None:
    text = f"""
        from torch import nn


        class Pair:
            def __init__(self, one, two):
                self.one = one
                self.two = two


        class Net(nn.Module):
            def __init__(self, config, other):
                super().__init__()
                self.alike = Pair(config, config)
                self.asked = {second}
    """
    _, net = built(text, "Net")
    pair = net.attributes["asked"]
    assert isinstance(pair, Instance)
    assert (pair.attributes["one"] is pair.attributes["two"]) == ("other" not in second)


def test_what_a_construction_left_open_a_copy_leaves_open() -> None:
    text = """
        from torch import nn
        from elsewhere import Activation


        class Block(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.act = Activation(inplace=True)


        class Net(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.block = Block(config)
    """
    analysis, _ = built(text, "Net")
    assert analysis.machine.open_layer_write
    cls = analysis.machine.globals.variables["Net"]
    assert isinstance(cls, Class)
    analysis.machine.open_layer_write = False
    analysis.entry.build(Instance(cls), defaults=False)
    assert analysis.machine.open_layer_write


def test_what_a_construction_wrote_a_copy_has_written() -> None:
    text = """
        import torch
        from torch import nn


        class Block(nn.Module):
            def __init__(self, config):
                super().__init__()
                table = torch.arange(config.length).float() * (1 / config.width)
                self.sine = torch.sin(table)
                table[config.padding] = 0


        class Net(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.block = Block(config)
    """
    analysis, _ = built(text, "Net")
    assert analysis.run.autograd.overwritten
    assert not analysis.machine.externally_pure
    cls = analysis.machine.globals.variables["Net"]
    assert isinstance(cls, Class)
    analysis.run.autograd.overwritten, analysis.machine.externally_pure = False, True
    analysis.entry.build(Instance(cls), defaults=False)
    assert analysis.run.autograd.overwritten
    assert not analysis.machine.externally_pure


def test_a_buffer_that_is_a_view_is_copied_with_its_base() -> None:
    text = """
        import torch
        from torch import nn


        class Attention(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.register_buffer("bias", torch.ones(4, 4).view(1, 4, 4))


        class Net(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.one = Attention(config)
                self.two = Attention(config)
    """
    _, net = built(text, "Net")
    one, two = net.attributes["one"], net.attributes["two"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    first, second = one.attributes["bias"], two.attributes["bias"]
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    assert first is not second
    assert second.base is not None
    assert second.base is not first.base
    assert second.storage is second.base.storage
    assert second.storage is not first.storage
    assert second.shape == first.shape == (1, 4, 4)


RECORDED = """
    import math

    import torch
    from torch import nn


    class Block(nn.Module):
        def __init__(self, config, padding):
            super().__init__()
            {body}


    class Net(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.one = Block(config, config.padding)
            self.between = nn.Linear(2, 2)
            self.two = Block(config, config.padding)
"""
SINUSOIDS = """
            half = config.width // 2
            emb = torch.exp(torch.arange(half).float() * -(math.log(10000) / half))
            emb = torch.arange(config.length).float().unsqueeze(1) * emb.unsqueeze(0)
            self.sine, self.cosine = torch.sin(emb), torch.cos(emb)
"""
WEIGHTS = """
            emb = torch.arange(config.length).float() * (1 / config.width)
            emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=1).view(config.length, -1)
            if config.width % 2 == 1:
                emb = torch.cat([emb, torch.zeros(config.length, 1)], dim=1)
            if padding is not None:
                emb[padding, :] = 0
            self.register_buffer("weights", emb.to(torch.get_default_dtype()), persistent=False)
"""


def recorded(body: str) -> tuple[EntryPoints, Instance, Instance]:
    """Two blocks that are built alike, and the run that built them."""
    analysis, net = built(RECORDED.format(body=body.strip()), "Net")
    one, two = net.attributes["one"], net.attributes["two"]
    assert isinstance(one, Instance)
    assert isinstance(two, Instance)
    return analysis, one, two


class _Description:
    """What there is of an object, told without saying which: the like of it has the same."""

    def __init__(self, began: int) -> None:
        self._began = began
        self._numbers: dict[int, int] = {}
        self.lines: list[object] = []
        self.times: set[int] = set()
        self.records: list[object] = []
        self._pending: list[object] = []

    def number(self, record: object) -> int:
        """Which of the records it is, in the order in which they are come by."""
        if id(record) not in self._numbers:
            self._numbers[id(record)] = len(self._numbers)
            self.records.append(record)
            self._pending.append(record)
        return self._numbers[id(record)]

    def time(self, time: int) -> int:
        self.times.add(time)
        return time - self._began

    def of(self, instance: Instance) -> list[object]:
        self.number(instance)
        while self._pending:
            self.lines.append(self._told(self._pending.pop(0)))
        tensors = [each for each in self.records if isinstance(each, Tensor)]
        return [*self.lines, [[self._numbers.get(id(each)) for each in tensor.inputs] for tensor in tensors]]

    def _told(self, record: object) -> object:
        if isinstance(record, (Instance, Unknown)):
            attributes = record.attributes if isinstance(record, Instance) else {}
            tensors = [*record.depends, *record.possible, record.guess] if isinstance(record, Unknown) else []
            return (
                type(record).__name__,
                [(name, self._value(each)) for name, each in attributes.items()],
                [each and self.number(each) for each in tensors],
            )
        if isinstance(record, Choice):
            return [(_size(guard), self._value(each)) for guard, each in record.alternatives]
        if isinstance(record, Tensor):
            return (
                "tensor", record.name, record.op, record.own, record.shape, record.dtype, record.view, record.made_by,
                record.cut, record.precise, record.order, record.in_order, record.contiguous, self.time(record.born),
                self.time(record.grad_time), record.base and self.number(record.base), self._value(record.grad),
                [(_size(guard), self.number(node)) for guard, node in record.grad_fn],
                self.number(record.storage), self.number(record.counter), self.number(record.family),
                [self.number(each) for each in (*record.storage.saves, *record.storage.writes)],
                [(self.time(each.time), each.origin) for each in record.storage.uses],
            )  # fmt: skip
        if isinstance(record, GraphNode):
            return (
                "node", record.name, record.op, record.condition, record.holds, record.opaque, record.result,
                record.built_in, record.formula, self.time(record.time),
                [(_size(guard), self.number(end)) for guard, end in record.edges],
                [self.number(each) for each in record.saved],
            )  # fmt: skip
        if isinstance(record, Saved):
            told = (record.what, record.name, self.time(record.time), _size(record.guard))
            parts = (record.tensor, record.storage, record.counter, record.node)
            return ("saved", told, [self.number(each) for each in parts])
        if isinstance(record, Write):
            told = (record.op, record.spelling, record.name, self.time(record.time), _size(record.assumed))
            return ("write", told, [self.number(each) for each in (record.target, record.counter)], record.callers)
        return type(record).__name__

    def _value(self, value: Value) -> object:
        if isinstance(value, (Tensor, Unknown, Choice, Instance)):
            return self.number(value)
        return type(value).__name__


def _size(guard: Guard) -> tuple[int, int]:
    """How many decisions a guard rests on, and how many that nobody knows."""
    return len(guard), sum(isinstance(key, tuple) for key, _ in guard)


@interpreted
@pytest.mark.parametrize("body", [SINUSOIDS, WEIGHTS])
def test_a_graph_is_copied_as_it_would_have_been_recorded(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    original = classes.initialise
    monkeypatch.setattr(
        classes, "initialise", lambda run, *given: ran.append(given[0].cls.name) or original(run, *given)
    )
    analysis, one, two = recorded(body)
    assert ran == ["Block"], "built a second time"
    first, copied = _Description(0), _Description(0)
    first.of(one)
    copied.of(two)
    assert max(first.times) < min(copied.times - {0})
    assert max(copied.times) <= analysis.machine.clock
    mutable = (Instance, Tensor, GraphNode, Saved, Write)
    shared = {id(each) for each in first.records if isinstance(each, mutable)}
    assert shared.isdisjoint(id(each) for each in copied.records)
    everywhere = {id(each) for each in analysis.run.autograd.saved}
    assert everywhere.issuperset(id(each) for each in copied.records if isinstance(each, Saved))

    monkeypatch.setattr(prototypes.Prototypes, "make", lambda *given: None)
    _, _, other = recorded(body)
    again = _Description(0)
    again.of(other)
    began, anew = min(copied.times - {0}), min(again.times - {0})
    assert _Description(began).of(two) == _Description(anew).of(other)
