"""
What a visitor rule may ask about the file it looks at: names, text, places, settings.

Answers from libcst's own metadata, each kind of it computed when a rule asks for the first time. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torchlint.record import record
from torchlint.syntax import cst
from torchlint.syntax.text import Span
from torchlint.syntax.tree import Source
from torchlint.target import Target

if TYPE_CHECKING:
    from libcst.metadata import Scope


@record(frozen=True)
class Settings:
    """
    What the configuration says to one rule.

    Attributes
    ----------
    target
        The releases of torch that the file is to run on.
    options
        The table `[tool.torchlint.rules.<name>]`, with the rule's own values where it says nothing.
    """

    target: Target
    options: Mapping[str, Any]


class File:
    """
    The file that a visitor rule looks at.

    Attributes
    ----------
    path
        As shown to the user.
    module
        Its libcst tree.
    settings
        What the configuration says to the rule that is asked.
    """

    def __init__(self, source: Source, settings: Settings, shared: File | None = None) -> None:
        self.path = source.path
        self.module = source.module
        self.settings = settings
        self._source = source
        self._shared = shared

    def with_settings(self, settings: Settings) -> File:
        """The same file for another rule; what was computed of it is kept."""
        return File(self._source, settings, self._shared or self)

    def names(self, node: cst.CSTNode) -> frozenset[str]:
        """
        What a name, an attribute or the callee of a call stands for, through imports and aliases (`torch.load`,
        `torch.nn.functional.softmax`, `builtins.print`); several where the file binds it in several ways, empty for
        what the file itself defines, and for what only running it would tell.
        """
        from libcst.metadata import QualifiedNameSource

        scope = (self._shared or self)._scopes.get(node.func if isinstance(node, cst.Call) else node)
        if scope is None:
            return frozenset()
        found = scope.get_qualified_names_for(node)
        return frozenset(each.name for each in found if each.source is not QualifiedNameSource.LOCAL)

    def code(self, node: cst.CSTNode) -> str:
        """The source text of a node as it stands in the file."""
        return self._source.code(node)

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands; lines and columns count from 1."""
        return self._source.span(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node that holds a node; None for the module."""
        return self._source.parents.get(node)

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement line, or the compound statement, that holds a node, or is it: what a fix replaces."""
        found: cst.CSTNode | None = node
        while found is not None and not isinstance(found, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            found = self.parent(found)
        return found or self.module

    @cached_property
    def _scopes(self) -> Mapping[cst.CSTNode, Scope | None]:
        from libcst.metadata import MetadataWrapper, ScopeProvider

        return MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(ScopeProvider)
