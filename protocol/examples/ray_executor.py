"""Ray: games of a tournament on its workers.

    pip install ray
    merels tournament … -executor merels.protocol.examples.ray_executor:executor -concurrency 8

The cluster is that of the environment variable RAY_ADDRESS. Without it, it is the cluster that
`ray start` has started on this machine, or a new one. If a cluster has a token, HOST:PORT needs
RAY_AUTH_MODE=token as well.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, TypeVar

import ray  # type: ignore[import-not-found, unused-ignore]

T = TypeVar("T")


class RayExecutor(Executor):
    """Calls as tasks of Ray, each on a processor of its own; a lost worker's call runs again."""

    def __init__(self) -> None:
        # Processes of Ray end with the thread that started them, and merels' thread ends soon.
        self._starter = ThreadPoolExecutor(1)
        self._starter.submit(ray.init, ignore_reinit_error=True, log_to_driver=False).result()
        self._call = ray.remote(num_cpus=1)(_call)
        self._futures: set[Future[Any]] = set()

    def submit(self, call: Callable[..., T], /, *args: Any, **named: Any) -> Future[T]:
        """Hand a call over."""
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
        """Leave Ray, which ends what was started on this machine."""
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
    """An executor on a connection of its own: a new one is asked for when the last one is lost."""
    return RayExecutor()
