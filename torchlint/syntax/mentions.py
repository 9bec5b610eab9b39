"""
Which qualified names a text mentions, told from Python's own tree before libcst has made one.

An over-approximation without scopes: an import anywhere in the file counts everywhere in it. It decides only whether
the rules that need a name are run; they look for themselves. Knows no torch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable


def are_spelled(text: str, needs: Iterable[str]) -> bool:
    """Whether the last part of one of some names is written in a text: a first, cheap question."""
    words = {re.escape(need.rpartition(".")[2]) for need in needs}
    return bool(words) and re.search(rf"\b(?:{'|'.join(sorted(words))})\b", text) is not None


def mentioned(tree: ast.Module, needs: Collection[str]) -> frozenset[str]:
    """
    Those of some names that a text mentions.

    Parameters
    ----------
    tree
        The text.
    needs
        Qualified names (`torch.load`; also what is below them counts, and an import), or attributes of anything
        (`.data`).
    """
    imported: dict[str, set[str]] = {}
    found: set[str] = set()
    attributes: set[str] = set()
    chains: list[ast.Attribute | ast.Name] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                imported.setdefault(bound, set()).add(alias.name if alias.asname else bound)
                found.add(alias.name)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if alias.name == "*":  # whatever is in it may be meant by any name
                    found.add(str(node.module))
                    found.update(need for need in needs if need.startswith(f"{node.module}."))
                    continue
                imported.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
                found.add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
            chains.append(node)
        elif isinstance(node, ast.Name):
            chains.append(node)
    for chain in chains:
        found |= _qualified(chain, imported)
    return frozenset(
        need
        for need in needs
        if (need[1:] in attributes if need.startswith(".") else any(_is_below(name, need) for name in found))
    )


def _qualified(node: ast.expr, imported: dict[str, set[str]]) -> set[str]:
    rest = ""
    while isinstance(node, ast.Attribute):
        rest = f".{node.attr}{rest}"
        node = node.value
    return {name + rest for name in imported.get(node.id, ())} if isinstance(node, ast.Name) else set()


def _is_below(name: str, need: str) -> bool:
    return name == need or name.startswith(f"{need}.")
