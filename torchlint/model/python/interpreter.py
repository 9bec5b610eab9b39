"""
The interpreter: a run of Python with all transfer functions, each in the table of its module by the node it is for.

Puts together; runs nothing.
"""

from __future__ import annotations

from torchlint.model.python import (
    attributes,
    augmented,
    binding,
    branches,
    calls,
    comprehensions,
    contexts,
    decisions,
    definitions,
    errors,
    expressions,
    loops,
    operators,
    statements,
    subscripts,
)
from torchlint.model.python.run import Expressions, Run, Statements
from torchlint.model.python.unknown_code import unknown_call

EXPRESSIONS: Expressions = {
    **expressions.EXPRESSIONS,
    **attributes.EXPRESSIONS,
    **subscripts.EXPRESSIONS,
    **operators.EXPRESSIONS,
    **decisions.EXPRESSIONS,
    **comprehensions.EXPRESSIONS,
    **calls.EXPRESSIONS,
}
STATEMENTS: Statements = {
    **statements.STATEMENTS,
    **binding.STATEMENTS,
    **augmented.STATEMENTS,
    **branches.STATEMENTS,
    **loops.STATEMENTS,
    **contexts.STATEMENTS,
    **errors.STATEMENTS,
    **definitions.STATEMENTS,
}


def interpreter() -> Run:
    """A run that has followed nothing yet."""
    return Run(EXPRESSIONS, STATEMENTS, calls.CALLEES, unknown_call)
