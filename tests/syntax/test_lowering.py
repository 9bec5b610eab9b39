"""
The lowering against Python's own parser: the IR and `ast` are dumped to the same tuples, and names bound in functions
are compared with CPython's symbol table.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import symtable
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from torchlint.syntax import ir
from torchlint.syntax.lowering import UnknownSyntaxError, lower_ast, program_of
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.text import SourceError

# ---- the two dumps -----------------------------------------------------------------------------------------------

_OPS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "UAdd": "+", "USub": "-", "Invert": "~",
    "Not": "not", "And": "and", "Or": "or", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip


def op(node: ast.AST) -> str:
    return _OPS[type(node).__name__]


def constant(value: object) -> tuple:
    return ("Constant", type(value).__name__, repr(value))


def many(nodes) -> list:
    return [plain(node) for node in nodes]


def plain(node: ast.AST | None):
    """Python's `ast` as tuples, in the vocabulary of the IR."""
    return None if node is None else FROM_AST[type(node).__name__](node)


def placeholders(node) -> Iterator:
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            yield plain(piece.value)
            if piece.format_spec is not None:
                yield from placeholders(piece.format_spec)


def call(n: ast.AST) -> tuple:
    together = sorted([*n.args, *n.keywords], key=lambda a: (a.lineno, a.col_offset))
    return ("Call", plain(n.func), [argument(a) for a in together])


def argument(node):
    if isinstance(node, ast.keyword):
        return ("Argument", plain(node.value), node.arg or "", "" if node.arg else "**")
    if isinstance(node, ast.Starred):
        return ("Argument", plain(node.value), "", "*")
    return ("Argument", plain(node), "", "")


def comprehension(kind, element, node, key=None):
    generators = [("Generator", plain(g.target), plain(g.iter), many(g.ifs)) for g in node.generators]
    return ("Comprehension", kind, plain(element), generators, plain(key))


