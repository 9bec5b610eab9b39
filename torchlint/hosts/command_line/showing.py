"""
`torchlint check` with --show-state, --show-settings or --show-files: prints what a run would go by, and lints nothing.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields
from pathlib import Path

import click

from torchlint.config import Config, Configurations, Overrides
from torchlint.hosts.command_line.options import STDIN, Options
from torchlint.hosts.command_line.output import complain, write
from torchlint.project import files as project
from torchlint.project import requirements
from torchlint.target import target_of


def state(options: Options) -> int:
    """One file after the other, as the model sees it; the exit status."""
    from torchlint.report import state as states
    from torchlint.syntax.notebook import Notebook, is_notebook
    from torchlint.syntax.tree import SourceError, decode

    status = 0
    inputs = [(options.stdin_filename or "<stdin>", sys.stdin.buffer.read())] if options.stdin else []
    for name in project.find_files([path for path in options.paths if path != STDIN]).files:
        try:
            inputs.append((str(name), Path(name).read_bytes()))
        except OSError as error:
            complain(f"{name}: {error.strerror}")
            status = 2
    for name, data in inputs:
        try:
            text = Notebook.read(data).cells.text if is_notebook(name) else decode(data).text
            shown = list(states.lines(text))
        except SourceError as error:
            complain(f"{name}: {error}")
            status = 2
            continue
        click.echo("\n".join([f"{name}:", *shown]))
    return status


def files(found: project.Found) -> int:
    """The files of a run, one per line; the exit status."""
    write(sys.stdout, (f"{path}\n" for path in found.files))
    return 2 if found.missing or found.refused or found.unreadable else 0


def settings(options: Options, configurations: Configurations, overrides: Overrides) -> int:
    """What holds where, as TOML: for each path its configuration with the command line on top; the exit status."""
    shown: dict[Config, str] = {}
    for path in options.paths:
        directory = path if os.path.isdir(path) else os.path.dirname(path)
        name = options.stdin_filename if path == STDIN else path
        own = configurations.for_directory(Path(os.path.dirname(name or "") if path == STDIN else directory))
        shown.setdefault(own, name or path)
    for own, name in shown.items():
        write(sys.stdout, [f"# {name}: {own.file or 'no configuration file; the defaults'}\n"])
        for file in own.extended:
            write(sys.stdout, [f"# extends {file}\n"])
        for item in fields(Config):
            if item.name in ("file", "extended"):
                continue
            value = getattr(own, item.name)
            instead = getattr(overrides, item.name, None)
            if instead not in (None, (), False):
                value = (*value, *instead) if item.name in _ADDED else instead
            write(sys.stdout, [f"{_toml(item.name.replace('_', '-'), value)}\n"])
        write(sys.stdout, [f"# runs on {_target(own, overrides, name)}\n"])
    return 0


def _target(own: Config, overrides: Overrides, name: str) -> str:
    """The releases of torch that hold for a path, and who says so."""
    asked = overrides.target_torch or own.target_torch
    if asked:
        said = "--target-torch" if overrides.target_torch else f"target-torch in {own.file}"
        return requirements.described(target_of(asked, said))
    found, _ = requirements.target(os.path.join(name, "file.py") if os.path.isdir(name) else name)
    return requirements.described(found)


_ADDED = frozenset({"extend_select", "ignore", "extend_exclude", "per_file_ignores"})
_TABLES = frozenset({"per-file-ignores", "rules"})


def _toml(key: str, value: object) -> str:
    if value is None:
        return f"# {key} is not set"
    return f"{key} = {_value(value, table=key in _TABLES)}"


def _value(value: object, *, table: bool = False) -> str:
    if isinstance(value, tuple) and (table or any(isinstance(item, tuple) for item in value)):
        pairs = ", ".join(f"{json.dumps(key)} = {_value(item)}" for key, item in value)
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
