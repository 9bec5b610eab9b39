"""
Changes of expressions and statements: what is known is wrapped in, replaced by, or handed to something unknown.

Each function yields the changes of its kind that a tree has room for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .changes import Change, Place, Slot, Unknowns, is_computed, places, slots


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _method(value: ast.expr, name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(value, name, ast.Load()), list(arguments), [])


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


# ---- expressions ---------------------------------------------------------------------------------------------------


def wrapped(tree: ast.Module) -> Iterator[Change]:
    """`e` → `unknown(e)`."""
    for slot in slots(tree):
        yield lambda unknowns, slot=slot: slot.put(unknowns.call(slot.node))


def replaced(tree: ast.Module) -> Iterator[Change]:
    """`e` → `unknown`; literals too: a value of a configuration."""
    for slot in slots(tree):
        if not isinstance(slot.parent, ast.Expr):
            yield lambda unknowns, slot=slot: slot.put(unknowns.name("value"))


def literal(tree: ast.Module) -> Iterator[Change]:
    """`0.5`, `True`, `None`, `"sum"` → `config.value`."""
    for slot in slots(tree):
        if isinstance(slot.node, ast.Constant):
            yield lambda unknowns, slot=slot: slot.put(ast.Attribute(unknowns.name("config"), "value", ast.Load()))


def operand(tree: ast.Module) -> Iterator[Change]:
    """`a - b` → `unknown - b`, `a - unknown`."""
    for slot in slots(tree):
        if isinstance(slot.parent, ast.BinOp):
            yield lambda unknowns, slot=slot: slot.put(unknowns.name("number"))


def _combined(slot: Slot, unknowns: Unknowns, kind: int) -> ast.expr:
    node, number = slot.node, unknowns.name("number")
    operators: tuple[ast.operator, ...] = (ast.Mult(), ast.Add(), ast.Sub(), ast.Div(), ast.Pow())
    if kind < 5:
        return ast.BinOp(node, operators[kind], number)
    if kind < 9:
        return ast.BinOp(number, operators[kind - 5], node)
    if kind == 9:
        return ast.Call(ast.Attribute(node, "clamp", ast.Load()), [], [ast.keyword("min", number)])
    if kind == 10:
        return _method(node, "lerp", number, ast.Constant(0.5))
    if kind == 11:
        return _method(node, "masked_fill", number, ast.Constant(0.0))
    if kind == 12:
        return _method(_load("torch"), "where", number, node, ast.Constant(0.0))
    return _method(node, "to", unknowns.name("device"))


def combined(tree: ast.Module) -> Iterator[Change]:
    """`t` → `t * unknown`, `unknown - t`, `t.clamp(min=unknown)`, `t.lerp(unknown, 0.5)`, `t.to(unknown)` …."""
    for slot in slots(tree):
        if is_computed(slot.node):
            for kind in range(14):
                yield lambda unknowns, slot=slot, kind=kind: slot.put(_combined(slot, unknowns, kind))


def by_name(tree: ast.Module) -> Iterator[Change]:
    """`x.detach()` → `unknown(x.detach)()`, `getattr(x, unknown("detach"))()`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):

            def through(unknowns: Unknowns, node: ast.Call = node) -> None:
                node.func = unknowns.call(node.func)

            def looked_up(unknowns: Unknowns, node: ast.Call = node) -> None:
                function = node.func
                assert isinstance(function, ast.Attribute)
                name = unknowns.call(ast.Constant(function.attr))
                node.func = ast.Call(_load("getattr"), [function.value, name], [])

            yield through
            yield looked_up


def chosen(tree: ast.Module) -> Iterator[Change]:
    """`e` → `e if unknown else e`, `[e][unknown]`, `next(iter(unknown([e])))`, `max([e], key=unknown)`."""
    for slot in slots(tree):
        if isinstance(slot.parent, ast.Expr):
            continue

        def conditional(unknowns: Unknowns, slot: Slot = slot) -> None:
            slot.put(ast.IfExp(unknowns.name("flag"), slot.node, unknowns.name("value")))

        def indexed(unknowns: Unknowns, slot: Slot = slot) -> None:
            one = ast.List([slot.node], ast.Load())
            slot.put(ast.Subscript(one, unknowns.name("value"), ast.Load()))

        def first(unknowns: Unknowns, slot: Slot = slot) -> None:
            listed = unknowns.call(ast.List([slot.node], ast.Load()))
            slot.put(ast.Call(_load("next"), [ast.Call(_load("iter"), [listed], [])], []))

        def largest(unknowns: Unknowns, slot: Slot = slot) -> None:
            one = ast.List([slot.node], ast.Load())
            slot.put(ast.Call(_load("max"), [one], [ast.keyword("key", unknowns.name("value"))]))

        yield from (conditional, indexed, first, largest)


