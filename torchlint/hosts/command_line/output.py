"""
What every command says the same way: text on a stream, and a mistake as one sentence with status 2.

Knows no command; imports nothing that only one of them needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import click

from torchlint.cache.replay import wants_color
from torchlint.config import ConfigError


def complain(message: str) -> None:
    """A line on standard error."""
    click.echo(f"torchlint: {message}", err=True)


def write(stream: IO[str], pieces: Iterable[str]) -> None:
    """Write text whatever the stream's encoding: what it cannot say is written as an escape."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    try:
        for piece in pieces:
            click.echo(piece, file=stream, nl=False, color=wants_color(stream))
        stream.flush()
    except OSError as error:  # it does not say itself what it could not write to
        name = {1: "standard output", 2: "standard error"}.get(stream.fileno(), stream.name)
        raise OSError(error.errno, error.strerror, name) from error


@contextmanager
def explained() -> Iterator[None]:
    """Wrong configuration and a broken set of rules end with a sentence and status 2, not with a traceback."""
    try:
        yield
    except ConfigError as error:
        complain(str(error))
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
