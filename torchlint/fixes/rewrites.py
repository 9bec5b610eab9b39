"""
Source text that rules put into messages and fixes: the user's own expressions, and statements written out of place.

Pure functions from CST to text or `Edit`. They judge nothing, look at nothing but the nodes they are
given, and answer None where the rewriting would need to know more (so that no fix is better than a doubtful one).
"""

from __future__ import annotations

from collections.abc import Mapping

from torchlint.knowledge.ops.find import find
from torchlint.model.events import Carried, FreedGraphRead, GraphRetained, InplaceWrite, SavedTensorRead, numerics
from torchlint.model.events.writes import OldValueRead
from torchlint.rule import Edit, Fix
from torchlint.syntax import cst
from torchlint.syntax.place import is_place
from torchlint.syntax.tree import walk, written
from torchlint.truth import Truth

# Methods of `torch.Tensor` that end in "_" and have no out-of-place form, or one that means something else
# (tests/fixes/test_rewrites.py holds the set against the running torch).
NO_TWIN = frozenset(
    """
    apply_ cauchy_ copy_ exponential_ fill_ fill_diagonal_ geometric_ log_normal_ map2_ map_ normal_ random_
    resize_ resize_as_ resize_as_sparse_ set_ share_memory_ sparse_resize_ sparse_resize_and_clear_ uniform_ zero_
    embedding_renorm_ requires_grad_
    """.split()  # noqa: SIM905
)
# How tightly an operator binds (Python language reference, 6.17), and the operator of each augmented assignment.
_BINDS: dict[str, int] = {
    "BitOr": 0, "BitXor": 1, "BitAnd": 2, "LeftShift": 3, "RightShift": 3, "Add": 4, "Subtract": 4,
    "Multiply": 5, "Divide": 5, "FloorDivide": 5, "Modulo": 5, "MatrixMultiply": 5, "Power": 6,
}  # fmt: skip
_AUGMENTED: dict[str, tuple[str, int]] = {
    "BitOrAssign": ("|", 0), "BitXorAssign": ("^", 1), "BitAndAssign": ("&", 2), "LeftShiftAssign": ("<<", 3),
    "RightShiftAssign": (">>", 3), "AddAssign": ("+", 4), "SubtractAssign": ("-", 4),
    "MultiplyAssign": ("*", 5), "DivideAssign": ("/", 5), "FloorDivideAssign": ("//", 5),
    "ModuloAssign": ("%", 5), "MatrixMultiplyAssign": ("@", 5), "PowerAssign": ("**", 6),
}  # fmt: skip
# Methods that give their receiver itself where it is already what they make: the table's tensors are not.
_ITSELF = frozenset({"half", "to_dense", "dequantize"})
_ATOMS = frozenset({"Name", "Attribute", "Call", "Subscript", "Integer", "Float", "List", "Dict", "Set"})


def shown(node: cst.BaseExpression, name: str = "", limit: int = 40) -> str:
    """The user's name in backquotes, or else the expression itself, on one line and cut at `limit` characters."""
    text = name or " ".join(code(node).split())
    return f"`{text if len(text) <= limit else text[: limit - 1].rstrip() + '…'}`"


def code(node: cst.CSTNode) -> str:
    """The source text of a node; of one that is not parsed yet, what stands at its place, without parentheses."""
    return written(node) if is_place(node) else cst.Module([]).code_for_node(node)


def assignable(node: cst.CSTNode) -> bool:
    """Whether it is a plain name or a dotted one, so that a new tensor can be bound to it."""
    while isinstance(node, cst.Attribute) and not node.lpar:
        node = node.value
    return isinstance(node, cst.Name) and not node.lpar


def operand(node: cst.BaseExpression) -> str:
    """The text of an expression, in parentheses where it would not hold together as an operand or receiver."""
    holds = bool(node.lpar) or type(node).__name__ in _ATOMS
    return code(node) if holds else f"({code(node)})"


def is_atom(text: str) -> bool:
    """Whether the text is an expression that holds together wherever one may stand."""
    try:
        node = cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return False
    return bool(node.lpar) or type(node).__name__ in _ATOMS


