"""
Arguments as an example of the project writes them: a configuration, another Module, a class of torch.

Runs inside the child. Evaluates what is made of the project's own names and of torch's, and nothing else; what does not
work by itself is left to be guessed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from torchlint.verify.attempt import limited

SECONDS, MOST = 0.5, 12
"""Of processor time that one argument may take, and so many are evaluated for one class."""


def values(target: type[Any], texts: Mapping[str, str], before: dict[str, Any]) -> dict[str, Any]:
    """
    The arguments that have a value.

    Parameters
    ----------
    target
        The class that takes them: names are looked up beside it, then in the other modules of its package.
    texts
        The arguments' expressions.
    before
        What expressions were evaluated to before, `...` where they were not; it is completed, up to a number.
    """
    for text in texts.values():
        if text not in before and len(before) < MOST:
            before[text] = _value(text, target.__module__)
    return {name: before[text] for name, text in texts.items() if before.get(text, ...) is not ...}


def _value(text: str, module: str) -> Any:
    try:
        tree = ast.parse(text, mode="eval")
        known = dict(_names(tree, module))
        with limited(SECONDS):
            return eval(compile(tree, "<example>", "eval"), {"__builtins__": {}}, known)
    except Exception:  # it needs more than the example shows
        return ...


def _names(tree: ast.AST, module: str) -> Iterator[tuple[str, Any]]:
    """The names of an expression; raises `LookupError` if one is nobody's of the project and of torch."""
    package = module.partition(".")[0]
    own = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
    beside = [vars(sys.modules[name]) for name in (module, *sorted(own)) if name in sys.modules]
    for name in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}:
        value = next((each[name] for each in beside if name in each), None)
        value = sys.modules[name] if value is None and name in ("torch", package) else value
        origin = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        if value is None or str(origin).partition(".")[0] not in (package, "torch"):
            raise LookupError(name)
        yield name, value
