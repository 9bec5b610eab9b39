"""
A random program of one or several files, whose values go in circles and deep.

It is valid Python; nobody runs it. The same number gives the same program.
"""

from __future__ import annotations

import random

NAMES = ("a", "b", "c", "d")

VALUES = (
    "[]", "[{u}]", "[{u}, {v}]", "({u}, {v})", "{{}}", "{{'k': {u}, 'child': {v}}}", "[{u}] * 3", "list({u})",
    "dict(k={u})", "Node({u})", "Node({u}, {v})", "Layer({u})", "Layer({u}, {v})", "Box({u})",
    "nn.Sequential(nn.Linear(2, 2))", "nn.Sequential({u}, nn.ReLU())", "nn.Sequential(*{u})",
    "nn.ModuleList([{u}, {v}])", "nn.ModuleDict({{'k': {u}}})", "torch.ones(2, requires_grad=True)",
    "torch.ones(2) * {u}", "lambda x: {u}", "lambda x: {u}(x)", "unknown", "unknown.config",
    "functools.partial({u}, {v})", "[x for x in {u}]", "{{k: x for k, x in {u}.items()}}", "{u} if flag else {v}",
    "{u}.child", "{u}[0]", "{u}['k']", "{u}.child.parent", "call({u}, {v})", "{u} + {v}", "{u} * 2", "{u}({v})",
    "copy.deepcopy({u})", "tuple({u})", "zip({u}, {v})", "enumerate({u})", "{u}.view(-1)", "{u}.detach()",
    "[*{u}, *{v}]", "{{**{u}}}", "unknown({u})", "{u}.exp()", "torch.cat([{u}, {v}])", "type({u})", "{u}.__class__",
    "{u}.__dict__", "{u}[{v}]", "{u}[1:]", "map({u}, {v})", "vars({u})", "getattr({u}, 'child')", "{u} or {v}",
    "(x for x in {u})", "torch.nn", "make({u})", "{u}.copy()", "nn.Parameter({u})",
)  # fmt: skip

CHANGES = (
    "{u}.append({v})", "{u}.append({u})", "{u}.extend({v})", "{u}[0] = {v}", "{u}['k'] = {v}", "{u}.child = {v}",
    "{u}.child = {v}\n{v}.parent = {u}", "{u}.child = {u}", "{u}.update({v})", "{u}.insert(0, {v})",
    "{u}.add_module('m', {v})", "setattr({u}, 'child', {v})", "setattr({u}, unknown, {v})", "{u} += [{v}]",
    "{u}.next = {u}.prev = {v}", "{u}.setdefault('k', {v})", "{u}[:] = {v}", "{u}[1:2] = {v}",
    "{u}.register_buffer('w', {v})", "{u}.forward = {v}", "{u}, {v} = {v}, {u}", "{u}.layers.append({v})",
    "({u}, *{v}) = {w}", "{u}.pop()", "{u}.grad = {v}", "{u}.data = {v}", "{u}.__call__ = {v}",
    "{u}.config.child = {u}.config", "{u}.held = [{u}, {v}]", "globals()['shared'] = {u}",
    "{u}.__dict__.update(child={v})", "{u}[{v}] = {w}", "del {u}.child",
)  # fmt: skip

USES = (
    "torch.tensor({u})", "torch.stack({u})", "torch.cat({u}, dim=0)", "{u}.sum().backward()", "{u}.train()",
    "{u}.eval()", "torch.optim.SGD({u}.parameters(), lr=1.0).step()", "torch.optim.SGD({u}, lr=1.0)",
    "torch.optim.Adam([{{'params': {u}}}])", "isinstance({u}, {v})", "{u} in {v}", "print({u}, {v})",
    "torch.ones(3)[{u}]", "torch.ones(3)[{u}] = {v}", "f'{{{u}}}'", "{u}.mul_({v})", "{u}.zero_()", "{u}({v})",
    "{u}({u})", "unknown({u})", "unknown({u}).add_(1)", "copy.deepcopy({u})", "{u}.apply({v})",
    "{u}.requires_grad_(False)", "{u}.named_parameters()", "{u}.modules()", "torch.where({u}, {v}, {w})",
    "torch.einsum('i,i', {u}, {v})", "torch.autograd.grad({u}, {v})", "torch.autograd.backward({u})",
    "{u}.backward()", "{u}.step()", "{u}.zero_grad()", "torch.nn.utils.clip_grad_norm_({u}, 1.0)",
    "{u}.state_dict()", "{u}.load_state_dict({v})", "assert {u} == {v}",
    "torch.utils.data.DataLoader({u}, batch_size=2)", "{u}.register_forward_hook({v})", "torch.equal({u}, {v})",
    "{u}.item()", "torch.log(1 + {u})", "torch.softmax({u}, dim=0)", "{u}.get_submodule('child.child')", "len({u})",
    "next({u}.parameters())", "max({u}, {v})", "sum({u})", "sorted({u}, key={v})", "{u} is {v}", "super({u})",
    "hasattr({u}, 'child')", "{u}.retain_grad()",
)  # fmt: skip

HEADS = (
    "if {u}:", "if flag:", "if {u} is None:", "if isinstance({u}, {v}):", "for {w} in {u}:", "for {u} in range(3):",
    "for _ in range(100):", "for {u}.child in {v}:", "while {u}:", "while flag:", "with torch.no_grad():",
    "with {u} as {v}:", "try:", "for {u}, {v} in {w}:", "for p in {u}.parameters():",
)  # fmt: skip

