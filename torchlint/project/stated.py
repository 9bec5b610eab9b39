"""
What one file of metadata says that a project requires, beside torch: other packages, and Python.

Texts in, texts out, as PEP 508 and PEP 440 write them. Reads no file, and knows no package.
"""

from __future__ import annotations

import ast
import configparser
import importlib
import re
import sys
from collections.abc import Iterable
from typing import Any


def required(name: str, text: str) -> list[str]:
    """
    What a file requires of packages, whatever is asked of it: what only an extra or a group asks for is left out.

    Parameters
    ----------
    name, text
        The file, and what is in it.
    """
    return _texts(_required(name, text))


def asked_for(name: str, text: str) -> dict[str, list[str]]:
    """What each extra of a file asks for, by its name; empty where there is none, or no word of it."""
    base = name.rpartition("/")[2]
    if base in _WHEELS:
        extras: dict[str, list[str]] = {}
        for value in _fields(text, "requires-dist", "requires"):
            found = _EXTRA.search(value)
            if found is not None:
                extras.setdefault(found[1], []).append(value)
        return extras
    if base == "pyproject.toml":
        optional = toml(text).get("project", {}).get("optional-dependencies", {})
        return {extra: _texts(each) for extra, each in optional.items()}
    return {}


def python(name: str, text: str) -> str:
    """Which Python a file requires; "" if it does not say."""
    base = name.rpartition("/")[2]
    if base in _WHEELS:
        return field(text, "requires-python")
    if base == "pyproject.toml":
        table = toml(text)
        poetry = table.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("python", "")
        said = table.get("project", {}).get("requires-python") or poetry
        return tidy(said) if isinstance(said, str) else ""
    if base == "setup.cfg":
        return _configured(text, "python_requires")
    if base == "setup.py":
        found = _SETUP_PYTHON.search(text)
        return found[1] if found is not None else ""
    return ""


_WHEELS = ("METADATA", "PKG-INFO")
_EXTRA = re.compile(r";.*\bextra\s*==\s*[\"']([^\"']+)[\"']")
_SETUP_PYTHON = re.compile(r"python_requires\s*=\s*[\"']([^\"']*)[\"']")


def _required(name: str, text: str) -> Iterable[object]:
    base = name.rpartition("/")[2]
    if base in _WHEELS:
        return [value for value in _fields(text, "requires-dist", "requires") if not _EXTRA.search(value)]
    if base == "pyproject.toml":
        table = toml(text)
        poetry = table.get("tool", {}).get("poetry", {}).get("dependencies", {})
        plain = {each: version for each, version in poetry.items() if isinstance(version, str) and each != "python"}
        return [
            *table.get("project", {}).get("dependencies", ()),
            *(f"{each}{tidy(version)}" for each, version in plain.items()),
        ]
    if base == "setup.cfg":
        return _configured(text, "install_requires").splitlines()
    if base == "setup.py":
        return _around_torch(text)
    if base == "requires.txt":  # of setuptools: sections are extras
        return text.partition("\n[")[0].splitlines()
    if base.endswith((".txt", ".in")):
        return text.splitlines()
    if base.endswith((".yml", ".yaml")) and "lock" not in base:
        return [f"{found[1]}{tidy(found[2])}" for found in _CONDA.finditer(text)]
    return ()


_CONDA = re.compile(r"^\s*-\s*[\"']?(?:[\w-]+::)?([\w-]+)\s*([<>=!~\d][^\s\"'#]*)", re.MULTILINE)


def _around_torch(text: str) -> Iterable[object]:
    """The list in a `setup.py` that names torch."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.List, ast.Tuple)):
            told = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if any(isinstance(each, str) and re.match(r"\s*torch\b", each) for each in told):
                return told
    return ()


def _fields(text: str, *wanted: str) -> list[str]:
    """What the head of a distribution's metadata says under some names."""
    lines = (line.partition(":") for line in text.split("\n\n")[0].splitlines())
    return [value.strip() for name, _, value in lines if name.strip().lower() in wanted]


def field(text: str, name: str) -> str:
    """What the head of a distribution's metadata says under one name; "" if it says nothing."""
    return next(iter(_fields(text, name)), "")


def _configured(text: str, option: str) -> str:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    return parser.get("options", option, fallback="")


def _texts(values: Iterable[object]) -> list[str]:
    return [each for each in values if isinstance(each, str)]


def toml(text: str) -> dict[str, Any]:
    """
    A text of TOML as a table.

    Raises
    ------
    ValueError
        if it is none.
    """
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return dict(reader.loads(text))


def tidy(specifier: str) -> str:
    """A specifier of poetry (`^2.0`) or conda (`=2.1`, `2.1.*`, `2.1=py3_0`) as PEP 440 writes it."""
    parts = []
    for part in specifier.replace(" ", "").strip("\"'").split(","):
        if part.startswith("^"):
            version = part[1:]
            major, minor, *_ = (*map(int, re.findall(r"\d+", version)), 0)
            parts += [f">={version}", f"<{major + 1}" if major else f"<0.{minor + 1}"]
        elif re.match(r"~\d", part):
            parts.append("~=" + part[1:] + (".0" if part.count(".") < 2 else ""))
        elif re.match(r"=\d", part):
            parts.append("==" + part[1:].partition("=")[0] + (".*" if part.count(".") < 2 and "*" not in part else ""))
        elif part[:1].isdigit():
            parts.append("==" + part.partition("=")[0])
        elif part and part != "*":
            parts.append(part)
    return ",".join(parts)
