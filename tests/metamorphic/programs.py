"""
The programs in which something is hidden: all that the tests hold, and random ones by seed.

Knows where programs stand, nothing of what is done with them.
"""

from __future__ import annotations

import ast
import random
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import expectations
from differential.generator import generate

TESTS = Path(__file__).parents[1]
RANDOM = 0.4
"""The share of random programs among those drawn."""


@dataclass(frozen=True, slots=True)
class Base:
    """A program, without markers and comments, and where it comes from."""

    name: str
    text: str


@lru_cache(maxsize=1)
def written() -> tuple[Base, ...]:
    """The cases, the rules' examples, the scripts, and the examples of the documentation."""
    found = list(_cases())
    for rule in expectations.rules():
        for kind in ("bad", "good"):
            for number, example in enumerate(getattr(rule, kind), start=1):
                found.append(Base(f"{rule.code} {kind} {number}", example.source))
    for folder in (TESTS / "scripts", TESTS.parent / "docs" / "examples"):
        for path in sorted(folder.rglob("*.py")):
            found.append(Base(f"{path.parent.name}/{path.name}", path.read_text(encoding="utf-8")))
    return tuple(Base(each.name, plain(each.text)) for each in found)


def _cases() -> list[Base]:
    found = []
    for path in sorted((TESTS / "cases").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        for function in tree.body:
            if isinstance(function, ast.FunctionDef):
                body = function.body[1:] if ast.get_docstring(function) else function.body
                text = ast.unparse(ast.Module([*imports, *body], []))
                found.append(Base(f"{path.name} {function.name}", text))
    return found


def plain(text: str) -> str:
    """The program as `ast` writes it: what is compared with it is written so, too."""
    return ast.unparse(ast.parse(text)) + "\n"


def drawn(rng: random.Random) -> Base:
    """A written program or a random one."""
    if rng.random() < RANDOM:
        seed, rare = rng.randrange(10**9), rng.random() < 0.5
        return Base(f"random {seed}{' rare' if rare else ''}", plain(generate(seed, rare=rare)))
    salt = zlib.crc32(f"{rng.random()} ".encode())
    number = min(range(len(_names())), key=[zlib.crc32(name, salt) for name in _names()].__getitem__)
    return written()[number]  # of the name that comes first with this salt: a new one moves few draws


@lru_cache(maxsize=1)
def _names() -> tuple[bytes, ...]:
    return tuple(base.name.encode() for base in written())
