"""
libcst, loaded when it is needed: most runs find nothing, and look into no node.

`from torchlint.syntax import cst` stands where `import libcst as cst` would. Until something of libcst is needed, the
kinds of nodes that places pass for (`kinds`) are bare classes of the same names, below each other as libcst's are: so
one can ask what stands at a place, and write types. Nothing may keep such a class for later, as at the top of a module:
whoever imports libcst, the bare ones are gone before it is there.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from libcst import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if "libcst" not in sys.modules and name in _BARE:
            return _BARE[name]
        import libcst

        found = globals()[name] = getattr(libcst, name)
        return found


class _Bare:
    """What passes for a class of libcst nodes; who makes one is given libcst's own."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        import libcst

        return getattr(libcst, cls.__name__)(*given, **named)


_BARE = {"CSTNode": type("CSTNode", (_Bare,), {})}
_BARE["BaseExpression"] = type("BaseExpression", (_BARE["CSTNode"],), {})
for _above, _names in {
    "BaseExpression": (
        *("Attribute", "Await", "BaseString", "BinaryOperation", "BooleanOperation", "Call", "Comparison", "Dict"),
        *("DictComp", "Ellipsis", "Float", "GeneratorExp", "IfExp", "Imaginary", "Integer", "Lambda", "List"),
        *("ListComp", "Name", "NamedExpr", "Set", "SetComp", "StarredElement", "Subscript", "Tuple"),
        *("UnaryOperation", "Yield"),
    ),
    "CSTNode": (
        *("AnnAssign", "Arg", "Assert", "Assign", "AugAssign", "Break", "ClassDef", "CompFor", "Continue", "Del"),
        *("ExceptHandler", "Expr", "For", "FunctionDef", "Global", "If", "Import", "ImportAlias", "ImportFrom"),
        *("Index", "Match", "MatchCase", "Module", "Nonlocal", "Param", "Pass", "Raise", "Return"),
        *("SimpleStatementLine", "SimpleStatementSuite", "Slice", "Try", "TryStar", "TypeAlias", "While", "With"),
        "WithItem",
    ),
}.items():
    _BARE.update((_name, type(_name, (_BARE[_above],), {})) for _name in _names)


class _Leaving:
    """Python asks it first whenever a module is imported for the first time (`sys.meta_path`)."""

    @classmethod
    def find_spec(cls, name: str, *_: object) -> None:
        """Take the bare classes out as libcst comes. It stays among those asked: Python is going through them."""
        if name == "libcst":
            for each in _BARE:
                globals().pop(each, None)


if not TYPE_CHECKING and "libcst" not in sys.modules:
    globals().update(_BARE)  # that `__getattr__` finds them takes ten times as long, and they are asked for often
    sys.meta_path.insert(0, _Leaving)