DEEP = (
    "{u} = [{u}]", "{u} = ({u}, {u})", "{u} = {{'k': {u}}}", "{u} = Node({u})", "{u} = Layer({u})",
    "{u} = lambda x, {u}={u}: {u}", "{u} = functools.partial({u}, {v})", "{u} = {u}.child",
    "{u}.child = {v}\n{v} = {u}", "{u} = {u}.view(-1)", "{u} = {u} * {v}", "{u} = nn.Sequential({u})",
    "{u} = {u}[0]", "{u} = {u} if flag else {v}", "{u} = torch.cat([{u}, {u}])",
)  # fmt: skip

TAILS = (".child", "[0]", "(a)", ".child(b)", ".exp()", " + b", " ** b", ".view(2)", " if c else d", " and b", "[a]")

HEADER = """import copy
import functools

import torch
from torch import nn

import unknown
{imports}

flag = unknown.flag
a = []
b = {{}}
c = unknown.value
d = torch.ones(2, requires_grad=True)


class Node:
    def __init__(self, child=None, parent=None):
        self.child = child
        self.parent = parent

    def __call__(self, x):
        return self.child(x)

    @property
    def self(self):
        return self.child.self


class Box(dict):
    def __getitem__(self, key):
        return self[key]


class Layer(nn.Module):
    def __init__(self, child=None, config=None):
        super().__init__()
        self.child = child
        self.config = config
        self.layers = nn.ModuleList([child, self])
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        x = self.linear(x)
        for layer in self.layers:
            x = layer(x)
        return self.child(x)


def call(function, *arguments):
    return function(*arguments)


def make(child):
    child.parent = Layer(child, child)
    return child.parent
"""

FAULT = """import torch


def fault():
    weight = torch.ones(2, requires_grad=True)
    loss = (weight * weight).sum()
    loss.backward()
    loss.backward()
"""
"""What is found in every file; it stands first, as a statement that certainly raises ends what stands below it."""


class _Writer:
    """Writes one file."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []

    def filled(self, template: str) -> str:
        u, v, w = (self.chance.choice(NAMES) for _ in range(3))
        return template.format(u=u, v=v, w=w)

    def put(self, text: str, indent: int) -> None:
        self.lines += [f"{'    ' * indent}{line}" for line in text.split("\n")]

    def value(self) -> str:
        return self.filled(self.chance.choice(VALUES))

    def statement(self, indent: int, room: int) -> None:
        kind = self.chance.random()
        if kind < 0.3:
            self.put(f"{self.chance.choice(NAMES)} = {self.value()}", indent)
        elif kind < 0.6:
            self.put(self.filled(self.chance.choice(CHANGES)), indent)
        elif kind < 0.8:
            self.put(self.filled(self.chance.choice(USES)), indent)
        elif kind < 0.85:
            self.deep(indent)
        elif kind < 0.95 and room:
            head = self.filled(self.chance.choice(HEADS))
            self.put(head, indent)
            self.block(indent + 1, room - 1)
            if head == "try:":
                self.put("except ValueError:", indent)
                self.block(indent + 1, room - 1)
            elif head.startswith("if") and self.chance.random() < 0.5:
                self.put("else:", indent)
                self.block(indent + 1, room - 1)
        elif room:
            name = self.chance.choice(NAMES)
            self.put(f"def {name}({', '.join(self.chance.sample(NAMES, 2))}):", indent)
            self.block(indent + 1, room - 1)
            self.put(f"return {self.value()}", indent + 1)

    def deep(self, indent: int) -> None:
        if self.chance.random() < 0.5:
            text = self.filled(self.chance.choice(DEEP))
            for _ in range(self.chance.choice((3, 10, 30, 120))):
                self.put(text, indent)
        else:
            tail = self.chance.choice(TAILS)
            self.put(f"{self.chance.choice(NAMES)} = a{tail * self.chance.choice((3, 30, 150))}", indent)

    def block(self, indent: int, room: int) -> None:
        before = len(self.lines)
        for _ in range(self.chance.randint(1, 4)):
            self.statement(indent, room)
        if len(self.lines) == before:
            self.put("pass", indent)


def program(number: int) -> dict[str, str]:
    """
    The files of a program, by name; `main.py` among them.

    Parameters
    ----------
    number
        Which one.
    """
    chance = random.Random(number)
    names = ["main", *[f"other{index}" for index in range(chance.choice((0, 0, 0, 1, 3)))]]
    files: dict[str, str] = {}
    for name in names:
        writer = _Writer(chance)
        ways = ("from {0} import *", "import {0}", "from {0} import a, b, Layer", "from {0} import c as d, make")
        others = names[1:] if name == "main" else names
        imports = [chance.choice(ways).format(other) for other in others if chance.random() < 0.7]
        for _ in range(chance.randint(3, 12)):
            writer.statement(0, 3)
        for function in range(chance.randint(0, 2)):
            writer.put(f"\n\ndef function{function}(a, b, c=None):", 0)
            writer.block(1, 2)
        if chance.random() < 0.4:
            writer.put("\n\nclass Made(Layer):", 0)
            for method in chance.sample(("__init__(self, a, b)", "forward(self, a)", "step(self, c, d)"), 2):
                writer.put(f"def {method}:", 1)
                writer.put("super().__init__()" if method.startswith("__") else "a = self", 2)
                writer.block(2, 2)
        files[f"{name}.py"] = (
            FAULT + "\n\n" + HEADER.format(imports="\n".join(imports)) + "\n\n" + "\n".join(writer.lines) + "\n"
        )
    return files
