"""Which entry points are followed, and who watches them: by what is written in them and in what they call."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from torchlint.model.observers import observers
from torchlint.model.scheduling.effects import writing_methods
from torchlint.model.scheduling.entry_points import EntryPoints
from torchlint.model.scheduling.subscriptions import Subscriptions
from torchlint.model.state import hooks
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Class, Instance, Value
from torchlint.project.index import ProjectIndex
from torchlint.syntax import features, ir, reading
from torchlint.syntax.lowering import program_of

interpreted = pytest.mark.skipif(
    not hooks.__file__.endswith(".py"), reason="the observers of this test cannot derive from a compiled class"
)

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def followed(program: str) -> set[str]:
    """The functions that ran in an analysis that leaves out what it may, as `function` or `Class.method`."""
    text = IMPORTS + textwrap.dedent(program)
    analysis = EntryPoints(program_of(text), thorough=False)
    analysis.follow()
    names: dict[int, str] = {}
    for statement in analysis.machine.program.body:
        inner = statement.body if isinstance(statement, ir.ClassDef) else [statement]
        owner = f"{statement.name}." if isinstance(statement, ir.ClassDef) else ""
        names |= {id(each): owner + each.name for each in inner if isinstance(each, ir.FunctionDef)}
    return {name for number, name in names.items() if number in analysis.run.entered}


BLOCK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        {body}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(torch.sigmoid(x))
"""


def test_what_only_computes_is_not_followed() -> None:
    assert followed(BLOCK.format(body="return self.linear(x) + 1")) == set()


def test_writes_that_stay_inside_do_not_concern_callers() -> None:
    body = "y = self.linear(x)\n        y += 1\n        return y"
    assert followed(BLOCK.format(body=body)) == {"Block.__init__", "Block.forward"}


@pytest.mark.parametrize(
    "body",
    [
        "x += 1\n        return x",  # what it was given
        "x[0] = 0\n        return x",
        "return F.relu(x, inplace=True)",
        "self.linear.weight[0] = 0\n        return x",  # what others may use
        "y = unknown(x)\n        y += 1\n        return y",  # a caller may know what it is
        "out = torch.zeros(4)\n        out[0] = x.sum()\n        return out",  # ... or whether it is of a graph
    ],
)
def test_other_writes_concern_callers(body: str) -> None:
    assert "Net.forward" in followed(BLOCK.format(body=body))


@pytest.mark.parametrize(("made", "concerns"), [("torch.tanh(self.linear(x))", True), ("self.linear(x)", False)])
def test_a_write_over_what_a_returned_graph_needs_concerns_callers(made: str, concerns: bool) -> None:
    program = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def bounded(self, x):
        y = {made}
        y *= 3
        return y

    def forward(self, x):
        return self.bounded(x) + 1
"""
    assert ("Net.forward" in followed(program)) is concerns


@pytest.mark.parametrize("statement", ["x += 1", "x[0] = 0", "x.add_(1)", "x.data = x * 2", "scale_(x)"])
def test_a_function_that_writes_what_it_is_given_concerns_callers(statement: str) -> None:
    program = f"""
def change(x):
    {statement}
    return x


def run(x):
    y = torch.sigmoid(x)
    return change(y)
"""
    assert followed(program) == {"change", "run"}


@pytest.mark.parametrize(
    "inner",
    [
        "def inner(y):\n        z = torch.ones(2)\n        z += 1",
        "class Inner:\n        def __init__(self):\n            pass",
    ],
)
def test_what_is_defined_inside_says_nothing_of_what_is_written_outside(inner: str) -> None:
    program = f"""
def change(x):
    {inner}
    x += 1
    return x


def run(x):
    return change(torch.sigmoid(x))
