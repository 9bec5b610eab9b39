"""
What a release of torch offers by name, read from the Python sources and stubs of its wheel; nothing of it is imported.

A name is there if its module binds it in whatever way: a definition, an assignment, an import, one by `*`, a stub of
the native library. Of functions and classes written in Python the parameters are read too. Used by
`torchlint.optable.api` alone.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PLATFORMS = ("macosx_11_0_arm64", "macosx_14_0_arm64")
"""Those of the smallest wheels; the Python in all of a release's wheels is the same."""
TOPS = ("torch", "functorch")
_NATIVE = {"torch": ("torch._C", "torch._C._VariableFunctions", "torch._VF"), "torch.nn.functional": ("torch._C._nn",)}
"""Modules whose names torch puts into another by a loop, or binds there from native code."""
_TENSOR = ("torch._C.TensorBase", "torch._C._TensorBase", "torch._tensor.Tensor")
_LEFT_OUT = frozenset({"testing", "test", "csrc", "_internal", "benchmark"})


def download(release: str, folder: Path) -> Path:
    """
    The Python files of a release, from its wheel, which is deleted again; only once.

    Raises
    ------
    subprocess.CalledProcessError
        if pip cannot get a wheel of it.
    """
    place = folder / release
    if (place / "torch").is_dir():
        return place
    with tempfile.TemporaryDirectory() as wheels:
        for platform in PLATFORMS:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", wheels]
            command += ["--platform", platform, "--python-version", "3.10", f"torch=={release}"]
            done = subprocess.run(command, check=platform == PLATFORMS[-1])
            if done.returncode == 0:
                break
        (wheel,) = Path(wheels).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.partition("/")[0] in TOPS and name.endswith((".py", ".pyi")):
                    archive.extract(name, place)
    return place


@dataclass(frozen=True)
class Signature:
    """
    The parameters of a function, or of a class's constructor.

    Attributes
    ----------
    defaults
        By name; None where there is none, "..." where a stub does not say.
    open
        It takes any keyword.
    positional
        The names that may be given by position, in order.
    """

    defaults: dict[str, str | None]
    open: bool
    positional: tuple[str, ...]


@dataclass
class Deprecation:
    """A place that says that a name is deprecated: `category` of its warning, and what it says."""

    category: str
    message: str


@dataclass
class _Module:
    bound: dict[str, ast.AST | str] = field(default_factory=dict)
    """The name's definition, or the dotted name that it stands for."""
    stars: list[str] = field(default_factory=list)
    listed: frozenset[str] | None = None


