"""Arrays as images: which of their axes are rows, columns, channels and pages."""
from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _library
from ._device import Memory, memory_of
from ._library import ImageError, PipelineError

_TYPES = {"bool": 0, "uint8": 1, "uint16": 2, "float32": 3, "float16": 4, "float64": 5, "int8": 6,
          "int16": 7, "int32": 8, "int64": 9, "uint32": 10, "uint64": 11}
_CLASSES = [np.dtype(name) for name in list(_TYPES)[:4]]
_NATIVE = {np.dtype(name): name for name in _TYPES}
_MOST_KEPT = 1024  # forms of arrays: calls with others of a form find it
_MOST_GUESSED_CHANNELS = 4


def _guessed_axes(shape: tuple[int, ...]) -> tuple[str, str]:
    """The letters of an array's axes as for an NPY (docs/formats.md), and what to say of them."""
    channels_last = len(shape) >= 3 and shape[-1] <= _MOST_GUESSED_CHANNELS
    letters = {1: "X", 2: "YX", 3: "YXC" if channels_last else "ZYX",
               4: "ZYXC" if channels_last else ""}.get(len(shape), "")
    if not letters:
        raise ImageError(f"an array of shape {shape} does not say what its axes are; give axes=, "
                         "a letter for each, as TZCYX")
    if "Z" in letters:
        return letters, f"{shape} is read as {letters}, {shape[0]} pages; axes= names the axes"
    if letters == "YXC" and shape[-1] in (2, 4):
        return letters, (f"{shape} is read as YXC, {shape[-1]} channels, none of them an alpha; "
                         "axes='YXA' says that the last is one")
    return letters, ""


def _check_axes(axes: str, shape: tuple[int, ...]) -> None:
    if len(axes) != len(shape):
        raise ImageError(f"an array of shape {shape} has {len(shape)} axes, and axes={axes!r} names "
                         f"{len(axes)}")
    if not all("A" <= letter <= "Z" for letter in axes) or len(set(axes)) != len(axes):
        raise PipelineError(f"axes={axes!r}: an axis is one letter of A to Z: Y and X, C for "
                            "channels, A for channels with an alpha, others for pages", 2)
    for letter in "YX":
        if letter not in axes:
            raise PipelineError(f"axes={axes!r}: it has no {letter}", 2)


def _host_memory(given: Any) -> Memory:
    if isinstance(given, (str, bytes, os.PathLike)):
        raise TypeError(f"{given!r} is no image; impipe.files runs a pipeline over files")
    if np.ma.is_masked(given):
        raise TypeError("values of the array are masked, and images have no masks; its "
                        "filled(numpy.nan) is one")
    only_dlpack = hasattr(given, "__dlpack__") and not hasattr(given, "__array__")
    array = np.from_dlpack(given) if only_dlpack else np.asarray(given)
    name = _NATIVE.get(array.dtype)
    if name is None:
        name = array.dtype.name
        if name not in _TYPES:
            raise TypeError(f"an array of {name} is no image: bool, integers of 8 to 64 bits and floats "
                            "of 16 to 64 bits are")
        array = array.astype(array.dtype.newbyteorder("="))
    return Memory(array.ctypes.data, array.shape, array.strides, name, "", 0, array)


def _one_step(lengths: Sequence[int], steps: Sequence[int]) -> int | None:
    """From neighbour to neighbour of axes that are taken as one; None where no single step is."""
    kept = [pair for pair in zip(lengths, steps) if pair[0] != 1]
    for (_, outer), (length, inner) in zip(kept, kept[1:]):
        if outer != length * inner:
            return None
    return kept[-1][1] if kept else 0


class Form:
    """What names for the axes make of all arrays of one shape, as the library takes them."""

    def __init__(self, axes: str | None, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str,
                 is_there: bool) -> None:
        self.note = ""
        if axes is None:
            axes, self.note = _guessed_axes(shape)
        else:
            _check_axes(axes, shape)
        self.axes = axes
        self.channel = next((letter for letter in "ASC" if letter in axes), "")
        self.pages = [letter for letter in axes if letter not in {"Y", "X", self.channel}]
        lengths, steps = dict(zip(axes, shape)), dict(zip(axes, strides))
        page_shape = tuple(lengths[letter] for letter in self.pages)
        step_page = _one_step(page_shape, [steps[letter] for letter in self.pages])
        self.has_one_step = step_page is not None
        self.has_one_channel = lengths.get(self.channel) == 1
        self.image = _library.Image(
            None, _TYPES[dtype], int(self.channel == "A"), lengths["X"], lengths.get("Y", 1),
            lengths.get(self.channel, 1), math.prod(page_shape), steps["X"], steps.get("Y", 0),
            steps.get(self.channel, 0), step_page or 0, 0,
            "".join(f"{letter.lower()}{count}" for letter, count in zip(self.pages, page_shape)).encode()
            or None, int(is_there), 0)


_form = functools.lru_cache(_MOST_KEPT)(Form)