"""
    assert "run" in followed(program)


def test_layers_that_work_in_place_are_writes() -> None:
    program = BLOCK.format(body="return self.act(x)").replace(
        "nn.Linear(4, 4)", "nn.Linear(4, 4)\n        self.act = ACT"
    )
    assert "Net.forward" in followed(program.replace("ACT", "nn.ReLU(inplace=True)"))
    assert "Net.forward" in followed(program.replace("ACT", "nn.ReLU(True)"))
    assert followed(program.replace("ACT", "nn.ReLU()")) == set()


def test_what_an_observer_waits_for_is_followed_through_calls() -> None:
    program = """
        def evaluate(model, x):
            model.eval()
            return model(x)

        def run(model, x):
            return evaluate(model, x)

        def plain(x):
            return x * 2
        """
    assert followed(program) == {"evaluate", "run"}


def test_a_class_inside_a_function_is_looked_at() -> None:
    program = """
        def make():
            class Net(nn.Module):
                def __init__(self):
                    self.linear = nn.Linear(2, 2)
            return Net
        """
    assert followed(program) == {"make"}


def test_with_everything_asked_for_everything_is_followed() -> None:
    text = IMPORTS + BLOCK.format(body="return self.linear(x) + 1")
    analysis = EntryPoints(program_of(text))
    analysis.follow()
    assert len(analysis.run.entered) == 4


def test_every_observer_says_what_concerns_it() -> None:
    known = {value for name, value in vars(features).items() if name.isupper() and isinstance(value, str)}
    for observer in observers():
        assert observer.concerns is not None, observer
        for concern in observer.concerns:
            for group in (*concern.anywhere, *concern.near, *concern.called, *concern.here):
                assert group, observer
                for word in group:
                    bare = word.lstrip("*+-")
                    named = bare.isidentifier() or not any(map(str.isalnum, bare))
                    assert named or bare in known, (observer, word)  # nothing else is ever read


@pytest.mark.parametrize(
    ("body", "is_write"),
    [
        ("x += y", True),
        ("kept = x\n    kept += y", True),
        ("total = 0\n    total += y", True),
        ("x += y if z else (y,)", True),
        ("x += (y,) if z else (z,)", False),
        ("x += f'{y}'", False),
        ("x += ', '", False),
        ("names = []\n    names += y", False),
        ("names = []\n    names = x\n    names += y", True),
    ],
)
def test_a_list_or_a_text_that_grows_is_no_write_in_place(body: str, is_write: bool) -> None:
    method = textwrap.indent(f"def f(self, x, y, z):\n    {body}\n", "    ")
    cls = program_of(f"class A:\n{method}").body[0]
    assert isinstance(cls, ir.ClassDef)
    assert isinstance(cls.body[0], ir.FunctionDef)
    assert (features.WRITES in reading.written(cls.body[0]).words) is is_write
    assert (writing_methods(cls, lambda _: False) == {"f"}) is is_write


@pytest.mark.parametrize(
    ("body", "writes"),
    [
        ("if mask is not None:\n        x[mask] = 0", False),
        ("if mask is None:\n        x[0] = 0", True),
        ("if mask is None:\n        y = x\n    else:\n        x[mask] = 0", False),
        ("if y is not None:\n        x[0] = 0", True),  # the default is not None
        ("if mask is not None and unknown(x):\n        x[mask] = 0", False),
        ("if mask is not None or unknown(x):\n        x[0] = 0", True),
        ("if not flag:\n        x[0] = 0", True),
        ("if flag:\n        x[0] = 0", False),
        ("mask = x > 0\n    if mask is not None:\n        x[mask] = 0", True),
        ("if flag:\n        mask = x > 0\n    if mask is not None:\n        x[mask] = 0", False),
        ("import mask\n    if mask is not None:\n        x[0] = 0", True),
        ("if x is not None:\n        x[0] = 0", True),  # the first input is always given
        ("if mask is not None:\n        self.g(x)", False),
    ],
)
def test_what_waits_for_an_input_that_is_left_out_writes_nothing_by_default(body: str, writes: bool) -> None:
    forward = f"def forward(self, x=None, mask=None, flag=False, y=0):\n    {body}\n"
    other = "def g(self, x):\n    x[0] = 0\n"
    cls = program_of(f"class A:\n{textwrap.indent(forward + other, '    ')}").body[0]
    assert isinstance(cls, ir.ClassDef)
    assert "forward" in writing_methods(cls, lambda _: False)
    assert ("forward" in writing_methods(cls, lambda _: False, defaults=True)) is writes


def test_features() -> None:
    text = "def f(x):\n    if x > 0:\n        y = torch.sqrt(x)\n    self.n += 1\n    return F.softmax(y)"
    (definition,) = program_of(text).body
    assert isinstance(definition, ir.FunctionDef)
    words = reading.written(definition).words
    assert {features.MASKED, features.WRITES, features.IMPLIED_DIM, "sqrt", ">", "self"} <= words
    assert words.isdisjoint({features.DIFFERENTIATES, features.DROPS, features.GROWS, features.CHAIN})


@pytest.mark.parametrize(
    ("body", "concerns"),
    [
        ("return torch.tensor(x)", True),
        ("return torch.tensor([x, x])", False),
        ("n = torch.finfo(x.dtype).min\n    return torch.tensor(n)", False),
        ("n = x\n    return torch.tensor(n)", True),
        ("n = torch.finfo(x.dtype).min\n    n = torch.tensor(n)\n    return n", False),
        ("n = 1.0\n    n = torch.tensor(n)\n    return torch.tensor(n)", True),
        ("return torch.tensor(self.config.width)", False),
        ("return x.forward(self)", True),
        ("return copy.deepcopy(x)", True),
        ("return copy.deepcopy(self.__dict__)", False),
        ("return copy.deepcopy(self)", False),
        ("return copy.deepcopy({k: v for k, v in self.__dict__.items() if k != x})", False),
        ("return copy.deepcopy({k: v for k, v in x.items()})", True),
        ("return self.forward(x)", False),
        ("return out_of(x.pop('inplace', True))", False),
        ("d = {}\n    d[x] = self\n    return d", False),
        ("d = {}\n    d = x\n    d[0] = 1\n    return d", True),
        ("if x is None:\n        x = {}\n    x[0] = 1\n    return x", True),
        ("if x is None:\n        x = 0\n    x += 1\n    return x", True),
        ("d = []\n    for d in x:\n        d[0] = 1\n    return d", True),
        ("y = x + 1\n    y[0] += math.sqrt(2)\n    return y", True),
    ],
)
def test_what_concerns_callers_by_the_look_of_it(body: str, concerns: bool) -> None:
    program = f"""