def without_argument(call: cst.Call, argument: cst.Arg) -> str | None:
    """
    The call without one of its arguments and that argument's comma.

    None if a positional argument after it would take its place, or if a comment would be lost.
    """
    kept = [arg for arg in call.args if arg is not argument]
    if len(kept) == len(call.args) or has_comment(argument):
        return None
    at = call.args.index(argument)
    if argument.keyword is None and any(arg.keyword is None for arg in call.args[at + 1 :]):
        return None
    if at == len(kept) and kept:
        kept[-1] = kept[-1].with_changes(comma=argument.comma, whitespace_after_arg=argument.whitespace_after_arg)
    changes: dict[str, object] = {"args": kept}
    if not kept:
        changes["whitespace_before_args"] = cst.SimpleWhitespace("")
    return code(call.with_changes(**changes))


def has_comment(node: cst.CSTNode) -> bool:
    """Whether a comment stands in the node."""
    return any(isinstance(part, cst.Comment) for part in walk(node))


def under_no_grad(statement: cst.CSTNode) -> str | None:
    """A simple statement as the body of `with torch.no_grad():`, if no string of it spans lines."""
    return _below("with torch.no_grad():", statement) if isinstance(statement, cst.SimpleStatementLine) else None


def block_under_no_grad(block: cst.CSTNode) -> str | None:
    """A compound statement as the body of `with torch.no_grad():`, if no string of it spans lines."""
    return _below("with torch.no_grad():", block) if isinstance(block, cst.BaseCompoundStatement) else None


def under_main_guard(statement: cst.CSTNode) -> str | None:
    """A statement as the body of `if __name__ == "__main__":`, if no string of it spans lines."""
    if not isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        return None
    return _below('if __name__ == "__main__":', statement)


def as_definition(function: cst.Lambda, name: str) -> str | None:
    """A lambda of one line as a function of that name, and an empty line; None where a default would be moved."""
    parameters = function.params
    given = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    text = f"def {name}({code(parameters)}):\n    return {code(function.body)}\n"
    return None if text.count("\n") > 2 or any(each.default is not None for each in given) else text


def _below(header: str, statement: cst.SimpleStatementLine | cst.BaseCompoundStatement) -> str | None:
    for part in walk(statement):
        if isinstance(part, (cst.SimpleString, cst.FormattedStringText)) and "\n" in part.value:
            return None
    if isinstance(statement, cst.SimpleStatementLine):
        text = _line(statement)
    else:
        text = code(_without_tail(statement.with_changes(leading_lines=[]))).rstrip("\n")
    return "\n".join([header, *(f"    {line}" if line.strip() else "" for line in text.splitlines())])


def _without_tail(node: cst.CSTNode) -> cst.CSTNode:
    """A statement without the comments behind its last line, which stand outside of its place and stay there."""
    if isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        return node.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    for name in ("finalbody", "orelse", "handlers", "cases", "body"):
        last = getattr(node, name, None)
        if isinstance(last, cst.CSTNode):
            node = node.with_changes(**{name: _without_tail(last)})
        elif last:
            node = node.with_changes(**{name: [*last[:-1], _without_tail(last[-1])]})
        else:
            continue
        return node.with_changes(footer=[]) if isinstance(node, cst.IndentedBlock) else node
    return node


def inside_parameter(value: cst.BaseExpression, parameter: cst.Call) -> str | None:
    """`nn.Parameter(torch.rand(n)) ** 2` as `nn.Parameter(torch.rand(n) ** 2)`."""
    if not parameter.args or parameter.args[0].star or value is parameter:
        return None
    data, rest = parameter.args[0], parameter.args[1:]
    if data.keyword is not None and data.keyword.value != "data":
        return None
    inner = data.value
    if not inner.lpar and type(inner).__name__ not in _ATOMS:
        inner = inner.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    moved = value.deep_replace(parameter, inner)
    if not isinstance(moved, cst.BaseExpression):
        return None
    first = data.with_changes(value=moved, comma=cst.MaybeSentinel.DEFAULT if not rest else data.comma)
    return code(parameter.with_changes(args=[first, *rest], lpar=value.lpar, rpar=value.rpar))


