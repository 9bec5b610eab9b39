"""
The command `torchlint`, and `python -m torchlint`: what can be answered at once is, the rest is the business of `cli`.

Holds no logic: it only keeps click and all behind it from being loaded where nobody needs them.
"""

from __future__ import annotations

import os
import sys

import torchlint
from torchlint.cache import replay


def main() -> None:
    """Answer the command line of this process, and end it."""
    arguments = sys.argv[1:]
    if sys.stdout is None:  # closed by who started this; the status still tells
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    asked = None
    try:
        if arguments == ["--version"]:
            print(f"torchlint, version {torchlint.__version__}", flush=True)
            sys.exit(0)
        asked = replay.asked(arguments)
        status = None if asked is None else replay.answered(asked)
        if status is not None:
            sys.exit(status)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        print(f"torchlint: standard output: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    import gc

    from torchlint.stack import with_room

    def answer() -> None:
        from torchlint.hosts.command_line import main as command

        command(prog_name="torchlint", obj=asked)

    gc.disable()  # of garbage there is what `engine` collects after each file
    with_room(answer)


def run() -> None:
    """
    `main` for a process that is there for nothing else: it ends without taking down, object by object, what it holds
    (as mypy's does; a twentieth of a run). All files are written and closed by then. What was registered for the end is
    done: the process that runs programs under torch ends, and its directory is removed.
    """
    try:
        main()
    except KeyboardInterrupt:
        os._exit(130)
    except SystemExit as end:
        if "atexit" in sys.modules:  # a run that loads nothing has registered nothing
            import atexit

            atexit._run_exitfuncs()
        if not (end.code is None or isinstance(end.code, int)):
            raise
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:  # the reader has seen enough
            os._exit(end.code or 1)
        except OSError as error:
            print(f"torchlint: standard output: {error.strerror}", file=sys.__stderr__, flush=True)
            os._exit(2)
        os._exit(end.code or 0)


def _leave_the_directory() -> None:
    """
    `python -m` looks for modules in the directory it is started in, and there first: a project's own `signal` would be
    run in the place of Python's. Where torchlint itself lies there, it is found there.
    """
    here = os.getcwd()
    own = os.path.dirname(os.path.dirname(os.path.abspath(torchlint.__file__)))
    if not getattr(sys.flags, "safe_path", False) and sys.path[:1] == [here] and own != here:
        del sys.path[0]


if __name__ == "__main__":
    _leave_the_directory()
    run()