def work(self, x):
    {body}


def caller(net, x):
    return work(net, torch.sigmoid(x))
"""
    assert ("caller" in followed(program)) == concerns


@pytest.mark.parametrize(
    ("softmax", "concerns"),
    [
        ("torch.softmax(x.transpose(1, 2), dim=-1)", False),
        ("torch.softmax(x.transpose(-2, -1), -1)", False),
        ("x.softmax(2)", False),
        ("torch.softmax(x, dim=0)", True),
        ("x.softmax(-3)", True),
        ("torch.softmax(x, dim)", True),
        ("torch.softmax(x, **dim)", True),
        ("(softmax := torch.softmax)(x, dim=-1)", True),
        ("torch.softmax(x, dim=-1).transpose(0, 2)", True),
        ("torch.softmax(x, dim=-1).transpose(*dim)", True),
        ("torch.softmax(x, dim=1).squeeze(0)", True),
        ("torch.softmax(x, dim=-1).transpose(-2, -1).unsqueeze(1)", True),
    ],
)
def test_a_softmax_that_may_go_over_the_batch(softmax: str, concerns: bool) -> None:
    program = f"""
def attend(x, v, dim=0):
    return torch.bmm({softmax}, v)
"""
    assert (followed(program) == {"attend"}) == concerns


@pytest.mark.parametrize(
    ("made", "concerns"),
    [
        ("self.softmax = nn.Softmax(dim=-1)", False),
        ("self.softmax = nn.Softmax(dim=0)", True),
        ("self.softmax = nn.Softmax(dim)", True),
        ("self.softmax = F.softmax", True),
        ("self.softmax = partial(F.softmax, dim=0)", True),
        ("pass", True),  # a class of another file makes it
    ],
)
def test_a_softmax_that_an_object_holds(made: str, concerns: bool) -> None:
    program = f"""
