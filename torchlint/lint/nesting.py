"""
Where a place stands in a file: in which function, on which arm of which branch, before or after a test.

Told from Python's own tree. Knows nothing of torch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.syntax.children import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAY_NOT = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Match),
    *(ast.Try, getattr(ast, "TryStar", ast.Try)),
    *(ast.Lambda, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What is in one of these is not evaluated whenever that is come to."""
DECIDES = (ast.If, ast.IfExp, ast.Match)


class Nesting:
    """
    How the nodes of one file are nested.

    Parameters
    ----------
    tree
        The file.
    is_script
        It is run by itself, and is no module of a package.
    """

    def __init__(self, tree: ast.Module, is_script: bool) -> None:
        self._tree = tree
        self._is_script = is_script

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return {part: node for node in walk(self._tree) for part in children(node)}

    def above(self, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        """What a node stands in, the innermost first, each with the part of it."""
        while node in self.parents:
            above = self.parents[node]
            yield above, node
            node = above

    def is_in_what_is_asked(self, test: ast.AST, node: ast.AST) -> bool:
        """Whether a node is evaluated before a test has decided anything: `if isinstance(model, torch.gone.Module)`."""
        for above, part in self.above(node):
            if above is test:
                return isinstance(above, DECIDES) and self.is_taken(above, part)
            if isinstance(above, MAY_NOT) and not self.is_taken(above, part):
                return False
        return False

    def comes_after(self, test: ast.AST, node: ast.AST) -> bool:
        """
        Whether a function comes to a node first, and to a test after it, the first time in a loop, too; or to only one
        of them, as they stand in two arms of a branch: what is asked there keeps nothing from here.
        """
        around = [test, *(above for above, _ in self.above(test))]
        if self.run_in(test) is not self.run_in(node) or test in (above for above, _ in self.above(node)):
            return False
        branch, arm = next((above, part) for above, part in self.above(node) if above in around)
        if isinstance(branch, ast.If) and arm in branch.orelse:
            other = around[around.index(branch) - 1]
            return other in branch.body and not self._is_repeated(branch)
        return _place(test) > _place(node)

    def _is_repeated(self, node: ast.AST) -> bool:
        """Whether a loop stands around a node in the same function."""
        run_in = self.run_in(node)
        for above, _ in self.above(node):
            if above is run_in:
                return False
            if isinstance(above, (ast.For, ast.AsyncFor, ast.While)):
                return True
        return False

    def run_in(self, node: ast.AST) -> ast.AST | None:
        """What has to be called, or gone through, for a node to be evaluated: the innermost function around it."""
        for above, part in self.above(node):
            if isinstance(above, ast.GeneratorExp) or (isinstance(above, FUNCTIONS) and part in above.body):
                return above
            if isinstance(above, ast.Lambda) and part is above.body:
                return above
        return None

    def is_taken(self, above: ast.AST, part: ast.AST) -> bool:
        """Whether a part of a branch is evaluated whenever that is come to: a test, the first operand, all of a try."""
        if isinstance(above, (ast.If, ast.IfExp, ast.While)):
            return part is above.test or (
                self._is_script and isinstance(above, ast.If) and part in above.body and _is_main(above.test)
            )
        if isinstance(above, (ast.For, ast.AsyncFor)):
            return part is above.iter
        if isinstance(above, ast.BoolOp):
            return part is above.values[0]
        if isinstance(above, ast.Match):
            return part is above.subject
        return isinstance(above, ast.Lambda) and part is above.args


def _place(node: ast.AST) -> tuple[int, int]:
    """Where a node begins: line and column."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _is_main(test: ast.expr) -> bool:
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")
