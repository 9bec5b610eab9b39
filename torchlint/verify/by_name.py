"""
Which word an argument has to be where something is looked up by it: `getattr(nn, name)`, `table[name]`.

Runs inside the child. Reads the statement that refused, and evaluates parts of it in the frame that raised.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from torch import nn

from torchlint.verify.kinds import Frame, Wish, equal
from torchlint.verify.usage import says

_CHOICES = 4
"""So many of the words that would do are tried."""
_LIKELY = ("ReLU", "relu", "Identity", "BatchNorm2d", "BatchNorm1d", "LayerNorm", "Adam")
"""Of what a library has many: what most programs ask for."""
_NAMED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("loss", "criterion"), ("MSELoss", "CrossEntropyLoss", "mse_loss")),
    (("norm", "bn"), ("BatchNorm2d", "LayerNorm", "BatchNorm1d")),
    (("optim", "optimizer", "opt"), ("Adam",)),
    (("pool", "pooling"), ("MaxPool2d", "max_pool2d")),
    (("rnn", "cell"), ("GRU", "LSTM")),
    (("conv",), ("Conv2d", "Conv1d")),
    (("init", "initializer"), ("xavier_uniform_", "normal_")),
)
"""The same where the name of the argument says which."""


def keys(statement: ast.stmt, at: Frame, error: KeyError) -> Iterator[Wish]:
    """The keys of the table that has no such one."""
    key = error.args[0] if error.args else ""
    for node in ast.walk(statement):
        if not isinstance(node, ast.Subscript):
            continue
        try:
            table, asked = at.value(node.value), at.value(node.slice)
        except Exception:
            continue
        if isinstance(table, (Mapping, nn.ModuleDict, nn.ParameterDict)) and equal(asked, key):
            for name, attribute in at.argument(node.slice):
                yield from (Wish(name, attribute, "value", each) for each in reversed(list(table.keys())[:_CHOICES]))
            for name, made in at.given.items():
                if isinstance(made, (list, tuple)) and any(equal(each, asked) for each in made):
                    yield Wish(name, "", "value", tuple(itertools.islice(itertools.cycle(table.keys()), len(made))))


def attributes(statement: ast.stmt, at: Frame) -> Iterator[Wish]:
    """The names that something has of which another one was asked by `getattr`."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(ast.Name("getattr"), [of, name]):
                try:
                    owner, asked = at.value(of), at.value(name)
                except Exception:
                    continue
                if isinstance(asked, str) and hasattr(owner, asked):
                    continue
                for argument, attribute in at.argument(name):
                    words = reversed(_names(owner, asked, attribute or argument))
                    yield from (Wish(argument, attribute, "value", word) for word in words)


def _names(owner: Any, asked: Any, argument: str) -> list[str]:
    own = [each for each in dir(owner) if not each.startswith("_")]
    same = [each for each in own if isinstance(asked, str) and each.lower() == asked.lower()]
    named = [word for words, names in _NAMED for word in names if any(says(argument, each) for each in words)]
    likely = [each for each in (*named, *_LIKELY) if each in own]
    more = [] if isinstance(owner, ModuleType) else [each for each in own if callable(getattr(owner, each, None))]
    return list(dict.fromkeys([*same, *likely, *more]))[:_CHOICES]