class Attention(nn.Module):
    def __init__(self, dim=0):
        super().__init__()
        {made}

    def weigh(self, x):
        return self.softmax(x)

    def forward(self, x, v):
        return torch.bmm(self.weigh(x), v)
"""
    assert ("Attention.forward" in followed(program)) == concerns


@pytest.mark.parametrize(
    ("body", "concerns"),
    [
        ("return self.attention(x, v)", False),  # where they meet is followed by itself
        ("return torch.bmm(self.weights(x), v)", True),
        ("return torch.bmm(weigh(x), v)", True),
        ("return combine(weigh(x), v)", True),
    ],
)
def test_a_softmax_over_the_last_dimension_is_followed_where_it_is_moved(body: str, concerns: bool) -> None:
    program = f"""
def weigh(x):
    return torch.softmax(x, dim=-1)


def combine(x, v):
    return torch.bmm(x.transpose(0, 2), v)


class Weights(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=-1).transpose(0, 2)


class Attention(nn.Module):
    def forward(self, x, v):
        return torch.bmm(torch.softmax(x, dim=-1).transpose(0, 2), v)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = Weights()
        self.attention = Attention()

    def forward(self, x, v):
        {body}
"""
    assert ("Net.forward" in followed(program)) == concerns


@pytest.mark.parametrize(
    ("body", "concerns"),
    [
        ("return np.sqrt(x)", True),
        ("return np.linalg.norm(x)", True),
        ("return log(x)", True),
        ("return [array(each) for each in x]", True),
        ("return plt.plot(x)", True),
        ("return list(map(np.exp, x))", True),
        ("return torch.sqrt(x) if isinstance(x, np.ndarray) else torch.stack([x])", False),
        ("return x.sqrt() + np.pi", False),
    ],
)
def test_arrays_are_followed_where_a_function_makes_them(body: str, concerns: bool) -> None:
    program = f"""
import numpy as np
import matplotlib.pyplot as plt
from numpy import log, sqrt as array


def convert(x):
    {body}
"""
    assert (followed(program) == {"convert"}) == concerns


@pytest.mark.parametrize(
    ("loss", "concerns"),
    [
        ("self.loss_function(x)", False),  # another file may say what that is, and is not asked
        ("loss_function(x)", False),  # and nothing here is an activation
        ("loss_function(torch.sigmoid(x))", True),
        ("loss_function(x).backward()", True),
        ("self.loss_function(x).backward()", True),
        ("self.loss(x)", False),
        ("self.loss(x.softmax(1))", True),
        ("self.loss(act(x))", True),
        ("self.loss(flat(x))", False),
    ],
)
def test_a_loss_that_another_file_may_have_made(loss: str, concerns: bool) -> None:
    program = f"""
flat = nn.Flatten()
act = nn.LogSigmoid()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CrossEntropyLoss()

    def score(self, x):
        return {loss}
""".replace(
        "self.loss = nn.CrossEntropyLoss()", "self.loss = nn.CrossEntropyLoss()" if "self.loss(" in loss else "pass"
    )
    assert ("Net.score" in followed(program)) == concerns


@pytest.mark.parametrize(
    ("body", "concerns"),
    [
        ("w = torch.softmax(x, -1)\n        return torch.matmul(w, v)", False),
        ("w = F.softmax(x, dim=-1).to(v.dtype)\n        w = F.dropout(w, 0.1)\n        return w @ v", False),
        ("w = x.softmax(-1)\n        p = self.dropout(w)\n        return torch.bmm(p, v), w", False),
        ("w = torch.softmax(x, -1)\n        return w", True),
        ("w = torch.softmax(x, -1)\n        return torch.matmul(x, v)", True),
        ("w = torch.softmax(x, -1)\n        return torch.matmul(w, v).sigmoid()", True),
        ("w = torch.softmax(x, -1)\n        return torch.softmax(torch.matmul(w, v), 1)", True),
        ("return torch.softmax(x, -1)", True),
    ],
)
def test_attention_far_from_a_loss(body: str, concerns: bool) -> None:
    program = f"""
class Attention(nn.Module):
    def forward(self, x, v):
        return self.attend(x, v)

    def attend(self, x, v):
        {body}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x, y):
        return F.cross_entropy(self.layer(x), y)
