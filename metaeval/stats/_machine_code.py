"""From LLVM's language to a function that can be called, with what LLVM made of it kept on disk.

llvmlite is the part of Numba that speaks to LLVM. Numba itself takes a third of a second to load and, before LLVM is
asked, seconds to infer types; a kernel that is written in LLVM's own language needs neither.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import stat
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from metaeval.stats._kept import is_own, keep, read_kept

FOLDER = "METAEVAL_KERNELS"
"""The environment variable that names another folder for kept machine code; empty to keep none."""

_engines: list[Any] = []  # machine code stays in memory as long as its engine does


def load_function(source: str, name: str, n_arguments: int) -> Callable[..., None]:
    """Compile a function of 64-bit integers and addresses, or load what was compiled before, on this kind of processor.

    Parameters
    ----------
    source : str
        A module in LLVM's language.
    name : str
        Of the function, which returns nothing.
    n_arguments : int

    Returns
    -------
    callable
        It releases the GIL while it works.
    """
    machine = _describe_machine()
    kept = _find_file(source, name, machine)
    code = _read_code(kept)
    if code is None:
        code = _compile(source, machine)
        _keep_code(kept, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(machine))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * n_arguments)
    function: Callable[..., None] = prototype(engine.get_function_address(name))
    return function


def is_code_kept(source: str, name: str) -> bool:
    """Is there machine code of this source on disk, whole, for this kind of processor?

    Parameters
    ----------
    source : str
    name : str

    Returns
    -------
    bool
    """
    return _read_code(_find_file(source, name, _describe_machine())) is not None


@cache
def _describe_machine() -> tuple[str, str]:
    with contextlib.suppress(RuntimeError):  # newer versions do this by themselves
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _target_machine(machine: tuple[str, str]) -> Any:
    processor, features = machine
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=processor, features=features, opt=3, jit=True)


def _compile(source: str, machine: tuple[str, str]) -> bytes:
    code: bytes = _target_machine(machine).emit_object(llvm.parse_assembly(source))
    return code


def _find_file(source: str, name: str, machine: tuple[str, str]) -> Path | None:
    """Return where the machine code is kept: its name tells everything that it depends on."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        import platformdirs

        folder = platformdirs.user_cache_dir("metaeval") + "/kernels"
    if not folder:
        return None
    version = (llvmlite.__version__, ".".join(map(str, llvm.llvm_version_info)), llvm.get_default_triple())
    said = "\0".join([source, *machine, *version])
    return Path(folder) / f"{name}-{hashlib.sha256(said.encode()).hexdigest()[:32]}.o"


def _read_code(kept: Path | None) -> bytes | None:
    """Return what is kept; None if there is nothing, it is damaged, or others could write it: what it holds is run."""
    try:
        if kept is None or not is_own(kept.parent.stat()):
            return None
    except OSError:
        return None
    return read_kept(kept, lambda about: is_own(about) and not about.st_mode & stat.S_IWGRP)


def _keep_code(kept: Path | None, code: bytes) -> None:
    """Keep machine code for other processes; where nothing can be written, they compile it themselves."""
    if kept is not None:
        with contextlib.suppress(OSError):
            keep(kept, code)
