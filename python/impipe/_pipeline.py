"""Pipelines on arrays."""
from __future__ import annotations

import collections
import concurrent.futures
import ctypes
import os
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from ctypes import byref, c_void_p
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _library
from ._arrays import Layout, Shape, shape_of
from ._device import Array
from ._library import PipelineError, checked, function, taken_text, texts

#: A table of objects: an array a column.
Table = dict[str, np.ndarray]
#: An image: in the host's memory or, where the input is or on_device=True, in a device's; of pages
#: that differ in size or type a list.
Image = Union[np.ndarray, Array, list[Union[np.ndarray, Array]]]
#: A number, an array of numbers or a table; of several pages an array with an axis more, or a list.
Value = Union[float, np.ndarray, Table, list[Any]]


class Notice(UserWarning):
    """What a run says although it succeeded, such as that colours became gray."""


@dataclass
class Result:
    """All that comes of a run."""

    #: The image; a list where pages differ in size or type; None if the pipeline ends in a
    #: measurement.
    image: Image | None = None
    #: The value that displays as white: 255, 65535 or 1; 0 for numbers such as distances.
    white: float = 0
    #: Measurements and tables by their names.
    measurements: dict[str, Value] = field(default_factory=dict)
    #: The images that `save NAME` would write, by NAME; no file is written.
    saves: dict[str, Image] = field(default_factory=dict)
    #: What is said of the run.
    notes: list[str] = field(default_factory=list)


class Cancel:
    """Ends calls that were given it: `cancel()` may be called from any thread."""

    def __init__(self) -> None:
        self._handle = function("cancel_new")()
        weakref.finalize(self, function("cancel_free"), self._handle).atexit = False

    def cancel(self) -> None:
        function("cancel_now")(self._handle)


# Sessions and handles are of one process: a child of os.fork() makes its own.
_lock = threading.RLock()
_sessions: dict[tuple[Any, ...], c_void_p] = {}
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release,
                    after_in_child=_lock.release)


def _session(device: str, options: tuple[int, bool, int, str | None]) -> c_void_p:
    key = (os.getpid(), device, *options)
    with _lock:
        if key not in _sessions:
            session = c_void_p()
            threads, strict, memory, sandbox = options
            if "\0" in device:
                raise _library.DeviceError(f"device={device!r}: a device's name has no NUL", 4)
            given = _library.SessionOptions(device.encode(), threads, int(strict), memory,
                                            None if sandbox is None else os.fsencode(sandbox))
            for name, value in ("threads", threads), ("memory", memory):
                if getattr(given, name) != value:  # ctypes drops the bits that do not fit
                    raise PipelineError(f"{name}={value}: there are not so many", 2)
            checked("session_new", byref(given), byref(session))
            # 'opencl' is 'opencl:0', and their arrays are of one session.
            full = (key[0], function("session_devices")(session).decode(), *options)
            if full in _sessions:
                function("session_free")(session)
            else:
                _sessions[full] = session
            _sessions[key] = _sessions[full]
        return _sessions[key]


def _free(handles: dict[tuple[int, str], c_void_p]) -> None:
    for (process, _), handle in handles.items():
        if process == os.getpid():
            function("pipeline_free")(handle)


