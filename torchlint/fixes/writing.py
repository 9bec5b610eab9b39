"""
Writes a user's file: whole or not at all, and only if it still is what was read.

The new content is written beside the file and takes its place in one step, so that neither a full disk
nor a power cut leaves half a file. Nothing of the user's is lost: what somebody else wrote meanwhile stays.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress


class ChangedError(Exception):
    """The file is no longer what was read."""


def replace(path: str, before: bytes, after: bytes) -> None:
    """
    Write a file that was there.

    Parameters
    ----------
    path
        The file; a symbolic link stands for what it leads to.
    before
        What was read from it.
    after
        What is to be in it. Its permissions, and its owner where that is allowed, stay.

    Raises
    ------
    ChangedError
        if something else is in it by now.
    OSError
        if it may not be written, or a file beside it cannot be. In both cases it is as it was.
    """
    import tempfile

    target = os.path.realpath(path)
    with open(target, "r+b") as file:  # one that is read-only is to stay as it is, though its directory may be written
        status = os.fstat(file.fileno())
    folder = os.path.dirname(target)
    try:
        handle, beside = tempfile.mkstemp(prefix=f".{os.path.basename(target)[:100]}.", dir=folder)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} for a new file in {folder}") from error
    try:
        with open(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _like(beside, status)
        with open(target, "rb") as file:
            if file.read() != before:
                raise ChangedError
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _like(path: str, status: os.stat_result) -> None:
    """Permissions and owner of another file."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root gives files away
            os.chown(path, status.st_uid, status.st_gid)
    os.chmod(path, stat.S_IMODE(status.st_mode))
