"""An object that is copied from a prototype is the object that its constructor would have built."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.model.python import classes, prototypes
from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.state.values import Class, Instance, Mapping, Module, Sequence, Tensor, Unknown
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
    copied = [each[0] for each in made if each is not None]
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
    assert any(each is not None and each[0] is two for each in made) is is_copied
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
