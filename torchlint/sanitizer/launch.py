"""
Starts a watched run in the user's interpreter. Imports no torch.

The process becomes the program where the system can do that (`exec`), so that signals, terminal and exit status are the
program's own; elsewhere it waits for it, and ends with its status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torchlint
from torchlint.verify import ServerError


@dataclass(frozen=True, slots=True)
class Watched:
    """
    What is to be run, and what is asked of it.

    Attributes
    ----------
    target
        The script, or the module.
    arguments
        Those of the program.
    module
        Whether the target is a module.
    output
        The file that is written; "" for standard error.
    format
        "text" or "json".
    trace
        Whether gradients are asked for, and not errors.
    backward
        The number of the backward that is traced.
    svg
        The picture that is written; "" for none.
    """

    target: str
    arguments: Sequence[str] = ()
    module: bool = False
    output: str = ""
    format: str = "text"
    trace: bool = False
    backward: int = 1
    svg: str = ""


_BEGIN = """\
import sys
if sys.version_info < (3, 10):
    sys.exit("torchlint: Python 3.10 or newer is needed here, this is " + sys.version.split()[0])
def begin():
    import gc, importlib.util, os
    collecting = gc.isenabled()
    gc.disable()
    folder, asked = sys.argv[1:3]
    first = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("torchlint", first, submodule_search_locations=[folder])
    sys.modules["torchlint"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        import torch
    except ImportError as error:
        print("torchlint: " + sys.executable + " cannot import torch (" + str(error) + "); --python names another",
              file=sys.stderr)
        sys.exit(2)
    from torchlint.sanitizer.start import main
    gc.freeze()
    if collecting:
        gc.enable()
    return main, asked
main, asked = begin()
main(asked)
"""
"""The collector leaves alone what is imported before the program: at the end it would look at it for half a second."""


def run(python: str, watched: Watched, environment: Mapping[str, str] | None = None) -> int:
    """
    Run it; comes back only where the process cannot become the program.

    Parameters
    ----------
    python
        The interpreter.
    watched
        What is run.
    environment
        Its environment; ours if None.

    Returns
    -------
    int
        Its exit status.

    Raises
    ------
    ServerError
        if the interpreter cannot be started.
    """
    told = {name: getattr(watched, name) for name in Watched.__slots__}
    told["arguments"] = list(watched.arguments)
    for name in ("output", "svg"):
        told[name] = os.path.abspath(told[name]) if told[name] else ""
    folder = str(Path(torchlint.__file__).resolve().parent)
    code = f"exec(compile({_BEGIN!r}, '<torchlint>', 'exec'))"
    command = [python, "-c", code, folder, json.dumps(told)]
    variables = dict(os.environ if environment is None else environment)
    variables.setdefault("TORCHDYNAMO_DISABLE", "1")  # what is watched is eager mode
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        if os.name == "posix":
            os.execvpe(python, command, variables)
        return subprocess.run(command, env=variables).returncode
    except OSError as error:
        raise ServerError(f"cannot start {python}: {error.strerror}") from error