"""
    assert ("Net.forward" in followed(program)) == concerns


@pytest.mark.parametrize(
    ("body", "pure"),
    [
        # what a caller knows of the argument makes no difference to an array, a text, or a number
        ("mask = np.zeros(x)\n    mask[0] = x\n    return mask", True),
        ("text = x.name\n    text += 'and more'\n    return text", True),
        ("out = torch.zeros(3)\n    out[0] = math.sqrt(x)\n    return out", True),
        ("out = torch.zeros(3)\n    out[0] = torch.finfo(x).min * 2\n    return out", True),
        ("out = torch.zeros(3)\n    out[0] = x\n    return out", False),
        ("out = x * 2\n    out[0] = 1\n    return out", False),
    ],
)
def test_what_is_no_tensor_whatever_a_caller_knows(body: str, pure: bool) -> None:
    program = f"""
import math
import numpy as np


def work(x):
    {body}


def caller(x):
    return work(torch.sigmoid(x))
"""
    assert ("caller" in followed(program)) == (not pure)


@pytest.mark.parametrize(
    ("made", "relevant"),
    [
        ("nn.ModuleList([Block() for _ in range(3)])", False),
        ("nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])", True),
        ("nn.ModuleList(blocks)", True),
        ("nn.ModuleList([Block(), nn.ReLU()])", True),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "for layer in self.layers:\n            x = layer(x)[0]",
        "for _, layer in enumerate(self.layers):\n            x = layer(x)\n            x = x[0]",
        "for i in range(3):\n            layer = self.layers[i]\n            x = layer(x)[0]",
    ],
)
def test_what_the_elements_of_a_list_are_says_whether_a_slice_matters(made: str, relevant: bool, loop: str) -> None:
    program = f"""