class Release:
    """
    The names of one release.

    Parameters
    ----------
    folder
        Its Python files (`download`).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: dict[str, _Module | None] = {}

    def module(self, name: str) -> _Module | None:
        """What a module's source binds; None if there is none."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def _read(self, name: str) -> _Module | None:
        stem = self.folder.joinpath(*name.split("."))
        found = _Module()
        any_file = False
        for path, package in (
            (stem / "__init__.pyi", True),
            (stem.with_name(stem.name + ".pyi"), False),
            (stem / "__init__.py", True),
            (stem.with_name(stem.name + ".py"), False),  # what is written in Python counts before its stub
        ):
            if path.is_file():
                any_file = True
                tree = ast.parse(path.read_text(encoding="utf-8"))
                self._statements(tree.body, name if package else name.rpartition(".")[0], found)
        return found if any_file else None

    def _statements(self, body: list[ast.stmt], package: str, into: _Module) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                into.bound[node.name] = node
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    into.bound[alias.asname or alias.name.partition(".")[0]] = alias.name
            elif isinstance(node, ast.ImportFrom):
                self._imported(node, package, into)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assigned(node, into)
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
                for part in ("body", "orelse", "finalbody"):
                    self._statements(getattr(node, part, []), package, into)
                for handler in getattr(node, "handlers", []):
                    self._statements(handler.body, package, into)

    def _imported(self, node: ast.ImportFrom, package: str, into: _Module) -> None:
        base = package.split(".") if package else []
        if node.level:
            base = base[: len(base) - node.level + 1]
            source = ".".join([*base, *([node.module] if node.module else [])])
        else:
            source = node.module or ""
        for alias in node.names:
            if alias.name == "*":
                into.stars.append(source)
            else:
                into.bound[alias.asname or alias.name] = f"{source}.{alias.name}"

    def _assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, into: _Module) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    stands_for = _dotted(node.value) if node.value is not None else ""
                    into.bound[part.id] = stands_for if "." in stands_for else node
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets) and node.value:
            names = {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
            into.listed = (into.listed or frozenset()) | {name for name in names if isinstance(name, str)}

    def binds(self, module: str, name: str, seen: frozenset[str] = frozenset()) -> ast.AST | str | None:
        """What a module binds a name to: its definition, a dotted name; None if it does not bind it."""
        found = self.module(module)
        if found is None or module in seen:
            return None
        if name in found.bound:
            return found.bound[name]
        for source in (*found.stars, *_NATIVE.get(module, ())):
            if (inner := self.binds(source, name, seen | {module})) is not None:
                return inner
        return f"{module}.{name}" if self.module(f"{module}.{name}") is not None else None

    def has(self, dotted: str) -> bool:
        """Whether a dotted name is there."""
        if dotted.startswith("torch.Tensor."):
            return dotted.rpartition(".")[2] in self.tensor_methods
        module, _, name = dotted.rpartition(".")
        return self.module(dotted) is not None or (bool(module) and self.binds(module, name) is not None)

    def definition(self, dotted: str, depth: int = 12) -> ast.AST | None:
        """The definition behind a dotted name, through imports and assignments; None if it is not written in Python."""
        module, _, name = dotted.rpartition(".")
        found = self.binds(module, name) if module else None
        if isinstance(found, str):
            return self.definition(found, depth - 1) if depth and found != dotted else None
        return found

    def parameters(self, dotted: str) -> Signature | None:
        """The parameters of a function or class that is written in Python; None if they are not to be read."""
        node = self.definition(dotted)
        if isinstance(node, ast.ClassDef):
            made = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
            if not made or any(isinstance(part, ast.FunctionDef) and part.name == "__new__" for part in node.body):
                return None
            return _parameters(made[-1], skip=1)
        return _parameters(node) if isinstance(node, ast.FunctionDef) else None

    def deprecation(self, dotted: str) -> Deprecation | None:
        """What its decorator or its first statements say of a name that is deprecated whatever it is given."""
        node = self.definition(dotted)
        parts: list[ast.AST] = [] if node is None else [node]
        if isinstance(node, ast.ClassDef):
            parts += [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        for part in parts:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and (found := _deprecation(part)) is not None:
                return found
        return None

    @cached_property
    def tensor_methods(self) -> frozenset[str]:
        """The methods and properties of a tensor."""
        names: set[str] = set()
        for dotted in _TENSOR:
            node = self.definition(dotted)
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                        names.add(part.name)
                    elif isinstance(part, (ast.Assign, ast.AnnAssign)):
                        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                        names.update(each.id for each in targets if isinstance(each, ast.Name))
        return frozenset(names)

    def is_read_with_certainty(self, dotted: str) -> bool:
        """
        Whether its first release can be told from the sources: it is a module, written in Python, or a function that a
        stub lists which is generated. The classes, attributes and types of the native library stand in a stub that
        is written by hand, and not always when they come.
        """
        module, _, name = dotted.rpartition(".")
        if self.module(dotted) is not None:
            return True
        if module == "torch.Tensor":
            return any(
                isinstance(part, ast.FunctionDef) and part.name == name and not part.decorator_list
                for owner in _TENSOR
                if isinstance(node := self.definition(owner), ast.ClassDef)
                for part in node.body
            )
        node = self.definition(dotted)
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return False
        return isinstance(node, ast.FunctionDef) or self.binds("torch._C", name) is not node

    def is_written_in_python(self, dotted: str) -> bool:
        """Whether its definition is no stub: the bodies of these are texts and dots."""
        node = self.definition(dotted)
        if isinstance(node, ast.ClassDef):
            made = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
            node = made[-1] if made else None
        if not isinstance(node, ast.FunctionDef):
            return False
        return any(not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)) for each in node.body)

    def only_raises(self, dotted: str) -> bool:
        """Whether it is a function that is still there to say that it is gone."""
        node = self.definition(dotted)
        if not isinstance(node, ast.FunctionDef):
            return False
        body = [each for each in node.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
        return len(body) == 1 and isinstance(body[0], ast.Raise) and "removed" in _text(body[0])

    def modules(self) -> Iterator[str]:
        """The public modules."""
        for top in TOPS:
            for path in sorted((self.folder / top).rglob("*.py*")):
                parts = path.relative_to(self.folder).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if not any(part.startswith("_") or part in _LEFT_OUT for part in parts):
                    yield ".".join(parts)

    def public(self) -> Iterator[str]:
        """
        The public names: of a public module, not beginning with an underscore, listed in its `__all__` if it has one,
        else defined there, or imported into a package from within torch.
        """
        seen: set[str] = set()
        for module in self.modules():
            if module in seen:
                continue
            seen.add(module)
            found = self.module(module)
            assert found is not None
            yield module
            package = (self.folder.joinpath(*module.split(".")) / "__init__.py").is_file()
            listed_only = found.listed is not None and module not in TOPS  # torch lists but a part of what it offers
            names = set(found.listed or ()) if listed_only else set(found.bound)
            for source in () if listed_only else (*found.stars, *_NATIVE.get(module, ())):
                inner = self.module(source)
                names |= set(inner.bound) if inner is not None else set()
            for name in sorted(names):
                if name.startswith("_") or not name.isidentifier():
                    continue
                bound = self.binds(module, name)
                if bound is None:
                    continue
                if isinstance(bound, str):
                    listed = found.listed is not None and name in found.listed
                    if not (listed or (package and bound.partition(".")[0] in TOPS)):
                        continue
                yield f"{module}.{name}"
        yield from (f"torch.Tensor.{name}" for name in sorted(self.tensor_methods) if not name.startswith("_"))


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""


def _parameters(node: ast.FunctionDef, skip: int = 0) -> Signature:
    positional = [*node.args.posonlyargs, *node.args.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    pairs = [
        *zip(positional, [*missing, *node.args.defaults], strict=True),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    defaults = {each.arg: None if value is None else ast.unparse(value) for each, value in pairs[skip:]}
    names = tuple(each.arg for each in positional[skip:])
    return Signature(defaults, node.args.kwarg is not None, names)


_CATEGORIES = ("FutureWarning", "DeprecationWarning", "UserWarning")


def _deprecation(node: ast.FunctionDef | ast.ClassDef) -> Deprecation | None:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and _dotted(decorator.func).rpartition(".")[2].lstrip("_") == "deprecated":
            category = next((_dotted(each.value) for each in decorator.keywords if each.arg == "category"), "")
            return Deprecation(category or "DeprecationWarning", _text(decorator))
    if isinstance(node, ast.FunctionDef):
        for statement in node.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or _dotted(call.func) not in ("warnings.warn", "warn"):
                continue
            said = [_dotted(each) for each in (*call.args, *(each.value for each in call.keywords))]
            category = next((each for each in said if each in _CATEGORIES), "UserWarning")
            if "deprecat" in _text(call).lower():
                return Deprecation(category, _text(call))
    return None


def _text(node: ast.AST) -> str:
    parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return " ".join(" ".join(parts).split())
