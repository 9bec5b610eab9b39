"""
What a program that is loaded for its classes gets of the options of its command: their defaults, and of those that it
insists on what their names say.

Runs inside the child.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from torchlint.verify.values import scalar

_parse = argparse.ArgumentParser.parse_args


def parsed(
    parser: argparse.ArgumentParser, args: Sequence[str] | None = None, namespace: Any = None
) -> argparse.Namespace:
    """As `ArgumentParser.parse_args`, where that is given nothing to parse."""
    found: argparse.Namespace
    if args is not None:
        found = _parse(parser, args, namespace)
        return found
    wanted = [action for action in parser._actions if action.required and action.default is None]
    for action in wanted:
        action.required = False
    found, _ = parser.parse_known_args([], namespace)
    for action in wanted:
        if getattr(found, action.dest, None) is None:
            setattr(found, action.dest, _made_up(action))
    return found


def _made_up(action: argparse.Action) -> Any:
    value = next(iter(action.choices)) if action.choices else scalar(action.dest, 8, computes=False)
    if action.type is None and not action.choices:
        value = str(value)
    try:
        value = action.type(value) if callable(action.type) else value
    except Exception:  # it takes text of a kind of its own
        return None
    return [value] if action.nargs in ("+", "*") else value
