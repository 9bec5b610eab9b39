"""
Executors by address: other people's engines that lint for us, on other machines too.

Connects, looks whether the workers have this torchlint, and disconnects; what is to be done is none
of its business. `distributed` is an optional extra and imported only here.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import torchlint
from torchlint.config import ConfigError

CONNECT_SECONDS = 15


@contextmanager
def connected(address: str) -> Iterator[tuple[Executor, int]]:
    """
    An executor, and how many jobs it works on at a time.

    Parameters
    ----------
    address
        `dask://HOST:PORT`, a Dask scheduler.

    Raises
    ------
    ConfigError
        if there is no such kind of executor, it does not answer, or its workers have another torchlint or none.
    """
    scheme, _, place = address.partition("://")
    if scheme != "dask" or not place:
        raise ConfigError(f"--executor: `{address}` is not of the form dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(f"--executor {address}: needs Dask: pip install 'torchlint[dask]' ({error})") from error
    try:
        client = Client(f"tcp://{place}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise ConfigError(f"--executor {address}: no Dask scheduler answers there ({error})") from error
    with client:
        width = sum(client.ncores().values())
        if not width:
            raise ConfigError(f"--executor {address}: that scheduler has no workers")
        for worker, version in client.run(_version, on_error="return").items():
            if version != torchlint.__version__:
                found = f"has torchlint {version}" if isinstance(version, str) else f"has no torchlint ({version})"
                raise ConfigError(f"--executor {address}: the worker {worker} {found}, not {torchlint.__version__}")
        yield client.get_executor(), width


def _version() -> str:
    return torchlint.__version__
