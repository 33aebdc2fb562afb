"""An executor that plays the games of a tournament on a Ray cluster.

    pip install ray
    merels tournament … -executor merels.protocol.examples.ray_executor:executor -concurrency 8

The environment variable RAY_ADDRESS names the cluster. Without it, Ray uses the cluster that
`ray start` has started on this machine, or starts one. For a cluster with a token, an address
HOST:PORT also needs RAY_AUTH_MODE=token.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

import ray  # type: ignore[import-not-found, unused-ignore]

T = TypeVar("T")


class RayExecutor(Executor):
    """An executor whose calls are Ray tasks of one processor each.

    Ray repeats the call of a lost worker.
    """

    def __init__(self) -> None:
        # Ray's processes end with the thread that starts them. The thread that calls this factory
        # ends soon, so the processes get a thread of their own.
        self._starter = ThreadPoolExecutor(1)
        self._starter.submit(ray.init, ignore_reinit_error=True, log_to_driver=False).result()
        self._call = ray.remote(num_cpus=1)(_call)
        self._futures: set[Future[Any]] = set()

    def submit(self, call: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        """Submit a call as a Ray task."""
        task = self._call.remote(call, args, named)
        future: Future[T] = task.future()
        self._futures.add(future)

        def done(future: Future[T]) -> None:
            self._futures.discard(future)
            if future.cancelled():
                ray.cancel(task, force=True)

        future.add_done_callback(done)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect from Ray; a cluster that this executor has started ends."""
        if cancel_futures:
            for future in list(self._futures):
                future.cancel()
        if wait:
            futures.wait(list(self._futures))
        ray.shutdown()
        self._starter.shutdown(wait=False)


def _call(call: Callable[..., T], args: tuple[Any, ...], named: dict[str, Any]) -> T:
    return call(*args, **named)


def executor() -> Executor:
    """Return an executor with a new connection; merels calls this again if it loses the cluster."""
    return RayExecutor()
