"""An executor that plays the games of a tournament on Dask workers.

    pip install distributed
    merels tournament … -executor merels.protocol.examples.dask_executor:executor -concurrency 8

The environment variable DASK_SCHEDULER_ADDRESS names the scheduler. Without it, Dask starts workers
on this machine.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor

from distributed import Client  # type: ignore[import-not-found, unused-ignore]


def executor() -> Executor:
    """Return an executor with a new Dask client; merels calls this again if it loses the client."""
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    if address:
        client = Client(address)
    else:
        # With one thread a worker, no two games share a core.
        client = Client(threads_per_worker=1, dashboard_address=None)
    pool: Executor = client.get_executor()
    return pool
