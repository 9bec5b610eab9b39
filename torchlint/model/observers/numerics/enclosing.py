"""
In which functions and classes of a file an expression stands, and whether anything reads what it is bound to.

Reads the IR of a whole file, so it is asked only where there is something to tell. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from torchlint.syntax import ir

_REACHING = frozenset(
    """
    children named_children _modules __dict__ vars getattr get_submodule attrgetter create_feature_extractor
    """.split()  # noqa: SIM905
)
"""What reaches an attribute, or a layer that one holds, without its name."""
_RUNS_ALL = frozenset({"Sequential", "ModuleList", "ModuleDict"})

Definition = ir.FunctionDef | ir.ClassDef


def definitions_of(program: ir.Program, nodes: Collection[int]) -> dict[int, list[Definition]]:
    """By the identity of each node: the definitions around it, the outermost first."""
    found: dict[int, list[Definition]] = {}
    for statement in ir.everything(program.body):
        if isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            for each in ir.walk(statement):
                if id(each) in nodes:
                    found.setdefault(id(each), []).append(statement)
    return found


def is_unread(program: ir.Program, definitions: list[Definition], node: int) -> str:
    """
    The attribute of `self` to which an expression is bound, if no line of the file reads it.

    "" where something may reach it otherwise: a base class whose `forward` is elsewhere, a loop over the layers.
    """
    owner = next((each for each in reversed(definitions) if isinstance(each, ir.ClassDef)), None)
    if owner is None or not any(isinstance(each, ir.FunctionDef) and each.name == "forward" for each in owner.body):
        return ""
    bases = {getattr(each.value, "attr", getattr(each.value, "id", "")) for each in owner.bases}
    held = _held(owner, node)
    if bases & _RUNS_ALL or not held:
        return ""
    set_here: set[int] = set()
    inside = {id(each) for each in ir.walk(owner)}
    for each in ir.walk(program.body):
        if isinstance(each, ir.Assign):
            set_here.update(map(id, each.targets))
        elif isinstance(each, ir.Attribute):
            of_another = id(each) in inside and getattr(each.value, "id", "self") != "self"
            if (each.attr in _REACHING and not of_another) or (each.attr == held and id(each) not in set_here):
                return ""
        elif isinstance(each, ir.Name):
            if each.id in _REACHING:
                return ""
        elif isinstance(each, ir.Constant) and each.value == held:
            return ""
    return held


def _held(owner: ir.ClassDef, node: int) -> str:
    """The attribute of `self` that an assignment gives a value in which a node stands."""
    for statement in ir.everything(owner.body):
        if not isinstance(statement, ir.Assign) or statement.value is None or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ir.Attribute) or not isinstance(target.value, ir.Name):
            continue
        if target.value.id == "self" and any(id(each) == node for each in ir.walk(statement.value)):
            return target.attr
    return ""
