"""Dask: games of a tournament on its workers.

    pip install distributed
    merels tournament … -executor merels.protocol.examples.dask_executor:executor -concurrency 8

The scheduler is that of the environment variable DASK_SCHEDULER_ADDRESS. Without it, workers are
started on this machine.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor

from distributed import Client  # type: ignore[import-not-found, unused-ignore]


def executor() -> Executor:
    """An executor with a client of its own: a new one is asked for when the last one is lost."""
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    if address:
        client = Client(address)
    else:
        # One thread a worker: no two games share a core.
        client = Client(threads_per_worker=1, dashboard_address=None)
    found: Executor = client.get_executor()
    return found
