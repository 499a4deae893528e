"""The program `impipe`, for files."""
from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
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
          output: str | os.PathLike[str] | None = None, *, bar: bool | None = None,
          **flags: object) -> str:
    """Runs the program on files and folders, and returns what it prints: reports, measurements.

    >>> impipe.files('imgaussfilt 2', 'photos/', 'soft/', recursive=True)

    bar: whether tqdm shows how far it is; None: where there is tqdm and stderr is a terminal.
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
    command += ["--", text, *(os.fspath(path) for path in listed)]
    if bar is None:
        bar = (sys.stderr is not None and sys.stderr.isatty() and "progress" not in flags
               and importlib.util.find_spec("tqdm") is not None)
    return _printed_with_bar(command) if bar else _printed(command)


def ops(*words: str) -> str:
    """What `impipe ops` prints: the operators; one of them in full; or those that do something.

    >>> print(impipe.ops('imgaussfilt'))
    """
    return _printed([program(), "ops", *words])


def _printed(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return _checked(done.returncode, done.stdout, done.stderr)


def _checked(code: int, printed: str, said: str) -> str:
    if code != 0:
        raise Error(said.strip(), code)
    return printed


def _printed_with_bar(command: list[str]) -> str:
    from tqdm.auto import tqdm  # type: ignore[import-untyped]
    said: list[str] = []
    with tempfile.TemporaryFile("w+", errors="replace") as printed, tqdm(unit="file") as shown:
        with subprocess.Popen([*command[:2], "--progress=json", *command[2:]], stdout=printed,
                              stderr=subprocess.PIPE, text=True, errors="replace") as process:
            try:
                for line in process.stderr or ():
                    event = json.loads(line) if line.startswith('{"event":') else {}
                    if event.get("event") == "begin":
                        shown.reset(event.get("files"))
                    elif event.get("event") == "file":
                        shown.update()
                    elif not event:
                        said.append(line)
            except BaseException:
                process.kill()
                raise
        printed.seek(0)
        return _checked(process.returncode, printed.read(), "".join(said))


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
