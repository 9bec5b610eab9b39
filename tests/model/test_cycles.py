"""Values that hold themselves, and values nested without end: the model comes to an end, and goes on finding."""

from __future__ import annotations

import pytest

from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection, load

REGISTRY = load()
EVERYTHING = Selection(frozenset(REGISTRY.names), strict=True)

FAULT = """
w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
loss.backward()
loss.backward()
"""

VALUES = {
    "operand in itself": (
        "z = [w]\nz.append(z)\nw + z\nz ** w\ntorch.add(w, z)\ntorch.stack([w, z])\ntorch.cat(z)\n"
        "torch.where(w > 0, w, z if unknown() else w)\ntorch.lerp(w, w, z)\nw.add_(z)\n"
    ),
    "list in itself": "z = [0]\nz.append(z)\ntorch.tensor(z)\ntorch.cat(z)\nx = torch.ones(3)[z]\n",
    "tuple around a list that holds it": (
        "z = []\nt = (z, w)\nz.append(t)\ntorch.stack(t)\nisinstance(w, t)\nprint(*t)\n"
    ),
    "dict in itself": (
        "d = {}\nd['d'] = d\nd.update(d)\ntorch.optim.SGD([d], lr=1.0)\nfor k, v in d.items():\n    v[k] = d\n"
    ),
    "lists in each other": (
        "a, b = [w], [w]\na.append(b)\nb.append(a)\ntorch.stack(a).sum().backward()\nfor c in a:\n    c.append(b)\n"
    ),
    "list extended by itself while it is walked": (
        "l = []\nl.append(l)\nfor a in l:\n    a.append(w)\n    l.extend(a)\n"
    ),
    "Sequential in itself": (
        "s = nn.Sequential(nn.Linear(2, 2))\n"
        "s.append(s)\n"
        "s.train()\n"
        "s.eval()\n"
        "torch.optim.SGD(s.parameters(), lr=1.0)\n"
        "s(w)\n"
    ),
    "ModuleList in a Module that it holds": (
        "class M(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.all = nn.ModuleList([self, nn.Linear(2, 2)])\n"
        "        self.me = self\n"
        "    def forward(self, x):\n"
        "        for each in self.all:\n"
        "            x = each(x)\n"
        "        return self.me(x)\n"
        "m = M()\nm.eval()\nm.requires_grad_(False)\ntorch.optim.SGD(m.parameters(), lr=1.0).step()\n"
    ),
    "parent and child, built twice": (
        "class L(nn.Module):\n"
        "    def __init__(self, parent, child):\n"
        "        super().__init__()\n"
        "        self.fc = nn.Linear(2, 2)\n"
        "def build(parent, child):\n"
        "    parent.child = child\n"
        "    child.parent = parent\n"
        "    return L(parent, child)\n"
        "class M(nn.Module):\n"
        "    def __init__(self, parent, child):\n"
        "        super().__init__()\n"
        "        self.one, self.two = build(parent, child), build(parent, child)\n"
        "    def forward(self, x):\n"
        "        x += 1\n"
        "        return self.one.fc(self.two.fc(x))\n"
    ),
    "settings that hold themselves": (
        "class L(nn.Module):\n"
        "    def __init__(self, cfg):\n"
        "        super().__init__()\n"
        "        cfg.root = cfg\n"
        "class M(nn.Module):\n"
        "    def __init__(self, cfg):\n"
        "        super().__init__()\n"
        "        cfg.root = cfg\n"
        "        self.layers = nn.ModuleList([L(cfg) for _ in range(3)])\n"
    ),
    "ring": (
        "def ring(head):\n    head.next = head.prev = head\n    head.next.prev.value.add_(1)\n    return head.next\n"
    ),
    "lambda that calls itself": "f = lambda x: f(x)\nf(w)\ng = lambda x: h(x)\nh = lambda x: g(x)\nh(w)\n",
    "objects that call each other": (
        "class C:\n    def __call__(self, x):\n        return self.other(x)\n"
        "a, b = C(), C()\na.other, b.other = b, a\na(w)\n"
    ),
    "property that reads itself": ("class P:\n    @property\n    def x(self):\n        return self.x\nP().x + w\n"),
    "closure over itself": (
        "def outer():\n"
        "    kept = []\n"
        "    def inner():\n"
        "        kept.append(inner)\n"
        "        return kept\n"
        "    kept.append(inner())\n"
        "    return kept\n"
        "outer()\n"
    ),
    "module called": "nn(w)\nnn.Sequential(nn, nn.ReLU())(w)\ntorch(w)\n",
    "slice of an unknown list written back": (
        "def f(imgs, n=4):\n"
        "    order = sorted(range(len(imgs)), key=lambda i: imgs[i])\n"
        "    if n > 1:\n"
        "        for start in range(0, len(order), n):\n"
        "            window = order[start : start + n]\n"
        "            order[start : start + n] = window\n"
        "    odd = order[-1] if len(imgs) % 2 else None\n"
        "    for i in range(len(imgs)):\n"
        "        if i == odd:\n"
        "            pass\n"
    ),
    "deep list": "z = [w]\n" + "z = [z]\n" * 3000 + "torch.stack(z)\ntorch.tensor(z)\nprint(z)\n",
    "deep list, built in a loop": "z = [w]\nfor _ in range(10000):\n    z = [z]\ntorch.stack(z)\nw[z]\n",
    "list that doubles": "z = [1, 2]\n"
    + "z = [z, z]\n" * 40
    + "torch.tensor(z)\ntorch.tensor(z, dtype=torch.bool)\nw[z]\n",
    "deep objects": (
        "class N(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n"
        "n = nn.Linear(2, 2)\n" + "n = N(n)\n" * 300 + "n.eval()\ntorch.optim.SGD(n.parameters(), lr=1.0)\n"
    ),
    "deep settings": "def f(c):\n"
    + "    c.next = c\n    c = c.next.other\n" * 1500
    + "    return L(c)\nclass L(nn.Module):\n    pass\n",
    "complete graph of modules": (
        "class K(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "".join(f"k{i} = K()\n" for i in range(20))
        + "".join(f"k{i}.a{j} = k{j}\n" for i in range(20) for j in range(20))
        + "k0.eval()\nk0(w)\ntorch.optim.SGD(k0.parameters(), lr=1.0)\n"
    ),
    "view of a view of a view": "v = w\n" + "v = v.view(2)\n" * 2000 + "v.sum().backward()\n",
    "long graph": "v = w\n" + "v = v * w\n" * 2000 + "v.sum().backward()\n",
    "long chain of casts": "v = torch.arange(3)\n" + "v = v.float()\n" * 2000 + "torch.log(1 + v)\n",
    "classes one below the other": "class C0(nn.Module): pass\n"
    + "".join(f"class C{i + 1}(C{i}): pass\n" for i in range(300))
    + "C300()(w)\n",
    "partial of partial": "import functools\np = print\n" + "p = functools.partial(p, w)\n" * 1500 + "p()\n",
}


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_the_fault_beside_it_is_found(text: str) -> None:
    program = "import torch\nfrom torch import nn\n" + FAULT + "w = torch.ones(2, requires_grad=True)\n" + text
    report = check_text("x.py", program, REGISTRY, EVERYTHING)
    assert not report.failed
    assert (7, "TLN101") in {(finding.span.line, finding.code) for finding in report.findings}