class Pipeline:
    """A pipeline that is checked once and called with arrays.

    >>> p = impipe.Pipeline('imgaussfilt 2 | edge prewitt')
    >>> edges = p(photograph)

    text: as for the program: stages separated by `|`.
    device: 'cpu', 'cuda', 'cuda:1', 'opencl:0', 'cuda:0,cuda:1', 'all' or 'auto' (a GPU, where one
        can be used, else the CPU). None: the card that an array is on, the CPU for all others.
    threads: that compute an image; 0 is one for each processor.
    strict: an implicit rgb2gray, or a value that single does not hold, is an error.
    memory: bytes that an image may take at once; 0 is half of what the process may use.
    sandbox: for a text that is not trusted: the folders below which @file may read, 'DIR,DIR', or
        'on' or '' for none.

    Several threads may call one pipeline at the same time; the GIL is released meanwhile. Kernels
    are kept with the pipeline. Raises PipelineError, whose message shows the place in the text.
    """

    def __init__(self, text: str, *, device: str | None = None, threads: int = 0, strict: bool = False,
                 memory: int = 0, sandbox: str | os.PathLike[str] | None = None) -> None:
        for name, value in ("text", text), ("device", "" if device is None else device):
            if not isinstance(value, str):
                raise TypeError(f"{name}={value!r} is no str")
        if "\0" in text:
            raise PipelineError("a pipeline's text has no NUL", 2)
        self.text = text
        folders = None if sandbox is None else os.fsdecode(sandbox)
        if "\0" in (folders or ""):
            raise PipelineError(f"sandbox={folders!r}: a folder's name has no NUL", 2)
        self._device, self._options = device, (threads, strict, memory, folders)
        self._handles: dict[tuple[int, str], c_void_p] = {}
        weakref.finalize(self, _free, self._handles).atexit = False
        handle = self._handle(device or "cpu")
        #: The names of the operands that a call needs.
        self.operands: tuple[str, ...] = tuple(texts("pipeline_operand", handle))
        #: Whether the pipeline makes its own image, so that a call takes none.
        self.has_source: bool = bool(function("pipeline_has_source")(handle))

    def __repr__(self) -> str:
        return f"impipe.Pipeline({self.text!r}, device={self._device!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.text, self._device, *self._options)

    def _handle(self, device: str) -> c_void_p:
        key = (os.getpid(), device)
        with _lock:
            if key not in self._handles:
                handle = c_void_p()
                checked("pipeline_new", _session(key[1], self._options), self.text.encode(),
                        byref(handle))
                self._handles[key] = handle
            return self._handles[key]

    def __call__(self, image: Any = None, /, *, axes: str | None = None, device: str | None = None,
                 cancel: Cancel | None = None,
                 on_device: bool | None = None, **operands: Any) -> Image | dict[str, Value]:
        """The image that comes of an array, or a dict of the measurements if it ends in one.

        image: an array of bool, uint8, uint16 or float32, which is what is computed; other integers
            and floats become float32. Any strides and byte order. An array of CuPy, PyTorch or
            another library on a CUDA card (DLPack, __cuda_array_interface__) is computed there.
        axes: a letter for each axis: Y and X, C for channels, A for channels of which the last is
            an alpha, others for pages ('ZYX'). Without it (H, W), (H, W, up to 4), (N, H, W) and
            (N, H, W, up to 4) are read so.
        on_device: True: images of the result stay on the device, as impipe.Array; False: they are
            NumPy arrays; None: they are where the input is.
        operands: the arrays that the text names as `:NAME`; axes are those of operands, too, that
            have as many.
        """
        result = self._result(image, axes, device, cancel, on_device, operands, 3)
        return result.measurements if result.image is None else result.image

    def result(self, image: Any = None, /, *, axes: str | None = None, device: str | None = None,
               cancel: Cancel | None = None, on_device: bool | None = None,
               **operands: Any) -> Result:
        """As a call; with the image, the measurements, what `save` would write, and the notes."""
        return self._result(image, axes, device, cancel, on_device, operands, 3)

    def map(self, images: Iterable[Any], /, *, at_once: int = 0,
            **options: Any) -> Iterator[Image | dict[str, Value]]:
        """The results of many images, in their order; several are computed at the same time.

        >>> for edges in p.map(photographs): ...

        at_once: how many; 0: one for each processor. options: those of a call.
        """
        most = at_once or len(os.sched_getaffinity(0))
        with concurrent.futures.ThreadPoolExecutor(most) as pool:
            waiting: collections.deque[Any] = collections.deque()
            for image in images:
                waiting.append(pool.submit(self, image, **options))
                if len(waiting) > most:  # images and results are held by few
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def plan(self, image: Any = None, /, *, axes: str | None = None, device: str | None = None,
             **operands: Any) -> str:
        """What is fused, and what each step reads and writes, as `impipe plan` prints it.

        Without an image: for a gray one of uint8."""
        text = c_void_p()
        self._check_names(operands)
        layout, given, kept = _layouts(image, axes, operands, device or self._device)
        checked("plan", self._handle(self._device_for(device, layout, kept)),
                byref(layout.image) if layout else None, given, len(kept), byref(text))
        return taken_text(text)

    def _check_names(self, operands: Mapping[str, Any]) -> None:
        for name in operands:
            if name in self.operands:
                continue
            if name in ("threads", "memory", "strict", "sandbox"):
                raise PipelineError(f"{name}= belongs to a pipeline: impipe.Pipeline(text, {name}=...)", 2)
            named = ", ".join(f"{one}=" for one in self.operands)
            raise PipelineError(
                f"{name}= is no argument, and the pipeline reads no image ':{name}'; there are "
                f"{named + ', ' if named else ''}axes=, device=, cancel= and on_device=", 2)

    def _device_for(self, device: str | None, image: Layout | None, operands: list[Layout]) -> str:
        wanted = device or self._device
        there = {layout.device for layout in [image, *operands] if layout and layout.device}
        if not there:
            return wanted or "cpu"
        if len(there) > 1:
            raise PipelineError("images are on several devices: " + ", ".join(sorted(there)), 2)
        found = there.pop()
        if wanted not in (None, "auto", "all", found) and f"{wanted}:0" != found:
            raise PipelineError(f"the image is on {found}, and device={wanted!r}", 2)
        return found

    def _result(self, image: Any, axes: str | None, device: str | None, cancel: Cancel | None,
                on_device: bool | None, operands: Mapping[str, Any], level: int) -> Result:
        self._check_names(operands)
        layout, given, kept = _layouts(image, axes, operands, device or self._device)
        there = any(one.device for one in (layout, *kept) if one)
        handle = c_void_p()
        checked("run_on_device" if there or on_device else "run",
                self._handle(self._device_for(device, layout, kept)),
                byref(layout.image) if layout else None, given, len(kept),
                cancel._handle if cancel else None, byref(handle))
        try:
            result = Result(notes=texts("result_note", handle))
            _take_images(handle, layout, bool(there or on_device), result)
            _take_measurements(handle, result)
        finally:
            function("result_free")(handle)
        if there and on_device is False:
            result.image = _on_host(result.image)
            result.saves = {name: _on_host(image) for name, image in result.saves.items()}
        if layout and layout.form.note:
            result.notes.insert(0, layout.form.note)
        for note in result.notes:
            warnings.warn(note, Notice, stacklevel=level)
        return result