class Layout:
    """An array with names for its axes."""

    __slots__ = ("_memory", "device", "form", "image")

    def __init__(self, given: Any, axes: str | None, device: str | None = None) -> None:
        memory = None if type(given) is np.ndarray else memory_of(given, device)
        memory = memory or _host_memory(given)
        form = _form(axes, memory.shape, memory.strides, memory.dtype, memory.device != "")
        if not form.has_one_step:
            if memory.device:
                raise ImageError(f"{memory.shape}, axes={axes!r}: one step has to lead from page to "
                                 "page of an array on a device; make the axes of pages adjacent")
            memory = _pages_first(memory, form)
            form = _form(axes, memory.shape, memory.strides, memory.dtype, False)
        self.form, self.device = form, memory.device
        self._memory = memory  # the library reads it through `image`
        self.image = _library.Image.from_buffer_copy(form.image)
        self.image.data, self.image.stream = memory.address, memory.stream


def _pages_first(memory: Memory, form: Form) -> Memory:
    """A copy of the same shape in which the axes of pages are the slowest."""
    order = sorted(range(len(form.axes)), key=lambda i: form.axes[i] not in form.pages)
    copy = np.ascontiguousarray(memory.owner.transpose(order)).transpose(np.argsort(order))
    return memory._replace(address=copy.ctypes.data, strides=copy.strides, owner=copy)


class Shape:
    """The array that images of one size and type make, with the axes of the input in their order:
    those that are gone are left out, new channels are the last axis."""

    def __init__(self, form: Form | None, like: _library.Image, count: int) -> None:
        axes = form.axes if form else "YX"
        named = re.findall("([a-z])([0-9]+)", (like.page_axes or b"").decode())
        pages = [letter.upper() for letter, _ in named]
        page_shape = tuple(int(length) for _, length in named)
        if math.prod(page_shape) != count:  # those of a volume of another number of planes
            pages = form.pages if form and len(form.pages) == 1 else ["_"]
            page_shape = (count,)
        channel = (form.channel if form else "") or "C"
        is_row = axes == "X" and like.height == 1
        has_channels = like.channels > 1 or (form is not None and form.has_one_channel)
        self._like = like
        self._lengths = {**dict(zip(pages, page_shape)), "Y": like.height, "X": like.width,
                         channel: like.channels}
        self._axes = [*pages, "Y", "X", channel]
        made = [c for c in self._axes
                if not (c == "Y" and is_row) and not (c == channel and not has_channels)]
        order = [c for c in axes if c in made]
        self._order = ([c for c in made if c not in order and c != channel] + order
                       + [c for c in made if c not in order and c == channel])
        self._back = [self._order.index(c) for c in self._axes if c in self._order]
        self._gone = tuple(i for i, c in enumerate(self._axes) if c not in self._order)
        self.dtype = _CLASSES[like.type]
        self.shape = tuple(self._lengths[c] for c in self._order)
        self._single: _library.Image | None = None

    def places(self, array: np.ndarray) -> np.ndarray:
        """A view with the axes pages, rows, columns and channels."""
        view = array.transpose(self._back)
        return np.expand_dims(view, self._gone) if self._gone else view

    def place_of_single(self, array: np.ndarray) -> _library.Image:
        """Where the library puts the only image of a new array."""
        if self._single is None:
            self._single = self.image_of(self.places(array))
        image = _library.Image.from_buffer_copy(self._single)
        image.data = array.ctypes.data
        return image

    def pixels(self) -> np.ndarray:
        """For all images, with the axes pages, rows, columns and channels."""
        return np.empty([self._lengths[c] for c in self._axes], self.dtype)

    def arranged(self, pixels: np.ndarray) -> np.ndarray:
        """The array as a view of such pixels."""
        kept = pixels[tuple(slice(None) if c in self._order else 0 for c in self._axes)]
        left = [c for c in self._axes if c in self._order]
        return kept.transpose([left.index(c) for c in self._order])

    def image_of(self, pixels: np.ndarray) -> _library.Image:
        """Where the library puts all images, or those of one page."""
        step_y, step_x, step_channel = pixels.strides[-3:]
        pages = math.prod(pixels.shape[:-3])
        return _library.Image(pixels.ctypes.data, self._like.type, self._like.alpha,
                              self._like.width, self._like.height, self._like.channels, pages, step_x,
                              step_y, step_channel, pixels.strides[-4] if pages > 1 else 0, 0, None)

    def steps_of(self, image: _library.Image) -> tuple[int, ...]:
        """The bytes between neighbours along each axis, of images in one block of memory."""
        steps = dict(zip(self._axes[-3:], (image.step_y, image.step_x, image.step_channel)))
        step = image.step_page
        for letter in reversed(self._axes[:-3]):
            steps[letter] = step
            step *= self._lengths[letter]
        return tuple(steps[c] for c in self._order)


_kept: dict[tuple[Any, ...], Shape] = {}


def shape_of(form: Form | None, like: _library.Image, count: int) -> Shape:
    """The Shape, kept for the next images of its kind."""
    key = (form, like.type, like.alpha, like.width, like.height, like.channels, like.page_axes, count)
    found = _kept.get(key)
    if found is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        found = _kept[key] = Shape(form, like, count)
    return found
