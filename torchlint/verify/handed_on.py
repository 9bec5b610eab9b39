"""
What an argument would have to be that a refused statement hands on: a word of which the refusal lists those that it
takes, and settings that are keywords of a call (`build(**cfg.args)`).

Runs inside the child. Reads the statement and the refusal, and evaluates parts of the statement in the frame that
raised; calls nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from torchlint.verify import values
from torchlint.verify.anything import Anything
from torchlint.verify.kinds import Frame, Wish

_CHOICES = 4
"""So many of the words that would do are tried."""
_SIZE = 8
_LACKING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)")
_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")
_QUOTED = re.compile(r"['\"`]([A-Za-z][\w.+-]*)['\"`]")


def words(statement: ast.stmt, message: str, at: Frame) -> Iterator[Wish]:
    """The words that a refusal lists, for the argument that is a word which it quotes, or the text beside it."""
    quoted = list(dict.fromkeys(_QUOTED.findall(message)))
    if len(quoted) < 2:
        return
    for node in ast.walk(statement):
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        try:
            value = at.value(node)
        except Exception:  # it is not bound yet
            continue
        if isinstance(value, str) and value in quoted:
            others = [word for word in quoted if word != value][:_CHOICES]
            yield from (Wish(*found, "value", word) for found in at.argument(node) for word in reversed(others))


def keywords(statement: ast.stmt, message: str, at: Frame) -> Iterator[Wish]:
    """Settings with what a call lacks that they are the keywords of; without what it does not take."""
    lacking, unknown = _LACKING.search(message), _UNKNOWN.search(message)
    if lacking is None and unknown is None:
        return
    for node in ast.walk(statement):
        if not isinstance(node, ast.keyword) or node.arg is not None:
            continue
        try:
            held = at.value(node.value)
        except Exception:
            continue
        known: dict[str, Any] = dict(held) if isinstance(held, Mapping) and unknown is None else {}
        for name in () if lacking is None else re.findall(r"'(\w+)'", lacking[1]):
            made = values.scalar(name, _SIZE, computes=False)
            known[name] = Anything(made) if type(made) is int and made == _SIZE else made
        if unknown is None or held:
            yield from (Wish(*found, "value", known) for found in at.argument(node.value))