def _unpickled(text: str, device: str | None, threads: int, strict: bool, memory: int,
               sandbox: str | None) -> Pipeline:
    return Pipeline(text, device=device, threads=threads, strict=strict, memory=memory,
                    sandbox=sandbox)


def _layouts(image: Any, axes: str | None, operands: Mapping[str, Any],
             device: str | None) -> tuple[Layout | None, Any, list[Layout]]:
    """axes: of the image, and so of operands that have as many."""
    layout = None if image is None else Layout(image, axes, device)
    if not operands:
        return layout, None, []
    kept = [Layout(array, axes if axes and _axis_count(array) == len(axes) else None, device)
            for array in operands.values()]
    images = [_library.Operand(name.encode(), one.image) for name, one in zip(operands, kept)]
    return layout, (_library.Operand * len(images))(*images), kept


def _axis_count(array: Any) -> int:
    shape = getattr(array, "shape", None)
    return np.ndim(array) if shape is None else len(shape)


def _take_images(handle: c_void_p, layout: Layout | None, stays: bool, result: Result) -> None:
    named: dict[bytes, list[tuple[int, _library.Image]]] = {}
    describe, name_of = function("result_image"), function("result_image_name")
    for index in range(function("result_image_count")(handle)):
        image = _library.Image()
        describe(handle, index, byref(image))
        named.setdefault(name_of(handle, index), []).append((index, image))
    for name, images in named.items():
        made = _image_of(handle, layout, images, stays)
        if name:
            result.saves[name.decode()] = made
        else:
            result.image, result.white = made, images[0][1].white