def parameters(a: ast.arguments) -> list:
    positional = [*a.posonlyargs, *a.args]
    kinds = ["positional-only"] * len(a.posonlyargs) + ["positional"] * len(a.args)
    defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
    found = [(arg, kind, default) for arg, kind, default in zip(positional, kinds, defaults, strict=True)]
    found += [(a.vararg, "*", None)] if a.vararg else []
    found += [(arg, "keyword-only", default) for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    found += [(a.kwarg, "**", None)] if a.kwarg else []
    return [("Parameter", x.arg, kind, plain(default), plain(x.annotation)) for x, kind, default in found]


def import_(n: ast.AST) -> tuple:
    names = []
    for a in n.names:
        top = a.name.split(".")[0]
        names.append(("ImportName", a.asname, a.name, "") if a.asname else ("ImportName", top, top, a.name))
    return ("Import", names)


def import_from(n: ast.AST) -> tuple:
    module = "." * n.level + (n.module or "")
    dot = "" if not n.module else "."
    names = [("ImportName", a.asname or a.name, f"{module}{dot}{a.name}", "") for a in n.names]
    return ("Import", [("ImportName", "*", module, "")] if n.names[0].name == "*" else names)


def with_(n: ast.AST) -> tuple:
    items = [("WithItem", plain(i.context_expr), plain(i.optional_vars)) for i in n.items]
    return ("With", items, many(n.body))


def try_(n: ast.AST) -> tuple:
    handlers = [("Handler", plain(h.type), h.name or "", many(h.body)) for h in n.handlers]
    return ("Try", many(n.body), handlers, many(n.orelse), many(n.finalbody))


def match_(n: ast.AST) -> tuple:
    cases = []
    for case in n.cases:
        bound = []
        for pattern in preorder(case.pattern):
            name = getattr(pattern, "rest" if isinstance(pattern, ast.MatchMapping) else "name", None)
            if name and name not in bound:
                bound.append(name)
        cases.append(("Case", sorted(bound), plain(case.guard), many(case.body), always(case.pattern)))
    return ("Match", plain(n.subject), cases)


def always(pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return always(pattern.patterns[-1])
    return isinstance(pattern, ast.MatchAs) and (pattern.pattern is None or always(pattern.pattern))


def function(n: ast.AST) -> tuple:
    is_async = isinstance(n, ast.AsyncFunctionDef)
    generator = any(isinstance(x, (ast.Yield, ast.YieldFrom)) for s in n.body for x in own(s))
    body, decorators = many(n.body), many(n.decorator_list)
    return ("FunctionDef", n.name, parameters(n.args), body, generator, decorators, is_async, plain(n.returns))


def class_(n: ast.AST) -> tuple:
    bases = [argument(a) for a in [*n.bases, *n.keywords]]
    return ("ClassDef", n.name, bases, many(n.body), many(n.decorator_list))


FROM_AST = {
    "Name": lambda n: ("Name", n.id),
    "Constant": lambda n: constant(n.value),
    "JoinedStr": lambda n: ("FormattedString", list(placeholders(n))),
    "Attribute": lambda n: ("Attribute", plain(n.value), n.attr),
    "Slice": lambda n: ("Slice", plain(n.lower), plain(n.upper), plain(n.step)),
    "Subscript": lambda n: ("Subscript", plain(n.value), plain(n.slice)),
    "BinOp": lambda n: ("Binary", op(n.op), plain(n.left), plain(n.right)),
    "UnaryOp": lambda n: ("Unary", op(n.op), plain(n.operand)),
    "BoolOp": lambda n: ("Boolean", op(n.op), many(n.values)),
    "Compare": lambda n: ("Compare", plain(n.left), [op(o) for o in n.ops], many(n.comparators)),
    "IfExp": lambda n: ("Conditional", plain(n.test), plain(n.body), plain(n.orelse)),
    "Tuple": lambda n: ("Sequence", "tuple", many(n.elts)),
    "List": lambda n: ("Sequence", "list", many(n.elts)),
    "Set": lambda n: ("Sequence", "set", many(n.elts)),
    "Starred": lambda n: ("Starred", plain(n.value)),
    "Dict": lambda n: ("Dict", many(n.keys), many(n.values)),
    "ListComp": lambda n: comprehension("list", n.elt, n),
    "SetComp": lambda n: comprehension("set", n.elt, n),
    "GeneratorExp": lambda n: comprehension("generator", n.elt, n),
    "DictComp": lambda n: comprehension("dict", n.value, n, n.key),
    "Lambda": lambda n: ("Lambda", parameters(n.args), plain(n.body)),
    "NamedExpr": lambda n: ("Assigned", plain(n.target), plain(n.value)),
    "Yield": lambda n: ("Yield", plain(n.value), False),
    "YieldFrom": lambda n: ("Yield", plain(n.value), True),
    "Await": lambda n: ("Await", plain(n.value)),
    "Module": lambda n: ("Program", many(n.body)),
    "Assign": lambda n: ("Assign", many(n.targets), plain(n.value), None),
    "AnnAssign": lambda n: ("Assign", [plain(n.target)], plain(n.value), plain(n.annotation)),
    "AugAssign": lambda n: ("AugmentedAssign", plain(n.target), op(n.op), plain(n.value)),
    "Expr": lambda n: ("ExpressionStatement", plain(n.value)),
    "Return": lambda n: ("Return", plain(n.value)),
    "Raise": lambda n: ("Raise", plain(n.exc)),
    "Assert": lambda n: ("Assert", plain(n.test), plain(n.msg)),
    "Delete": lambda n: ("Delete", many(n.targets)),
    "Pass": lambda n: ("Pass",),
    "TypeAlias": lambda n: ("Pass",),
    "Break": lambda n: ("Break",),
    "Continue": lambda n: ("Continue",),
    "Global": lambda n: ("Scope", "global", n.names),
    "Nonlocal": lambda n: ("Scope", "nonlocal", n.names),
    "If": lambda n: ("If", plain(n.test), many(n.body), many(n.orelse)),
    "For": lambda n: ("For", plain(n.target), plain(n.iter), many(n.body), many(n.orelse)),
    "While": lambda n: ("While", plain(n.test), many(n.body), many(n.orelse)),
    "Call": call,
    "Import": import_,
    "ImportFrom": import_from,
    "With": with_,
    "Try": try_,
    "Match": match_,
    "FunctionDef": function,
    "ClassDef": class_,
    "AsyncFor": lambda n: FROM_AST["For"](n),
    "AsyncWith": with_,
    "TryStar": try_,
    "AsyncFunctionDef": function,
}


def preorder(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from preorder(child)


def own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run in the scope of a statement: not the bodies of functions, lambdas and classes in it."""
    yield node
    inner = [] if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else node.body
    inner = [node.body] if isinstance(node, ast.Lambda) else inner
    for child in ast.iter_child_nodes(node):
        if child not in inner:
            yield from own(child)


DERIVED = ("held", "text", "bindings", "changed")


def from_ir(node):
    """The IR as tuples: the class, then the fields, less positions (and what `ast` does not have)."""
    if isinstance(node, list):
        return [from_ir(one) for one in node]
    if isinstance(node, ir.Constant):
        return constant(node.value)
    if isinstance(node, ir.Case):
        return ("Case", sorted(node.bound), from_ir(node.guard), from_ir(node.body), node.wildcard)
    if isinstance(node, ir.Node):
        names = [name for name in ir.named(type(node)) if name not in DERIVED]
        return (type(node).__name__, *(from_ir(getattr(node, name)) for name in names))
    return node


def parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def check(text: str) -> ir.Program:
    program = lowered(text)
    assert from_ir(program) == plain(parse(text))
    return program


def walk(node) -> Iterator[ir.Node]:
    if isinstance(node, list):
        for one in node:
            yield from walk(one)
    elif isinstance(node, ir.Node):
        yield node
        for name in ir.named(type(node)):
            yield from walk(getattr(node, name))


def lowered(text: str) -> ir.Program:
    try:
        return lower_ast(parse(text), text)
    except SyntaxError:
        pytest.skip("the syntax of a newer Python")


def dump(text: str):
    return from_ir(lowered(text))[1]


# ---- by hand: every construct ------------------------------------------------------------------------------------

_WRITTEN = Path(__file__).with_name("lowering_snippets.txt").read_text(encoding="utf-8")
SNIPPETS = _WRITTEN.rstrip("\n").split("\n---\n")


@pytest.mark.parametrize("text", SNIPPETS, ids=lambda text: text.strip().partition("\n")[0][:40])
def test_snippet_equals_ast(text: str) -> None:
    check(text + "\n")


def test_crlf_and_form_feed_equal_ast() -> None:
    check('x = """a\r\nb"""\r\nif x:\r\n    y\r\n')
    check("x = 1\n\x0cy = 2\n")


def test_empty_file() -> None:
    assert lowered("").body == []
    assert lowered("# only this\n").body == []


# ---- syntax newer than the oldest Python that runs the tests: no oracle ---------------------------------------


def test_type_alias_binds_its_name_and_does_nothing() -> None:
    program = lowered("def f[T: int = str, *U, **P](x: T) -> T:\n    type X[V] = list[V]\n    return x\n")
    function = program.body[0]
    assert isinstance(function, ir.FunctionDef)
    assert [type(s) for s in function.body] == [ir.Pass, ir.Return]
    assert function.assigned == {"X"}
    assert from_ir(function.returns) == ("Name", "T")
    assert dump("class A[T](B): pass\n") == [
        ("ClassDef", "A", [("Argument", ("Name", "B"), "", "")], [("Pass",)], []),
    ]


@pytest.mark.skipif(not hasattr(cst, "TemplatedString"), reason="this libcst has no t-strings")
def test_template_string_keeps_its_expressions() -> None:
    expected = ("FormattedString", [("Name", "a"), ("Name", "b"), ("Name", "c")])
    assert dump('t"x{a!r:{b}} {c}"\n') == [("ExpressionStatement", expected)]


@pytest.mark.skipif(not hasattr(cst, "StarredDictComp"), reason="this libcst has no unpacking in comprehensions")
def test_unpacking_in_comprehensions() -> None:
    generator = [("Generator", ("Name", "x"), ("Name", "y"), [])]
    star, x = ("Starred", ("Name", "x")), ("Name", "x")
    assert dump("[*x for x in y], {**x for x in y}\n") == [
        ("ExpressionStatement", ("Sequence", "tuple", [
            ("Comprehension", "list", star, generator, None),
            ("Comprehension", "dict", x, generator, None),
        ])),
    ]  # fmt: skip


@pytest.mark.skipif(not hasattr(cst, "LazyImport"), reason="this libcst has no lazy imports")
def test_lazy_import_is_an_import() -> None:
    assert dump("lazy import a.b\nlazy from c import d as e\n") == [
        ("Import", [("ImportName", "a", "a", "a.b")]),
        ("Import", [("ImportName", "e", "c.d", "")]),
    ]


def test_except_without_parentheses() -> None:
    [_, _, handlers, _, _] = dump("try:\n    pass\nexcept A, B:\n    pass\n")[0]
    assert handlers == [("Handler", ("Sequence", "tuple", [("Name", "A"), ("Name", "B")]), "", [("Pass",)])]


# ---- real files --------------------------------------------------------------------------------------------------


def _files() -> list[Path]:
    standard = Path(json.__file__).parents[1]
    found = [*Path(json.__file__).parent.glob("*.py"), *Path(asyncio.__file__).parent.glob("*.py")]
    found += [standard / "dataclasses.py", standard / "argparse.py"]
    torch = importlib.util.find_spec("torch")
    if torch is not None and torch.submodule_search_locations:
        found += Path(torch.submodule_search_locations[0], "nn", "modules").glob("*.py")
    return sorted(found)


@pytest.mark.parametrize("path", _files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_real_file_equals_ast(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    program = check(text)
    if sys.version_info < (3, 12):
        assert list(_assigned(program)) == list(_in_symbol_table(text))


# ---- scopes ------------------------------------------------------------------------------------------------------


def _assigned(program: ir.Program) -> Iterator[tuple[str, list[str]]]:
    for node in walk(program):
        if isinstance(node, ir.FunctionDef):
            yield node.name, sorted(node.assigned)


def _in_symbol_table(text: str) -> Iterator[tuple[str, list[str]]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(text, "<text>", "exec")
    yield from _functions(table, None)


def _functions(table: symtable.SymbolTable, mangled: str | None) -> Iterator[tuple[str, list[str]]]:
    def unmangled(name: str) -> str:
        return name.removeprefix(mangled) if mangled and name.startswith(mangled + "__") else name

    if table.get_type() == "class":
        mangled = "_" + table.get_name().lstrip("_")
    anonymous = table.get_name() in ("lambda", "listcomp", "setcomp", "dictcomp", "genexpr")
    if table.get_type() == "function" and not anonymous:
        bound = [
            unmangled(symbol.get_name())
            for symbol in table.get_symbols()
            if (symbol.is_assigned() or symbol.is_imported())
            and not (symbol.is_declared_global() or symbol.is_nonlocal())
        ]
        yield table.get_name(), sorted(bound)
    for child in table.get_children():
        yield from _functions(child, mangled)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="symtable counts the targets of comprehensions since 3.12")
@pytest.mark.parametrize("text", [s for s in SNIPPETS if "def " in s], ids=lambda text: text.partition("\n")[0][:40])
def test_assigned_equals_symbol_table(text: str) -> None:
    expected = list(_in_symbol_table(text + "\n"))
    assert expected
    assert list(_assigned(lowered(text + "\n"))) == expected


# ---- origins and lines -------------------------------------------------------------------------------------------


def found_at(nodes: Nodes, place: object) -> cst.CSTNode:
    assert isinstance(place, cst.CSTNode)
    node = nodes.find(place)  # type: ignore[arg-type]
    assert node is not None
    kind = getattr(cst, type(place).kind)  # type: ignore[attr-defined]
    assert isinstance(node, (kind, cst.ImportStar, cst.ExceptStarHandler))
    return node


@pytest.mark.parametrize("text", SNIPPETS, ids=lambda text: text.strip().partition("\n")[0][:40])
def test_an_expression_is_what_stands_at_its_place(text: str) -> None:
    program = lowered(text + "\n")
    nodes = Nodes("x.py", program)
    for node in walk(program):
        found = found_at(nodes, node.origin)
        whole = not (isinstance(node, ir.Sequence) and isinstance(found, cst.Subscript))
        if isinstance(found, cst.BaseExpression) and not isinstance(found, cst.StarredElement) and whole:
            again = lowered(f"({cst.Module([]).code_for_node(found)}\n)\n").body[0]
            assert isinstance(again, ir.ExpressionStatement)
            if not isinstance(node, (ir.Argument, ir.Parameter)):
                assert from_ir(again.value) == from_ir(node)


@pytest.mark.parametrize("text", SNIPPETS, ids=lambda text: text.strip().partition("\n")[0][:40])
def test_line_holds_the_statement(text: str) -> None:
    program = lowered(text + "\n")
    nodes = Nodes("x.py", program)
    statements = [node for node in walk(program) if isinstance(node, ir.Statement)]
    assert statements
    for node in statements:
        line, own = found_at(nodes, node.line), found_at(nodes, node.origin)
        if isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            assert any(small is own for small in line.body)
        else:
            assert isinstance(line, cst.BaseCompoundStatement)
            assert node.line is node.origin


def test_semicolons_share_a_line() -> None:
    first, second, third = lowered("a; b\nif c: d; e\n").body
    assert first.line is second.line
    assert isinstance(third, ir.If)
    assert len({id(s.line) for s in third.body}) == 1
    assert isinstance(third.body[0].line, cst.SimpleStatementSuite)


# ---- depth -------------------------------------------------------------------------------------------------------


LONG = {
    "+": "x = a" + " + b" * 400,
    "and": "x = a" + " and b" * 400,
    "and or": "x = a" + " and b or c" * 200,
    "attributes": "x = a" + ".b" * 400,
    "calls": "x = a" + ".b(c)[d]" * 130,
    "comparisons": "x = a" + " < b" * 400,
    "strings": "x = (" + "'a'\n" * 400 + ")",
    "f-strings": "x = (" + "f'{a}'\n" * 400 + ")",
    "elif": "if a: b\n" + "elif c: d\n" * 400 + "else: e",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_length_is_not_depth(text: str) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        check(text + "\n")
    finally:
        sys.setrecursionlimit(limit)


def test_unknown_syntax_says_so() -> None:
    class Newer(ast.Pass):
        pass

    node = ast.copy_location(Newer(), parse("pass\n").body[0])
    with pytest.raises(UnknownSyntaxError, match="the syntax Newer is not known here"):
        lower_ast(ast.Module([node], []), "pass\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(:\n", "invalid syntax"),
        ("x = '\0'\n", "source code cannot contain null bytes"),
        ("x = " + "(" * 300 + ")" * 300, "too many nested parentheses"),
    ],
)
def test_what_python_refuses(text: str, message: str) -> None:
    with pytest.raises(SourceError) as raised:
        program_of(text)
    assert raised.value.message == message


# ---- random nesting ----------------------------------------------------------------------------------------------


def is_python(text: str) -> bool:
    """Whether this Python takes it: before 3.12 not with nested quotes in an f-string."""
    try:
        parse(text)
    except SyntaxError:
        return False
    return True


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    templates = [
        "({} + {})", "{} * {}", "{} @ {} - {}", "({}) ** {}", "({} and {})", "{} or {} and {}", "not {}", "-{}",
        "{} < {} <= {}", "{} is not {}", "{} not in {}", "({} if {} else {})", "({}).a", "({})[{}]", "({})[{}:{}, ...]",
        "({})[*{}]", "({})({}, *{}, k={}, **{})", "[{}, {}]", "({}, {})", "{{{}: {}, **{}}}", "{{{}, {}}}", "(*{}, {})",
        "[{} for x in {} if {}]", "({} for x, *y in {} for z in {})", "{{{}: {} for x in {}}}",
        "(lambda p, *q, r={}: {})", "(w := {})", "f'{{{}}} {{{}!r:>{{{}}}}}'", "(await {})", "(yield {})",
        "(yield from {})",
    ]  # fmt: skip

    def fill(template: str) -> st.SearchStrategy[str]:
        holes = template.replace("{{", "").replace("}}", "").count("{}")
        return st.lists(inner, min_size=holes, max_size=holes).map(lambda parts: template.format(*parts))

    return st.sampled_from(templates).flatmap(fill)


EXPRESSIONS = st.recursive(st.sampled_from(["a", "b.c", "1", "2.5", "None", "...", "d(e)"]), _extend, max_leaves=12)


def _nest(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    heads = [
        "if {}:", "while {}:", "for i, j.k in {}:", "with {} as m, {}:", "def g(n={}, *, o: {} = 1) -> {}:",
        "async def h():", "class C({}, k={}):", "try:",
    ]  # fmt: skip

    @st.composite
    def block(draw: st.DrawFn) -> list[str]:
        head = draw(st.sampled_from(heads))
        lines = [head.format(*draw(st.lists(EXPRESSIONS, min_size=3, max_size=3)))]
        lines += ["    " + line for line in draw(inner)]
        if head == "try:":
            lines += ["except A as t:"] + ["    " + line for line in draw(inner)]
        return lines + (draw(inner) if draw(st.booleans()) else [])

    return block()


SIMPLE = st.sampled_from(["{}", "u = {}", "v += {}", "(q, *r), s[0] = {}", "y: int = {}", "return {}", "assert {}, {}"])
STATEMENTS = st.recursive(
    st.tuples(SIMPLE, EXPRESSIONS, EXPRESSIONS).map(lambda drawn: [drawn[0].format(*drawn[1:])]), _nest, max_leaves=4
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(STATEMENTS)
def test_random_program_equals_ast(lines: list[str]) -> None:
    text = "async def f():\n" + "".join(f"    {line}\n" for line in lines)
    assume(is_python(text))
    check(text)


STRING_PARTS = st.sampled_from(
    ["a", "é", "\n", *(f"\\{c}" for c in ("n", "\\", "'", '"', "x4f", "101", "0", "8", "d", "u00e9", "N{BULLET}"))]
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from(["", "r", "b", "Rb", "u"]), st.sampled_from(['"""', "'''"]), st.lists(STRING_PARTS, max_size=8))
def test_random_string_equals_ast(prefix: str, quotes: str, parts: list[str]) -> None:
    text = f"x = {prefix}{quotes}{''.join(parts)}{quotes}\n"
    assume(is_python(text))
    check(text)
