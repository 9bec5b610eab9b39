"""
What a run of `torchlint check` goes by: its options and the configuration put together, and the files these name.

Complains of what is named and is not there; lints nothing and reports no finding.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint.config import Config, ConfigError, Configurations, near_miss
from torchlint.hosts.command_line.options import ALIASES, OUTPUT_FORMATS, Options
from torchlint.hosts.command_line.output import complain
from torchlint.project import files as project

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from torchlint.cache.results import Cache
    from torchlint.run.job import Fixing
    from torchlint.run.run import Opened


class Request:
    """
    What one run was asked to do.

    Parameters
    ----------
    options
        What the command line says.

    Attributes
    ----------
    misused
        Something that was asked for cannot be done: the exit status is 2.

    Raises
    ------
    ConfigError
        if a configuration, or what an option names, is wrong.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.configurations = configurations(options)
        self.overrides = options.overrides()
        wrong: list[str] = []
        try:
            self.settings = self.configurations.for_directory(Path.cwd())
        except ConfigError as error:
            if error.known is None:
                raise
            wrong.append(str(error))
            self.settings = error.known
        try:
            self.format = _format(options, self.settings)
        except ConfigError as error:
            wrong.append(str(error))
        if wrong:
            from torchlint.run import job  # with the rules, which a run that finds nothing new does without

            raise ConfigError("\n".join([*wrong, *job.complaints(self.settings, self.overrides)]))
        self.fix = options.fix_only or _said(options.fix, self.settings.fix)
        self.unsafe_fixes = _said(options.unsafe_fixes, self.settings.unsafe_fixes)
        self.executor = _executor(options.executor) if options.executor else None
        self.misused = False

    @property
    def workers(self) -> int | None:
        """How many processes are wanted; None: nobody has said."""
        return self.options.jobs or self.settings.jobs

    @cached_property
    def found(self) -> project.Found:
        """The files of the run, with complaints about what cannot be one."""
        found = project.find_files(
            self.options.paths,
            exclude_named=_said(self.options.force_exclude, self.settings.force_exclude),
            overrides=self.overrides,
            configured=self.configurations.for_directory,
        )
        for path in found.missing:
            complain(f"no such file or directory: {path}")
        for path, why in (*found.refused, *found.unreadable):
            complain(f"{path}: {why}")
        for path in found.empty:
            complain(f"no Python files in {path}")
        self.misused |= bool(found.missing or found.refused or found.unreadable)
        return found

    @cached_property
    def store(self) -> Cache | None:
        """Where results are kept; what was found there has taken no time that could be counted."""
        if self.options.no_cache or self.options.statistics:
            return None
        folder = self.options.cache_dir
        if folder is None and self.settings.cache_dir is not None:
            folder = str((self.settings.root or Path()) / self.settings.cache_dir)
        from torchlint.cache.results import Cache

        return Cache.of_project(folder)

    @property
    def fixing(self) -> Fixing:
        """Which fixes are applied, or shown."""
        if self.options.add_noqa:
            return "noqa"
        if not (self.fix or self.options.diff):
            return "no"
        return "unsafe" if self.unsafe_fixes else "safe"

    @property
    def fixes_verified(self) -> bool:
        """Whether each fix is held against the program first."""
        return self.options.verify and self.fixing in ("safe", "unsafe") and not self.options.stdin

    @property
    def baseline_file(self) -> Path | None:
        """Where the known findings are kept."""
        if self.options.baseline is not None:
            return Path(self.options.baseline)
        if self.settings.baseline is not None:
            return (self.settings.root or Path()) / self.settings.baseline
        return None

    def settings_of(self, directory: str) -> Config:
        """The configuration of a directory."""
        return self.configurations.for_directory(Path(directory))


def configurations(options: Options) -> Configurations:
    """
    Where settings come from.

    Raises
    ------
    ConfigError
        if `--config` names no file and is no TOML, or names two files.
    """
    files = [text for text in options.config if os.path.exists(text)]
    inline = [text for text in options.config if text not in files]
    for text in inline:
        if "=" not in text:
            raise ConfigError(f"--config: there is no file {text}")
    if len(files) > 1:
        raise ConfigError(f"--config: {files[0]} and {files[1]}: one file, please; the other may be extended by it")
    if files and options.isolated:
        raise ConfigError("--config FILE and --isolated exclude each other; --config KEY=VALUE may go with it")
    return Configurations(Path(files[0]) if files else None, isolated=options.isolated, inline=inline)


def _format(options: Options, settings: Config) -> str:
    if options.template is not None:
        from torchlint.report import template

        template.check(options.template)
        return "template"
    if options.output_format is not None:
        return options.output_format
    wanted = ALIASES.get(settings.output_format or "text", settings.output_format or "text")
    if wanted not in OUTPUT_FORMATS:
        known = near_miss(wanted, list(OUTPUT_FORMATS)) or f" ({', '.join(OUTPUT_FORMATS)})"
        raise ConfigError(f"{settings.file}: `output-format`: there is no format `{wanted}`{known}")
    return wanted


def _said(option: bool | None, setting: bool) -> bool:
    return setting if option is None else option


def _executor(address: str) -> Opened:
    def opened() -> AbstractContextManager[tuple[Executor, int]]:
        from torchlint.run.executors import connected

        return connected(address)

    return opened