def followed_by(statement: cst.CSTNode, text: str) -> str | None:
    """A simple statement, and `text` as the next one."""
    return f"{_line(statement)}\n{text}" if isinstance(statement, cst.SimpleStatementLine) else None


def detached(state: Carried) -> str | None:
    """The statement that cuts a state from the graphs of earlier iterations; None where what it is isn't known."""
    names = ", ".join(state.names)
    match state.kind:
        case "tensor":
            return f"{names} = " + ", ".join(f"{name}.detach()" for name in state.names)
        case "tuple":
            return f"{names} = tuple(each.detach() for each in {names})"
        case "list":
            return f"{names} = [each.detach() for each in {names}]"
    return None


def preceded_by(statement: cst.CSTNode, text: str) -> str | None:
    """`text`, and a simple statement as the next one."""
    return f"{text}\n{_line(statement)}" if isinstance(statement, cst.SimpleStatementLine) else None


def replaced(statement: cst.CSTNode, old: cst.BaseExpression, new: str) -> cst.CSTNode:
    """The statement with one of its expressions replaced by new source text."""
    changed = statement.deep_replace(old, cst.parse_expression(new))
    assert isinstance(changed, cst.CSTNode)
    return changed


def calls_method(node: cst.CSTNode, name: str) -> bool:
    """Whether the node is a call `t.name(...)`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == name


def one_for_all(event: GraphRetained) -> str:
    """What takes the place of several backwards of one graph, as an order."""
    if event.adds_up:
        return "call one backward on the sum of those losses (as weighted)"
    return "give those losses to one `torch.autograd.backward`"


def one_backward(first: cst.CSTNode, second: cst.CSTNode) -> str | None:
    """`a.backward()` and `b.backward()` as `(a + b).backward()`; both must be statements of their own."""
    one, other = _backward_statement(first), _backward_statement(second)
    if one is None or other is None:
        return None
    (root, _), (other_root, call) = one, other
    arguments = code(call.with_changes(func=cst.Name("f")))[1:]
    return f"({operand(root)} + {operand(other_root)}).backward{arguments}"


def attributes(node: cst.CSTNode, name: str) -> list[cst.Attribute]:
    """The places below a node where an attribute of that name is written."""
    return [part for part in walk(node) if isinstance(part, cst.Attribute) and part.attr.value == name]


def out_of_place(event: InplaceWrite | SavedTensorRead | OldValueRead) -> Fix | None:
    """
    The statement of a write with the write replaced by its out-of-place form: an unsafe fix.

    `c.mul_(2)` becomes `c = c.mul(2)`, `c *= 2` becomes `c = c * 2`, `relu(c, inplace=True)` and `add(a, b, out=c)`
    lose their argument, `y[2] = v` becomes `y = torch.select_scatter(y, v, 0, 2)`. None where there is no such form,
    or where the new tensor could not be bound to the name that was written, or would be bound to a mere view; nor where
    grad mode is not known to be on: what is computed without it has no graph, and would cut that of the written one.
    """
    line = event.statement
    if not isinstance(line, cst.SimpleStatementLine) or _writes_elsewhere(event) or _cuts(event):
        return None
    for small in line.body:
        if any(part is event.target_node for part in walk(small)):
            text = _small_out_of_place(small, event)
            if text is None or ("\n" in text and len(line.body) > 1):
                return None
            imports = ("import torch",) if "torch." in text else ()
            edits = (Edit(line, _line(line, small, text)),)
            return Fix(f"write `{text}`, out of place", edits, safe=False, imports=imports)
    return None


def no_freed_graph(event: FreedGraphRead) -> Fix | None:
    """The program with a state that is detached, or with one backward on the sum of two losses: an unsafe fix."""
    if event.carried and not event.built_in_init:
        detach = detached(event.carried)
        text = followed_by(event.statement, detach) if detach else None
        return Fix(f"detach the state: `{detach}`", (Edit(event.statement, text),), safe=False) if text else None
    text = one_backward(event.freeing_statement, event.statement) if event.consecutive else None
    if text is None or event.same_root:
        return None
    edits = (Edit(event.freeing_statement, ""), Edit(event.statement, text))
    return Fix(f"call backward once, on the sum: `{text}`", edits, safe=False)


def old_value_kept(event: OldValueRead) -> Fix | None:
    """
    The program with the old value left as it is: an unsafe fix. `nn.ReLU(inplace=True)` and `F.relu(x, inplace=True)`
    lose their argument, `F.relu_(x)` its underscore, `h += y` becomes `h = h + y`, `states.append(h)` gets a clone.
    """
    if event.how == "repeated":
        if not isinstance(event.node, cst.BaseExpression):
            return None
        text = f"{operand(event.node)}.clone()"
        return Fix(f"keep a copy: `{text}`", (Edit(event.node, text),), safe=False)
    if event.layer is not None:
        return _without_flag(event.layer)
    if event.how != "argument":
        return out_of_place(event)
    call = event.node
    if not isinstance(call, cst.Call):
        return None
    if event.spelling == "inplace":
        return _without_flag(call)
    if event.spelling == "function":
        text = code(call.func).removesuffix("_") + code(call)[len(code(call.func)) :]
    elif isinstance(call.func, cst.Attribute):
        text = code(call.with_changes(func=call.func.with_changes(attr=cst.Name(call.func.attr.value[:-1]))))
    else:
        return None
    return Fix(f"write `{text}`, out of place", (Edit(call, text),), safe=False)


def _without_flag(call: cst.Call) -> Fix | None:
    """`nn.ReLU(inplace=True)` without its argument."""
    flags = [each for each in call.args if each.keyword is not None and each.keyword.value == "inplace"]
    last = call.args[-1] if call.args else None
    if not flags and last is not None and last.keyword is None and code(last.value) == "True":
        flags = [last]
    text = without_argument(call, flags[0]) if len(flags) == 1 else None
    return Fix(f"write `{text}`, out of place", (Edit(call, text),), safe=False) if text is not None else None


def _cuts(event: InplaceWrite | SavedTensorRead | OldValueRead) -> bool:
    return event.grad_mode is not Truth.YES and event.target.requires_grad is not Truth.NO


def _writes_elsewhere(event: InplaceWrite | SavedTensorRead | OldValueRead) -> bool:
    """Whether the target is a mere view: a new tensor under its name would leave the base as it was."""
    if event.spelling == "indexed":
        return False
    return event.through == "view" if isinstance(event, SavedTensorRead) else event.target_is_view is Truth.YES


def _small_out_of_place(
    small: cst.BaseSmallStatement, event: InplaceWrite | SavedTensorRead | OldValueRead
) -> str | None:
    target = event.target_node
    if event.spelling == "augmented" and isinstance(small, cst.AugAssign):
        return _augmented(small)
    if event.spelling == "indexed" and isinstance(small, cst.Assign):
        return _scattered(small)
    for call in walk(small):
        if not isinstance(call, cst.Call):
            continue
        if event.spelling == "method" and isinstance(call.func, cst.Attribute) and call.func.value is target:
            if not _inplace(call.func.attr.value):  # `x.__iadd__(y)`
                return None
            return _written(small, *_chain(small, call))
        if event.spelling == "function" and call.args and call.args[0].value is target:
            return _written(small, call, _renamed_function(call), target)
        if event.spelling in ("out", "inplace"):
            argument = _keyword(call, event.spelling)
            if argument is not None and any(arg.value is target for arg in call.args):
                return _written(small, call, without_argument(call, argument), target)
    return None


def _chain(small: cst.BaseSmallStatement, call: cst.Call) -> tuple[cst.Call, str | None, cst.BaseExpression]:
    """The longest chain of in-place methods around a call: its outermost call, that without underscores, its base."""
    for outermost in walk(small):
        links: list[cst.Call] = []
        link: cst.BaseExpression | cst.CSTNode = outermost
        while isinstance(link, cst.Call) and isinstance(link.func, cst.Attribute) and _inplace(link.func.attr.value):
            links.append(link)
            link = link.func.value
        if any(one is call for one in links):
            break
    assert isinstance(link, cst.BaseExpression)
    text: str | None = code(link)
    for one in reversed(links):
        text = _renamed_method(one, text) if text is not None else None
    return links[0], text, link


def _inplace(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _renamed_method(call: cst.Call, receiver: str) -> str | None:
    assert isinstance(call.func, cst.Attribute)
    name = call.func.attr.value
    arguments = code(call.with_changes(func=cst.Name("f"), lpar=[], rpar=[]))
    if name == "zero_":
        return f"torch.zeros_like({receiver})"
    if name == "fill_" and len(call.args) == 1:
        return f"torch.full_like({receiver}, {arguments[2:-1].strip()})"
    return None if name in NO_TWIN else f"{receiver}.{name[:-1]}{arguments[1:]}"


def _renamed_function(call: cst.Call) -> str | None:
    function = call.func
    if not isinstance(function, cst.Attribute) or not _inplace(function.attr.value) or function.attr.value in NO_TWIN:
        return None
    if code(function.value).endswith("init"):
        return None
    twin = function.with_changes(attr=cst.Name(function.attr.value[:-1]))
    return code(call.with_changes(func=twin))


def _written(small: cst.BaseSmallStatement, call: cst.Call, new: str | None, base: cst.BaseExpression) -> str | None:
    """The small statement with `call` replaced by `new`, whose result is also bound to `base` where that is a name."""
    name = code(base)
    if new is None:
        return None
    if not assignable(base):
        if not _fresh(base) or (isinstance(small, cst.Expr) and small.value is call):
            return None
        return code(small.deep_replace(call, cst.parse_expression(new)))
    if isinstance(small, cst.Expr) and small.value is call:
        return f"{name} = {new}"
    if isinstance(small, cst.Assign) and small.value is call:
        targets = [text for each in small.targets if (text := code(each.target)) != name]
        return " = ".join([*targets, name, new])
    if isinstance(small, cst.Return) and small.value is call:
        return f"return {new}" if isinstance(base, cst.Name) else f"{name} = {new}\nreturn {name}"
    return None


def _fresh(base: cst.BaseExpression) -> bool:
    """Whether it is a new tensor without a name: nobody else sees what is written to it."""
    if isinstance(base, cst.Call) and isinstance(base.func, cst.Attribute):
        return not _may_share(base.func.attr.value)
    return isinstance(base, cst.BinaryOperation)


def _may_share(method: str) -> bool:
    """Whether the result of a method may be the memory of its receiver: writing to it is writing to the receiver."""
    of_table = any("self" in dict(op.aliases) or op.returns_self for op in find(f"torch.Tensor.{method}"))
    return of_table or method in _ITSELF


def _augmented(small: cst.AugAssign) -> str | None:
    sign, binds = _AUGMENTED[type(small.operator).__name__]
    target, value = code(small.target), code(small.value)
    if not assignable(small.target):
        return None
    holds = bool(small.value.lpar) or type(small.value).__name__ in {*_ATOMS, "UnaryOperation"}
    if isinstance(small.value, cst.UnaryOperation) and isinstance(small.value.operator, cst.Not):
        holds = False
    if isinstance(small.value, cst.BinaryOperation):
        holds = holds or _BINDS[type(small.value.operator).__name__] > binds
    return f"{target} = {target} {sign} {value if holds else f'({value})'}"


def _scattered(small: cst.Assign) -> str | None:
    """`y[2] = v`, `y[a:b] = v` and `y[y < 0] = 0` in torch's out-of-place forms; text can't tell for other indices."""
    if len(small.targets) != 1 or not isinstance(small.targets[0].target, cst.Subscript):
        return None
    target = small.targets[0].target
    name, value = code(target.value), code(small.value)
    if not assignable(target.value) or isinstance(small.value, cst.Tuple):
        return None
    whole = [each for each in target.slice if not _is_full_slice(each.slice)]
    if len(whole) != 1:
        return None
    dim = target.slice.index(whole[0])
    index = whole[0].slice
    if _is_number(small.value):
        if len(target.slice) > 1 or not isinstance(index, cst.Index) or not isinstance(index.value, cst.Comparison):
            return None
        return f"{name} = {name}.masked_fill({code(index.value)}, {value})"
    if isinstance(index, cst.Index) and _is_integer(index.value):
        return f"{name} = torch.select_scatter({name}, {value}, {dim}, {code(index.value)})"
    if isinstance(index, cst.Slice) and index.step is None:
        start = code(index.lower) if index.lower else "0" if index.upper else None
        bounds = [start, code(index.upper) if index.upper else None]
        text = ", ".join(str(bound) for bound in bounds if bound is not None)
        return f"{name} = torch.slice_scatter({name}, {value}, {dim}, {text})"
    return None


def _is_full_slice(index: cst.BaseSlice) -> bool:
    return isinstance(index, cst.Slice) and index.lower is None and index.upper is None and index.step is None


def _is_integer(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        node = node.expression
    return isinstance(node, cst.Integer)


def _is_number(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    if isinstance(node, cst.Call):
        return isinstance(node.func, cst.Name) and node.func.value == "float"
    return isinstance(node, cst.BaseNumber)


def _keyword(call: cst.Call, name: str) -> cst.Arg | None:
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def _backward_statement(statement: cst.CSTNode) -> tuple[cst.BaseExpression, cst.Call] | None:
    """The root and the call, if the statement is nothing but `t.backward()`, with or without `retain_graph`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    small = statement.body[0]
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    function = small.value.func
    if not isinstance(function, cst.Attribute) or function.attr.value != "backward":
        return None
    plain = all(arg.keyword is not None and arg.keyword.value == "retain_graph" for arg in small.value.args)
    return (function.value, small.value) if plain else None


