"""NumPy arrays as images: which of their axes are rows, columns, channels and pages."""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _library
from ._library import ImageError, PipelineError

_TYPES = {"bool": 0, "uint8": 1, "uint16": 2, "float32": 3, "float16": 4, "float64": 5, "int8": 6,
          "int16": 7, "int32": 8, "int64": 9, "uint32": 10, "uint64": 11}
_CLASSES = [np.dtype(name) for name in list(_TYPES)[:4]]
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


def _check_axes(axes: str, array: np.ndarray) -> None:
    if len(axes) != array.ndim:
        raise ImageError(f"an array of shape {array.shape} has {array.ndim} axes, and axes="
                         f"{axes!r} names {len(axes)}")
    if not all("A" <= letter <= "Z" for letter in axes) or len(set(axes)) != len(axes):
        raise PipelineError(f"axes={axes!r}: an axis is one letter of A to Z: Y and X, C for "
                            "channels, A for channels with an alpha, others for pages", 2)
    for letter in "YX":
        if letter not in axes:
            raise PipelineError(f"axes={axes!r}: it has no {letter}", 2)


class Layout:
    """An array with names for its axes, as the library takes it."""

    def __init__(self, given: Any, axes: str | None) -> None:
        array = np.asarray(given)
        if array.dtype.name not in _TYPES:
            raise TypeError(f"an array of {array.dtype.name} is no image: bool, integers of 8 to "
                            "64 bits and floats of 16 to 64 bits are")
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        self.note = ""
        if axes is None:
            axes, self.note = _guessed_axes(array.shape)
        else:
            _check_axes(axes, array)
        self.axes = axes
        self.channel = next((letter for letter in "ASC" if letter in axes), "")
        self.pages = [letter for letter in axes if letter not in {"Y", "X", self.channel}]
        self.page_shape = tuple(array.shape[axes.index(letter)] for letter in self.pages)
        self._page_axes = "".join(f"{letter.lower()}{count}" for letter, count
                                  in zip(self.pages, self.page_shape)).encode()
        # Pages, rows, columns, channels; a missing axis has one place.
        order = [axes.index(c) for c in [*self.pages, "Y", "X", self.channel] if c and c in axes]
        array = array.transpose(order)
        if "Y" not in axes:
            array = array[np.newaxis]
        if not self.channel:
            array = array[..., np.newaxis]
        self.has_one_channel = array.shape[-1] == 1 and bool(self.channel)
        # Several axes of pages become one: a copy where no single stride says it.
        self.array = array.reshape((int(np.prod(self.page_shape)), *array.shape[-3:]))

    def image(self) -> _library.Image:
        """The library reads self.array through it."""
        pages, height, width, channels = self.array.shape
        step_page, step_y, step_x, step_channel = self.array.strides
        return _library.Image(self.array.ctypes.data, _TYPES[self.array.dtype.name],
                              int(self.channel == "A"), width, height, channels, pages, step_x,
                              step_y, step_channel, step_page, 0, self._page_axes or None)


class Shape:
    """The array that images of one size and type make, with the axes of the input in their order:
    those that are gone are left out, new channels are the last axis."""

    def __init__(self, layout: Layout | None, like: _library.Image, count: int) -> None:
        axes = layout.axes if layout else "YX"
        named = re.findall("([a-z])([0-9]+)", (like.page_axes or b"").decode())
        page_letters = [letter.upper() for letter, _ in named]
        page_shape = tuple(int(length) for _, length in named)
        if int(np.prod(page_shape)) != count:  # those of a volume of another number of planes
            page_letters = layout.pages if layout and len(layout.pages) == 1 else ["_"]
            page_shape = (count,)
        channel = (layout.channel if layout else "") or "C"
        is_row = axes == "X" and like.height == 1
        has_channels = like.channels > 1 or (layout is not None and layout.has_one_channel)
        lengths = {**dict(zip(page_letters, page_shape)), "Y": like.height, "X": like.width,
                   channel: like.channels}
        made = [c for c in lengths
                if not (c == "Y" and is_row) and not (c == channel and not has_channels)]
        order = [c for c in axes if c in made]
        order = ([c for c in made if c not in order and c != channel] + order
                 + [c for c in made if c not in order and c == channel])
        self.array = np.empty([lengths[c] for c in order], _CLASSES[like.type])
        view = self.array.transpose([order.index(c) for c in made])
        if is_row:
            view = np.expand_dims(view, len(page_shape))
        self._view = view if has_channels else view[..., np.newaxis]
        self._page_shape = page_shape

    def pages(self, like: _library.Image) -> Iterator[_library.Image]:
        """Where the library puts one image after the other."""
        for index in np.ndindex(*self._page_shape):
            page = self._view[index]
            step_y, step_x, step_channel = page.strides
            yield _library.Image(page.ctypes.data, like.type, like.alpha, like.width, like.height,
                                 like.channels, 1, step_x, step_y, step_channel, 0, 0, None)

