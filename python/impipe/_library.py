"""The functions of libimpipe (src/api/include/impipe.h) through ctypes.

A foreign function releases the GIL while it runs.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from typing import Any


class Image(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("alpha", c_int32),
                *((name, c_int64) for name in ("width", "height", "channels", "pages", "step_x",
                                               "step_y", "step_channel", "step_page")),
                ("white", c_double), ("page_axes", c_char_p), ("on_device", c_int32),
                ("stream", c_uint64)]


class Operand(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("image", Image)]


class SessionOptions(ctypes.Structure):
    _fields_ = [("device", c_char_p), ("threads", c_int32), ("strict", c_int32),
                ("memory", c_int64), ("sandbox", c_char_p)]


class Measurement(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("page", c_int64), ("channels", c_int64), ("rows", c_int64),
                ("columns", c_int64), ("is_table", c_int32), ("numbers", POINTER(c_double))]


class Error(Exception):
    """What went wrong, as the program says it. `code` is the status of the C function."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class PipelineError(Error, ValueError):
    """A pipeline's text or an argument is wrong; the message shows the place in the text."""


class ImageError(Error, ValueError):
    """The pipeline cannot process this image: its size, its type or its values."""


class DeviceError(Error, RuntimeError):
    """The device is not known or cannot be used."""


class Cancelled(Error):
    """Cancel.cancel() has ended the call."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory for the image."""


_ERRORS = {1: ImageError, 2: PipelineError, 4: DeviceError, 5: Cancelled, 6: OutOfMemory}

# Result type and argument types; functions that return an `int` status end in `char **message`.
_MESSAGE = POINTER(c_void_p)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "text_free": (None, [c_void_p]),
    "release_memory": (None, []),
    "session_new": (c_int, [POINTER(SessionOptions), _MESSAGE, _MESSAGE]),
    "session_free": (None, [c_void_p]),
    "session_devices": (c_char_p, [c_void_p]),
    "pipeline_new": (c_int, [c_void_p, c_char_p, _MESSAGE, _MESSAGE]),
    "pipeline_free": (None, [c_void_p]),
    "pipeline_operand": (c_char_p, [c_void_p, c_int64]),
    "pipeline_has_source": (c_int, [c_void_p]),
    "plan": (c_int, [c_void_p, POINTER(Image), POINTER(Operand), c_int64, _MESSAGE, _MESSAGE]),
    "cancel_new": (c_void_p, []),
    "cancel_now": (None, [c_void_p]),
    "cancel_free": (None, [c_void_p]),
    "run": (c_int, [c_void_p, POINTER(Image), POINTER(Operand), c_int64, c_void_p, _MESSAGE,
                    _MESSAGE]),
    "run_on_device": (c_int, [c_void_p, POINTER(Image), POINTER(Operand), c_int64, c_void_p, _MESSAGE,
                              _MESSAGE]),
    "result_free": (None, [c_void_p]),
    "result_image_count": (c_int64, [c_void_p]),
    "result_image_name": (c_char_p, [c_void_p, c_int64]),
    "result_image": (c_int, [c_void_p, c_int64, POINTER(Image)]),
    "result_copy": (c_int, [c_void_p, c_int64, POINTER(Image), _MESSAGE]),
    "result_array": (c_int, [c_void_p, POINTER(c_int64), c_int64, _MESSAGE, _MESSAGE]),
    "array_free": (None, [c_void_p]),
    "array_describe": (c_int, [c_void_p, POINTER(Image)]),
    "array_device": (c_char_p, [c_void_p]),
    "array_copy": (c_int, [c_void_p, POINTER(Image), _MESSAGE]),
    "array_tensor": (c_int, [c_void_p, c_int32, POINTER(c_int64), POINTER(c_int64), c_int32,
                             _MESSAGE, _MESSAGE]),
    "result_measurement_count": (c_int64, [c_void_p]),
    "result_measurement": (c_int, [c_void_p, c_int64, POINTER(Measurement)]),
    "result_column": (c_char_p, [c_void_p, c_int64, c_int64]),
    "result_note": (c_char_p, [c_void_p, c_int64]),
}


def _path() -> str:
    """The library of the variable IMPIPE_LIBRARY, of this package, of the tree that the package is
    installed in, or of the system."""
    name, here = "libimpipe.so.0", os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, "lib", name), os.path.join(here, "../../..", name)]
    return os.environ.get("IMPIPE_LIBRARY") or next(filter(os.path.exists, places), name)


def _load() -> dict[str, Any]:
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"the library of impipe, {path}, cannot be loaded ({error}): install "
                          "libimpipe0, or let the variable IMPIPE_LIBRARY be the path of "
                          "libimpipe.so.0", path=path) from None
    functions = {}
    for name, (result, arguments) in _SIGNATURES.items():
        found = functions[name] = getattr(library, "impipe_" + name)
        found.restype, found.argtypes = result, arguments
    return functions


_functions = _load()


def function(name: str) -> Any:
    return _functions[name]


def checked(name: str, *arguments: Any) -> None:
    """Calls a function that returns a status; raises Error."""
    message = c_void_p()
    status = _functions[name](*arguments, byref(message))
    if status == 0:
        return
    text = taken_text(message) if message.value else "unknown error"
    raise _ERRORS.get(status, Error)(text, status)


def taken_text(text: c_void_p) -> str:
    """The text of the library, which is freed."""
    try:
        return ctypes.string_at(text).decode(errors="replace")
    finally:
        function("text_free")(text)


def texts(name: str, *arguments: Any) -> list[str]:
    """What a function returns for the indices from 0 until it returns NULL."""
    out: list[str] = []
    while (text := function(name)(*arguments, len(out))) is not None:
        out.append(text.decode(errors="replace"))
    return out
