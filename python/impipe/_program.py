"""The program `impipe`, for files."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from typing import NoReturn

from ._library import Error


def program() -> str:
    """The path of the program: of the variable IMPIPE_PROGRAM, of this package, or in PATH."""
    packaged = os.path.join(os.path.dirname(__file__), "bin", "impipe")
    found = os.environ.get("IMPIPE_PROGRAM") or (
        packaged if os.path.exists(packaged) else shutil.which("impipe"))
    if not found:
        raise FileNotFoundError("the program impipe is neither in this package nor in PATH")
    return found


def files(text: str, inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
          output: str | os.PathLike[str] | None = None, **flags: object) -> str:
    """Runs the program on files and folders, and returns what it prints: reports, measurements.

    >>> impipe.files('imgaussfilt 2', 'photos/', 'soft/', recursive=True)

    flags: those of `impipe run --help`, with _ for -; True for a flag without a value, a list for
    one that is given several times. Raises Error with the program's messages and exit code.
    """
    listed = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    command: list[str] = [program(), "run"]
    if output is not None:
        command += ["-o", os.fspath(output)]
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                command.append(flag)
            elif one is not False and one is not None:
                command.append(f"{flag}={one}")
    return _printed([*command, "--", text, *(os.fspath(path) for path in listed)])


def ops(*words: str) -> str:
    """What `impipe ops` prints: the operators; one of them in full; or those that do something.

    >>> print(impipe.ops('imgaussfilt'))
    """
    return _printed([program(), "ops", *words])


def _printed(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip(), done.returncode)
    return done.stdout


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
