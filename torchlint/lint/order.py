"""
What a node of a file stands in, and which of two nodes a function comes to first.

Told from Python's own tree alone: knows of no test, and judges nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.syntax.children import children, walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Order:
    """
    Where the nodes of one file stand.

    Parameters
    ----------
    tree
        The file.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node is a part of."""
        return {part: node for node in walk(self._tree) for part in children(node)}

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What a node stands in, the innermost first, each with the part of it."""
        while node in self.parents:
            above = self.parents[node]
            yield above, node
            node = above

    def comes_after(self, test: ast.AST, node: ast.AST) -> bool:
        """
        Whether a function comes to a node first, and to a test after it, the first time in a loop, too; or to only one
        of them, as they stand in two arms of a branch: what is asked there keeps nothing from here.
        """
        around = [test, *(above for above, _ in self.above(test))]
        if self._run_in(test) is not self._run_in(node) or test in (above for above, _ in self.above(node)):
            return False
        branch, arm = next((above, part) for above, part in self.above(node) if above in around)
        if isinstance(branch, ast.If) and arm in branch.orelse:
            other = around[around.index(branch) - 1]
            return other in branch.body and not self._is_repeated(branch)
        return _place(test) > _place(node)

    def _is_repeated(self, node: ast.AST) -> bool:
        """Whether a loop stands around a node in the same function."""
        run_in = self._run_in(node)
        for above, _ in self.above(node):
            if above is run_in:
                return False
            if isinstance(above, (ast.For, ast.AsyncFor, ast.While)):
                return True
        return False

    def _run_in(self, node: ast.AST) -> ast.AST | None:
        """What has to be called, or gone through, for a node to be evaluated: the innermost function around it."""
        for above, part in self.above(node):
            if isinstance(above, ast.GeneratorExp) or (isinstance(above, _FUNCTIONS) and part in above.body):
                return above
            if isinstance(above, ast.Lambda) and part is above.body:
                return above
        return None


def _place(node: ast.AST) -> tuple[int, int]:
    """Where a node begins: line and column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
