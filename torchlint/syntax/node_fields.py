"""
Which fields of a class of the IR hold nodes, and which say what a node is. Asks the dataclass; knows no class of them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

_PLAIN = frozenset(
    ["id", "attr", "op", "ops", "kind", "name", "keyword", "star", "text", "bindings", "held", "is_generator"]
)
_ASIDE = frozenset(["at", "at_line", "defined", "naming", "unread"])
"""What says where a node stands, or what has been met while it was read."""
_named_of: dict[type[Any], tuple[str, ...]] = {}
_parts_of: dict[type[Any], tuple[str, ...]] = {}


def named(kind: type[Any]) -> tuple[str, ...]:
    """The attributes that say what a node of a class is: its fields, less those of `_ASIDE`."""
    known = _named_of.get(kind)
    if known is None:
        inside = ("body", "is_generator")
        names = [name for item in fields(kind) for name in (inside if item.name == "inside" else (item.name,))]
        known = _named_of[kind] = tuple(name for name in names if name not in _ASIDE)
    return known


def parts(kind: type[Any]) -> tuple[str, ...]:
    """The attributes of a class of nodes that may hold other nodes, last first."""
    if kind not in _parts_of:
        _parts_of[kind] = tuple(name for name in reversed(named(kind)) if name not in _PLAIN)
    return _parts_of[kind]
