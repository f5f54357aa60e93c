"""Run trials on threads, processes or a Dask cluster, with the same results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from metaeval.errors import MetaevalError


@contextmanager
def on_cluster(address: str, *, timeout: float = 10.0) -> Iterator[None]:
    """Run the analyses that are called with ``n_jobs=-1`` inside this context on a Dask cluster.

    All parallel work uses joblib, so ``joblib.parallel_config("loky")`` or any other backend works in the same
    way. If a worker dies, the cluster replaces it and repeats its trials, with the same results.

    Parameters
    ----------
    address : str
        Address of the scheduler: ``"tcp://10.0.0.1:8786"``.
    timeout : float, optional
        Seconds to wait for the scheduler.

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
