"""
A file as its places alone tell it: what a finding needs of a file of which nothing is parsed by libcst.

Stands where a `Source` stands while findings are made. Whatever only a tree tells raises `NodeWantedError`.
"""

from __future__ import annotations

from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import NodeWantedError
from torchlint.syntax.tree import Source, Span


class Unparsed(Source):
    """
    A file without a tree.

    Parameters
    ----------
    path, text
        The file, as shown to the user, and what is in it.
    nodes
        What knows its places.
    """

    def __init__(self, path: str, text: str, nodes: Nodes) -> None:
        self.path = path
        self.text = text
        self._nodes = nodes

    def span(self, node: object) -> Span:
        """Where a node stands, by its place."""
        return self._nodes.span(node)  # type: ignore[arg-type]

    def code(self, node: object) -> str:
        """How a node is written, by its place."""
        return self._nodes.code(node)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        raise NodeWantedError
