"""Where work that is split over trials is done: threads, processes or a Dask cluster. The numbers are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from metaeval.errors import MetaevalError


@contextmanager
def on_cluster(address: str, *, timeout: float = 10.0) -> Iterator[None]:
    """Do the work of analyses called with ``n_jobs=-1`` on a Dask cluster while the context lasts.

    Everything parallel here goes through joblib, so that ``joblib.parallel_config("loky")`` or any other
    backend works in the same way. A worker that dies is replaced by the cluster, its trials are done again,
    and come out the same.

    Parameters
    ----------
    address : str
        Of the scheduler: ``"tcp://10.0.0.1:8786"``.
    timeout : float, optional
        Seconds to wait for it.

    Raises
    ------
    MetaevalError
        If Dask is not installed or the cluster does not answer.

    Examples
    --------
    >>> import metaeval
    >>> with metaeval.on_cluster("tcp://127.0.0.1:8786"):                 # doctest: +SKIP
    ...     power = metaeval.discriminative_power(scores, n_jobs=-1)
    """
    try:
        from dask.distributed import Client
    except ModuleNotFoundError:
        raise MetaevalError('a cluster needs Dask: pip install "metaeval[cluster]"') from None
    import joblib

    try:
        client = Client(address, timeout=timeout, set_as_default=True)
    except (OSError, TimeoutError, ValueError) as error:
        raise MetaevalError(f"the cluster {address} does not answer: {error}") from None
    with client, joblib.parallel_config("dask"):
        yield
