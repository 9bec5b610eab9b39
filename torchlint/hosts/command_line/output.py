"""
What every command says the same way: text on a stream, and a mistake as one sentence with status 2.

Knows no command; imports nothing that only one of them needs.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO

import click

from torchlint.cache.replay import wants_color
from torchlint.config import ConfigError


def complain(message: str) -> None:
    """A line on standard error."""
    click.echo(f"torchlint: {message}", err=True)


def write(stream: IO[str], pieces: Iterable[str], *, color: bool | None = None) -> None:
    """
    Write text whatever the stream's encoding: what it cannot say is written as an escape. Colours are taken out where
    `color` says no, or says nothing and nobody looks.
    """
    colored = wants_color(stream) if color is None else color
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    try:
        for piece in pieces:
            click.echo(piece, file=stream, nl=False, color=colored)
        stream.flush()
    except OSError as error:  # it does not say itself what it could not write to
        name = {1: "standard output", 2: "standard error"}.get(stream.fileno(), stream.name)
        raise OSError(error.errno, error.strerror, name) from error


@contextmanager
def written_whole(path: str) -> Iterator[IO[str]]:
    """
    A file that is there as a whole when all is written, and before that as it was.

    What is no regular file (a pipe, a terminal) is written directly, and so is one in a directory that takes no other.
    """
    target = os.path.realpath(path)
    try:
        status = os.stat(target)
    except OSError:
        status = None
    beside = f"{target}.{os.getpid()}.tmp"
    direct = status is not None and not stat.S_ISREG(status.st_mode)
    if not direct:
        try:
            open(beside, "xb").close()
        except PermissionError:
            direct = True
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
    if direct:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            yield file
        return
    try:
        with open(beside, "w", encoding="utf-8", errors="backslashreplace") as file:
            yield file
        if status is not None:
            os.chmod(beside, stat.S_IMODE(status.st_mode))
        os.replace(beside, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        with suppress(OSError):
            os.unlink(beside)


@contextmanager
def explained() -> Iterator[None]:
    """Wrong configuration and a broken set of rules end with a sentence and status 2, not with a traceback."""
    try:
        yield
    except ConfigError as error:
        for line in str(error).splitlines():
            complain(line)
    except BrokenPipeError:  # the reader has seen enough; click ends quietly
        raise
    except OSError as error:
        complain(f"{error.filename or 'the report'}: {error.strerror or error}")
    except Exception as error:
        from torchlint.lint.registry import RegistryError

        if not isinstance(error, RegistryError):
            raise
        complain(str(error))
    else:
        return
    sys.exit(2)