def starred(tree: ast.Module) -> Iterator[Change]:
    """`f(a, b)` → `f(*unknown((a, b)))`, `f(*(a, b))`, `f(a, b, *unknown)`, `f(a, b, **unknown)`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
            continue

        def all_of_it(unknowns: Unknowns, node: ast.Call = node) -> None:
            packed = ast.Tuple(list(node.args), ast.Load())
            node.args = [ast.Starred(unknowns.call(packed), ast.Load())]

        def more(unknowns: Unknowns, node: ast.Call = node) -> None:
            node.args.append(ast.Starred(unknowns.name("value"), ast.Load()))

        def settings(unknowns: Unknowns, node: ast.Call = node) -> None:
            node.keywords.append(ast.keyword(None, unknowns.name("value")))

        if node.args:
            yield all_of_it
        yield from (more, settings)


def lists(tree: ast.Module) -> Iterator[Change]:
    """`[a, b]` → `[*unknown, a, b]`, `unknown([a, b])`; `for x in xs` → `for x in unknown(xs)`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and isinstance(node.ctx, ast.Load):

            def longer(unknowns: Unknowns, node: ast.List | ast.Tuple = node) -> None:
                node.elts.insert(0, ast.Starred(unknowns.name("value"), ast.Load()))

            yield longer
        elif isinstance(node, ast.For | ast.comprehension):

            def iterated(unknowns: Unknowns, node: ast.For | ast.comprehension = node) -> None:
                node.iter = unknowns.call(node.iter)

            yield iterated
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":

            def filled(unknowns: Unknowns, node: ast.Call = node) -> None:
                node.func = unknowns.call(node.func)

            yield filled


# ---- statements ----------------------------------------------------------------------------------------------------