def _image_of(handle: c_void_p, layout: Layout | None, images: list[tuple[int, _library.Image]],
              stays: bool) -> Image:
    first = images[0][1]
    alike = all((image.type, image.width, image.height, image.channels)
                == (first.type, first.width, first.height, first.channels) for _, image in images)
    if not alike:
        return [_array_of(handle, shape_of(None, image, 1), [index], stays) for index, image in images]
    form = layout.form if layout else None
    return _array_of(handle, shape_of(form, first, len(images)), [index for index, _ in images], stays)


def _array_of(handle: c_void_p, shape: Shape, indices: list[int],
              stays: bool) -> np.ndarray | Array:
    if stays:
        array = c_void_p()
        checked("result_array", handle, (ctypes.c_int64 * len(indices))(*indices), len(indices),
                byref(array))
        return Array(array, shape)
    made = np.empty(shape.shape, shape.dtype)
    if len(indices) == 1:
        checked("result_copy", handle, indices[0], byref(shape.place_of_single(made)))
        return made
    view = shape.places(made)
    for index, place in zip(indices, np.ndindex(*view.shape[:-3])):
        checked("result_copy", handle, index, byref(shape.image_of(view[place])))
    return made


def _on_host(image: Any) -> Any:
    if isinstance(image, list):
        return [_on_host(one) for one in image]
    return np.asarray(image) if isinstance(image, Array) else image


def _take_measurements(handle: c_void_p, result: Result) -> None:
    values: dict[str, list[Any]] = {}
    several: set[str] = set()
    for index in range(function("result_measurement_count")(handle)):
        one = _library.Measurement()
        function("result_measurement")(handle, index, byref(one))
        name = one.name.decode()
        values.setdefault(name, []).append(_value_of(handle, index, one))
        if one.page > 0:
            several.add(name)
    for name, all_of in values.items():
        result.measurements[name] = _joined(all_of) if name in several else all_of[0]


def _value_of(handle: c_void_p, index: int, one: _library.Measurement) -> Any:
    count = one.channels * one.rows * one.columns
    numbers = np.zeros((one.channels, one.rows, one.columns))
    if count > 0:
        ctypes.memmove(numbers.ctypes.data, one.numbers, numbers.nbytes)
    if one.is_table:
        names = texts("result_column", handle, index)
        return {name: numbers[0, :, column].copy() for column, name in enumerate(names)}
    if one.columns > 1:
        return numbers[0] if one.channels == 1 else np.moveaxis(numbers, 0, -1)
    if one.rows == 1:
        return float(numbers[0, 0, 0]) if one.channels == 1 else numbers[:, 0, 0]
    return numbers[0, :, 0] if one.channels == 1 else numbers[:, :, 0].T


def _joined(values: list[Any]) -> Any:
    """The values of all pages; tables stay a list."""
    if any(isinstance(value, dict) for value in values):
        return values
    alike = len({np.shape(value) for value in values}) == 1
    return np.stack(values) if alike else values


def release_memory() -> None:
    """Gives the memory back that is kept for the next images: at most what was in use at once."""
    function("release_memory")()


_MOST_KEPT = 64
_kept: collections.OrderedDict[tuple[str, str | None], Pipeline] = collections.OrderedDict()


def run(text: str, image: Any = None, /, *, axes: str | None = None, device: str | None = None,
        cancel: Cancel | None = None, on_device: bool | None = None,
        **operands: Any) -> Image | dict[str, Value]:
    """Runs a pipeline on an array.

    >>> edges = impipe.run('imadjust | conv2 k7 | edge prewitt', photograph)
    >>> impipe.run('mean2 | std2', photograph)
    {'mean2': 117.2, 'std2': 41.5}
    >>> difference = impipe.run('imlincomb 1 -1 :b', day1, b=day2)

    Arguments and results are those of calling a Pipeline. The pipelines used last are kept, except
    those that read files (@kernel.txt, and `ocio`).
    """
    key = (text, device)
    with _lock:
        pipeline = _kept.pop(key, None)
    if pipeline is None:
        pipeline = Pipeline(text, device=device)
    if "@" not in text and "ocio" not in text:
        with _lock:
            _kept[key] = pipeline
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
    result = pipeline._result(image, axes, None, cancel, on_device, operands, 3)
    return result.measurements if result.image is None else result.image
