"""
The command `torchlint`, and `python -m torchlint`: what can be answered at once is, the rest is the business of `cli`.

Entry group. Holds no logic: it only keeps click and all behind it from being loaded where nobody needs them.
"""

from __future__ import annotations

import os
import sys

import torchlint
from torchlint import replay


def main() -> None:
    """Answer the command line of this process, and end it."""
    arguments = sys.argv[1:]
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
        print(f"torchlint: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    import gc

    from torchlint.cli import main as command

    gc.disable()  # of garbage there is what `engine` collects after each file
    command(prog_name="torchlint", obj=asked)


if __name__ == "__main__":
    main()