_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _simple(tree: ast.Module) -> Iterator[Place]:
    """Statements that run, outside of class bodies."""
    inside = {id(each) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
    for place in places(tree):
        if not isinstance(place.node, (*_DEFINITIONS, ast.Global, ast.Nonlocal)) and id(place.node) not in inside:
            yield place


def conditional(tree: ast.Module) -> Iterator[Change]:
    """`s` → `if unknown: s`."""
    for place in _simple(tree):

        def guarded(unknowns: Unknowns, place: Place = place) -> None:
            place.put(ast.If(unknowns.name("flag"), [place.node], []))

        yield guarded


def contexts(tree: ast.Module) -> Iterator[Change]:
    """`s` → `with unknown(): s`; also through a context manager of the file that uses an unknown one."""
    for place in _simple(tree):

        def foreign(unknowns: Unknowns, place: Place = place) -> None:
            context = ast.Call(unknowns.name("context"), [], [])
            place.put(ast.With([ast.withitem(context, None)], [place.node]))

        def own(unknowns: Unknowns, place: Place = place) -> None:
            context = unknowns.name("context").id
            text = f"@contextlib.contextmanager\ndef manager():\n    with {context}():\n        yield\n"
            place.put(ast.With([ast.withitem(ast.Call(_load("manager"), [], []), None)], [place.node]))
            here = _behind_imports(tree)
            tree.body[here:here] = [*_parsed("import contextlib"), *_parsed(text)]

        def entered(unknowns: Unknowns, place: Place = place) -> None:
            context = unknowns.name("context").id
            place.put(*_parsed(f"entered = {context}()\nentered.__enter__()"), place.node)
            place.follow(*_parsed("entered.__exit__(None, None, None)"))

        yield foreign
        yield own
        if not isinstance(place.node, ast.Return | ast.Break | ast.Continue):
            yield entered


def _behind_imports(tree: ast.Module) -> int:
    last = -1
    for number, each in enumerate(tree.body):
        if isinstance(each, ast.Import | ast.ImportFrom):
            last = number
    return last + 1


def caught(tree: ast.Module) -> Iterator[Change]:
    """`s` → `try: s except Exception: unknown()`, also with a bare `except`."""
    for place in _simple(tree):
        for kind in () if isinstance(place.node, ast.Raise) else ("Exception", None, "RuntimeError"):

            def tried(unknowns: Unknowns, place: Place = place, kind: str | None = kind) -> None:
                handler = ast.ExceptHandler(_load(kind) if kind else None, None, [ast.Expr(unknowns.call())])
                place.put(ast.Try([place.node], [handler], [], []))

            yield tried


def code(tree: ast.Module) -> Iterator[Change]:
    """`exec(unknown)` behind a statement."""
    for place in _simple(tree):
        if not isinstance(place.node, ast.Return | ast.Break | ast.Continue | ast.Raise):

            def run(unknowns: Unknowns, place: Place = place) -> None:
                place.follow(ast.Expr(ast.Call(_load("exec"), [unknowns.name("text")], [])))

            yield run


_SEEN = (
    "{u}({x})",
    "{u}([{x}])",
    "{u}(lambda: {x})",
    "{u}.append({x})",
    "{u}.kept = {x}",
    "setattr({x}, 'note', {u})",
    "setattr({x}, {u}('note'), {u}('note'))",
)
_MODULES = (
    "for part in {x}.modules():\n    {u}(part)",
    "for part in {x}.children():\n    {u}(part)",
    "for name, part in {x}.named_children():\n    {u}(part)",
    "for name, part in {x}.named_modules():\n    {u}(name, part)",
    "for part in {x}.parameters():\n    {u}(part)",
    "for name, part in {x}.named_parameters():\n    if {u}(name):\n        part.requires_grad = False",
    "for part in {x}.parameters():\n    part.requires_grad = {u}(part)",
    "for part in {x}.modules():\n    for each in part.parameters():\n        each.requires_grad_({u}(part))",
    "{x}.apply({u})",
    "{x}.requires_grad_({u}({x}))",
    "{x}.register_forward_hook({u})",
    "{x}.register_forward_pre_hook({u})",
    "{x}.load_state_dict({u}({x}.state_dict()))",
    "{x}.forward = {u}({x}.forward)",
    "{x}.train({u}({x}))",
    "{x}.to({u}({x}))",
    "dict({x}.named_parameters()).update({u}({x}))",
)
_OPTIMIZERS = (
    "for group in {x}.param_groups:\n    {u}(group)",
    "for group in {x}.param_groups:\n    for part in group['params']:\n        {u}(part)",
    "{x}.add_param_group({u}({x}))",
    "{x}.load_state_dict({u}({x}.state_dict()))",
)
_NOT_MODULES = frozenset({"Parameter", "Tensor", "Variable", "ParameterList", "FloatTensor", "Generator"})


def handed_on(tree: ast.Module) -> Iterator[Change]:
    """Behind `x = …`: `unknown(x)`, `x.apply(unknown)`, `for m in x.modules(): unknown(m)`, `x.param_groups` …."""
    for place in _simple(tree):
        node = place.node
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not isinstance(target, ast.Name | ast.Attribute):
            continue
        function = node.value.func if isinstance(node.value, ast.Call) else None
        made = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        of_optim = isinstance(function, ast.Attribute) and "optim" in ast.unparse(function.value)
        texts = _SEEN
        if of_optim:
            texts += _OPTIMIZERS
        elif made[:1].isupper() and made not in _NOT_MODULES:
            texts += _MODULES
        for text in texts:

            def seen(unknowns: Unknowns, place: Place = place, target: ast.expr = target, text: str = text) -> None:
                unknown = unknowns.name("call").id
                place.follow(*_parsed(text.format(x=ast.unparse(target), u=unknown)))

            yield seen


def set_by_name(tree: ast.Module) -> Iterator[Change]:
    """`self.h = v` → `setattr(self, unknown("h"), v)`, `self.__dict__["h"] = v`, `self.__dict__.update(unknown)`."""
    for place in _simple(tree):
        node = place.node
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute)):
            continue
        target = node.targets[0]

        def by_setattr(
            unknowns: Unknowns, place: Place = place, target: ast.Attribute = target, node: ast.Assign = node
        ) -> None:
            name = unknowns.call(ast.Constant(target.attr))
            place.put(ast.Expr(ast.Call(_load("setattr"), [target.value, name, node.value], [])))

        def updated(unknowns: Unknowns, place: Place = place, target: ast.Attribute = target) -> None:
            unknown = unknowns.name("call").id
            place.follow(*_parsed(f"{ast.unparse(target.value)}.__dict__.update({unknown}())"))

        yield by_setattr
        yield updated