def _line(line: cst.SimpleStatementLine, small: cst.BaseSmallStatement | None = None, text: str = "") -> str:
    """The code of a statement line without its comments, one small statement of it replaced by `text`."""
    plain = [each.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for each in line.body]
    return "; ".join(text if old is small else code(new) for old, new in zip(line.body, plain, strict=True))


def copied(node: cst.CSTNode, lacking: str) -> str:
    """
    What a Module holds, with the copy that it lacks: of "each" tensor of a mapping, of a "detached" tensor, of a
    "parameter"; "" for anything else.
    """
    if not isinstance(node, cst.BaseExpression):
        return ""
    text = operand(node)
    each = f"{{name: value.clone() for name, value in {text}.items()}}"
    return {"each": each, "detached": f"{text}.clone()", "parameter": f"{text}.detach().clone()"}.get(lacking, "")


STABLE: Mapping[numerics.Stable, str] = {
    "log_softmax": "torch.nn.functional.log_softmax",
    "logsigmoid": "torch.nn.functional.logsigmoid",
    "log1p": "torch.log1p",
    "softplus": "torch.nn.functional.softplus",
    "expm1": "torch.expm1",
    "logsumexp": "torch.logsumexp",
    "logaddexp": "torch.logaddexp",
}
"""Torch's functions (https://docs.pytorch.org/docs/stable/special.html)."""


def stable_form(event: numerics.LogarithmComposed) -> str | None:
    """The call of the stable function, with the operands and the further arguments of what it takes the place of."""
    if not event.operands:
        return None
    operands = [code(each) for each in event.operands]
    rest = [code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT)) for each in event.arguments]
    return f"{STABLE[event.stable]}({', '.join(operands + rest)})"


def stable_of_names(event: numerics.LogarithmComposed) -> tuple[str, str]:
    """What stands there, and what is exact, where the first is made of the name of an inner result; else nothing."""
    text = None if event.nested else stable_form(event)
    if text is None:
        return "", ""
    if event.stable == "logsumexp" and not event.arguments:  # of all of it
        text = f"torch.logsumexp(({code(event.operands[0])}).flatten(), 0)"
    return code(event.node), text
