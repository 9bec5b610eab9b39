"""
Whether a Module of the package's other files takes gradients when it is called, as their texts say. Evaluates nothing.

By names alone: whatever has a function's name is taken for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

_TAKING = ("autograd.grad", "create_graph", "torch.func")
_MOST_NAMES: Final = 24
"""Functions that are looked for; where there are more of them, one may be called by a `forward`."""


def takes_gradients(mentioning: Callable[[str], Iterator[tuple[str, str]]]) -> bool:
    """
    Whether a `forward` of another file takes gradients, itself or by functions that it calls.

    Parameters
    ----------
    mentioning
        The other files that hold a word: their paths, and what is in them (`Project.mentioning`).
    """
    known: set[str] = set()
    pending = list(_TAKING)
    while pending:
        word = pending.pop()
        for _, text in mentioning(word):
            for name in _functions_with(text, word):
                if name == "forward":
                    return True
                if name not in known and not name.startswith("__"):
                    known.add(name)
                    pending.append(name)
        if len(known) > _MOST_NAMES:
            return True
    return False


def _functions_with(text: str, word: str) -> Iterator[str]:
    """The names of the functions in whose bodies a word is used, not only written in a text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    last = word.rpartition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
            _uses(each, word, last) for statement in node.body for each in ast.walk(statement)
        ):
            yield node.name


def _uses(node: ast.AST, word: str, last: str) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == word and not (isinstance(node.value, ast.Constant) and node.value.value is False)
    if isinstance(node, ast.Attribute):
        return node.attr == last and (last == word or ast.unparse(node).endswith(word))
    return isinstance(node, ast.Name) and node.id == word