class Block(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


class Net(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.layers = {made}

    def forward(self, x):
        {loop}
        return x
"""
    assert ("Net.forward" in followed(program)) == relevant


@pytest.mark.parametrize(
    ("method", "looked"),
    [
        ("def shift(self, x):\n        y = moved(self.linear(x))\n        y += 1\n        return y", False),
        ("def forward(self, x):\n        y = moved(self.linear(x))\n        y += 1\n        return y", True),
        ("def step(self, x):\n        y = moved(self.linear(x))\n        y += 1\n        y.sum().backward()", True),
    ],
)
def test_other_files_are_looked_into_where_a_backward_is_in_sight(method: str, looked: bool, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def moved(x):\n    return x * 2\n")
    init = "def __init__(self):\n        super().__init__()\n        self.linear = nn.Linear(4, 4)"
    text = f"{IMPORTS}from other import moved\n\n\nclass Net(nn.Module):\n    {init}\n\n    {method}\n"
    file = tmp_path / "net.py"
    file.write_text(text)
    index = ProjectIndex(str(file))
    EntryPoints(program_of(text), index, thorough=False).follow()
    assert any(each.path.endswith("other.py") and each.digest for each in index.depends) == looked
    thorough = ProjectIndex(str(file))
    EntryPoints(program_of(text), thorough, thorough=True).follow()
    assert any(each.path.endswith("other.py") and each.digest for each in thorough.depends)


@pytest.mark.parametrize(
    ("middle", "outer"),
    [
        ("return fill(torch.zeros(3))", False),  # with what it gives it, the write is settled
        ("return fill(x)", True),
    ],
)
def test_what_a_contained_function_calls_is_settled_with_it(middle: str, outer: bool) -> None:
    program = f"""
def fill(x):
    x[0] = 1
    return x


def middle(x):
    {middle}


def outer(x):
    return middle(torch.sigmoid(x))
"""
    assert ("outer" in followed(program)) == outer
    assert {"fill", "middle"} <= followed(program)


class Registers(Observer):
    """Notes which classes were built under its eyes."""

    def __init__(self, machine: Machine, seen: list[str]) -> None:
        super().__init__(machine)
        self.seen = seen

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if isinstance(owner, Instance):
            self.seen.append(owner.cls.name)


class Waits(Registers):
    concerns = (features.anywhere("wanted"),)


class Strict(Registers):
    concerns = ()


class Built(Waits):
    def class_built(self, cls: Class, instance: Instance) -> None:
        pass


@interpreted
@pytest.mark.parametrize(
    ("kind", "watched"),
    [
        (Registers, {"Plain", "Method", "Base", "Derived", "Part", "Whole"}),
        (Strict, {"Plain", "Method", "Base", "Derived", "Part", "Whole"}),
        (Built, {"Plain", "Method", "Base", "Derived", "Part", "Whole"}),
        (Waits, {"Method", "Base", "Derived", "Part", "Whole"}),
    ],
)
def test_who_watches_while_an_object_is_built(kind: type[Registers], watched: set[str]) -> None:
    program = program_of(
        IMPORTS
        + textwrap.dedent("""
        class Plain:
            def __init__(self):
                self.held = 1

        class Method:
            def __init__(self):
                self.held = 1

            def use(self):
                wanted(self.held)

        class Base:
            def __init__(self):
                self.held = wanted()

        class Derived(Base):
            def __init__(self):
                super().__init__()
                self.more = 1

        class Part:
            def __init__(self):
                self.held = wanted()

        class Whole:
            def __init__(self):
                self.part = Part()
        """)
    )
    analysis = EntryPoints(program, thorough=False)
    analysis.run_script()
    seen: list[str] = []
    analysis.subscriptions = Subscriptions(
        program, [kind(analysis.machine, seen)], analysis.machine.here, thorough=False
    )
    for cls in analysis.run.classes:
        with analysis._watched(analysis.subscriptions.of_building(cls)):
            analysis._watched_class(cls)
    assert set(seen) == watched


@pytest.mark.parametrize(
    ("body", "concerns"),
    [
        # products of which one is written as a factor of the other have an order
        ("return x @ y @ z", True),
        ("return x.mm(y).mv(z)", True),
        ("return torch.matmul(x, torch.matmul(y, z))", True),
        ("times = torch.matmul\n    return times(x, y) @ z", True),
        ("return F.softmax(x @ y.transpose(1, 2), dim=-1) @ z", False),
        ("scores = x @ y\n    return scores @ z", False),
        # what is kept as the best one is kept as it is, in a loop
        ("for _ in y:\n        best = x\n    return best", True),
        ("for _ in y:\n        z.best_model = x.model\n    return z", True),
        ("best = x\n    return best", False),
        ("for _ in y:\n        scale = best_of(x)\n    return scale", False),
        # a grad mode that is entered is no statement
        ("torch.no_grad()\n    return x", True),
        ("with torch.no_grad:\n        return x", True),
        ("with torch.no_grad():\n        return x", False),
    ],
)
def test_how_words_stand_together_says_whether_they_matter(body: str, concerns: bool) -> None:
    assert ("work" in followed(f"def work(x, y, z):\n    {body}\n")) == concerns


@pytest.mark.parametrize(
    ("body", "built"),
    [
        ("self.blocks = [nn.Linear(4, 4)]", True),
        ("self.blocks = []", False),
        ("self.blocks = [dict(size=3, name='stem'), {'size': -1}]", False),
        ("self.blocks = f'{size}'", False),
        ("self.blocks = []\n        self.blocks.append(nn.Linear(4, 4))", True),
        ("self.blocks = {}\n        self.blocks['stem'] = nn.Linear(4, 4)", True),
        ("self.blocks = []\n        fill(self.blocks)", True),
        ("self.blocks = []\n        self.add_blocks()", True),
        ("self.blocks = []\n        Helper(self)", True),
        ("self.blocks = []\n        getattr(self, 'bloc' + 'ks').append(nn.Linear(4, 4))", True),
        ("def late():\n            self.blocks = []\n        late()", True),
    ],
)
def test_a_container_of_numbers_is_no_reason_to_build_an_object(body: str, built: bool) -> None:
    program = f"""
class Helper:
    def __init__(self, net):
        net.blocks += [nn.ReLU()]


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        {body}

    def add_blocks(self):
        self.blocks += [nn.ReLU()]

    def forward(self, x):
        return x
"""
    assert ("Net.__init__" in followed(program)) == built