DOUBLING = {
    "layers": "s = nn.Sequential(nn.ReLU(), nn.ReLU())\n" + "s = nn.Sequential(s, s)\n" * 25 + "s(w)\n",
    "lambdas": "g0 = torch.exp\n"
    + "".join(f"g{i} = lambda x: g{i - 1}(g{i - 1}(x))\n" for i in range(1, 25))
    + "g24(w)\n",
    "operands": "x = w\n" + "x = torch.cat([x] * 40)\n" * 30 + "torch.log(1 + x)\ntorch.tensor(x)\n",
    "lists": "x = w\n" + "x = [x] if unknown else (x,)\n" * 60 + "torch.stack(x)\n",
}


@pytest.mark.parametrize("text", DOUBLING.values(), ids=DOUBLING)
def test_what_doubles_has_an_end(text: str) -> None:
    program = "import torch\nfrom torch import nn\n" + FAULT + text
    report = check_text("x.py", program, REGISTRY, EVERYTHING)
    assert not report.failed
    assert (7, "TLN101") in {(finding.span.line, finding.code) for finding in report.findings}


DEEP = {
    "attributes": "a" + ".b" * 20_000,
    "calls": "a" + ".b(c)" * 5_000,
    "subscripts": "a" + "[0]" * 20_000,
    "sum": "a" + " + b" * 15_000,
    "power": "a" + " ** b" * 1_700,
    "not": "not " * 5_000 + "a",
    "signs": "-" * 5_000 + "a",
    "choices": "a if b else " * 4_000 + "a",
    "lambdas": "lambda: " * 2_500 + "a",
    "brackets": "[" * 190 + "a" + "]" * 190,
    "comparisons": "a" + " < b" * 20_000,
    "conjunction": "a" + " and b" * 20_000,
}
WAYS = {
    "value": "    x = {0}\n",
    "condition": "    if {0}:\n        a.add_(1)\n    while {0}:\n        a.add_(1)\n        break\n",
    "argument": "    torch.exp({0}).mul_(a)\n    a[{0}].add_(1)\n",
    "target": "    ({0}).c = a\n    for ({0}).d in a:\n        pass\n",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_is_nested_deeply_costs_no_more_than_its_function(text: str, way: str) -> None:
    fault = FAULT.replace("\n", "\n    ")
    program = f"import torch\n\n\ndef deep(a, b, c):\n{way.format(text)}\n\ndef fault():{fault}\n"
    report = check_text("x.py", program, REGISTRY, EVERYTHING)
    assert not report.failed
    assert {"TLN001", "TLN101"} & {finding.code for finding in report.findings}


def test_a_long_chain_of_elif() -> None:
    program = "import torch\n" + FAULT + "if w:\n    pass\n" + "elif w.x:\n    w.add_(1)\n" * 4_000
    report = check_text("x.py", program, REGISTRY, EVERYTHING)
    assert not report.failed
