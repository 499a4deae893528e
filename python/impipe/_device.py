"""Arrays in the memory of devices, by DLPack and __cuda_array_interface__: those of CuPy, PyTorch and
others as inputs, and results that stay on a device."""
from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _library
from ._library import ImageError, checked, function

if TYPE_CHECKING:
    from ._arrays import Shape


class _Tensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device", c_int32), ("device_number", c_int32),
                ("axes", c_int32), ("kind", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("offset", c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("free", c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("free", c_void_p),
                ("flags", c_uint64), ("tensor", _Tensor)]


_KINDS: dict[bytes, Any] = {b"dltensor": _Managed, b"dltensor_versioned": _Versioned}
_HOST, _CUDA, _PINNED, _OPENCL, _MANAGED = 1, 2, 3, 4, 13
_LEGACY_STREAM = 1  # it waits for the producer's own, and the library for it
_DTYPES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8",
           (1, 16): "uint16", (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16",
           (2, 32): "float32", (2, 64): "float64", (6, 8): "bool"}
_NAMES = frozenset(_DTYPES.values())
_Free = ctypes.CFUNCTYPE(None, c_void_p)


def _python(name: str, result: Any, *arguments: Any) -> Any:
    found = getattr(ctypes.pythonapi, name)
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(found, c_void_p).value or 0)


_new_capsule = _python("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
_name_of = _python("PyCapsule_GetName", c_char_p, ctypes.py_object)
_pointer_of = _python("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
# While a capsule is deallocated there is no object any more.
_dead_is = _python("PyCapsule_IsValid", ctypes.c_int, c_void_p, c_char_p)
_dead_pointer_of = _python("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _drop(capsule: int) -> None:
    """Frees the tensor of a capsule that no library has taken."""
    for name, kind in _KINDS.items():
        if _dead_is(capsule, name):
            pointer = _dead_pointer_of(capsule, name)
            _Free(kind.from_address(pointer).free)(pointer)


class Memory(NamedTuple):
    """The pixels of an array, on a device or, where that is empty, in the host's memory."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    dtype: str
    device: str
    stream: int
    owner: Any  # keeps the memory


def memory_of(given: Any, device: str | None) -> Memory | None:
    """None: it is the host's. device: of an array that does not say on which card it is."""
    if isinstance(given, Array):
        return given._memory()
    if (torch := sys.modules.get("torch")) and type(given) is torch.Tensor and given.is_cuda:
        found = _of_torch(torch, given)
        if found is not None:
            return found
    # By the interface, which names a stream, where its __dlpack__ records an event and waits for it.
    if (cupy := sys.modules.get("cupy")) and type(given) is cupy.ndarray:
        return _by_interface(given.__cuda_array_interface__, given, f"cuda:{given.device.id}")
    if hasattr(given, "__dlpack_device__"):
        kind, number = given.__dlpack_device__()
        if kind in (_CUDA, _MANAGED):
            return _by_dlpack(given, f"cuda:{int(number)}")
        if kind not in (_HOST, _PINNED):
            raise ImageError(f"an array on a device of DLPack's type {int(kind)}: CUDA's and the "
                             "host's memory can be used")
    elif hasattr(given, "__cuda_array_interface__"):
        return _by_interface(given.__cuda_array_interface__, given,
                             device if device and device.startswith("cuda:") else "cuda:0")
    return None


def _of_torch(torch: Any, given: Any) -> Memory | None:
    """Without a capsule, which PyTorch makes in Python for 30 us. None: DLPack says what is wrong."""
    dtype = str(given.dtype).removeprefix("torch.")
    if given.requires_grad or given.is_conj() or given.layout != torch.strided or dtype not in _NAMES:
        return None
    item = given.element_size()
    return Memory(given.data_ptr(), tuple(given.shape), tuple(step * item for step in given.stride()),
                  dtype, f"cuda:{given.device.index}",
                  torch.cuda.current_stream(given.device).cuda_stream, given)


def _by_dlpack(given: Any, device: str) -> Memory:
    # Not taken over: the capsule keeps the tensor, and frees it when it goes.
    capsule = given.__dlpack__(stream=_LEGACY_STREAM)
    name = _name_of(capsule)
    if name not in _KINDS:
        raise ImageError(f"a capsule {name!r} is none of DLPack's")
    tensor = _KINDS[name].from_address(_pointer_of(capsule, name)).tensor
    dtype = _DTYPES.get((tensor.kind, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"an array of DLPack's type {tensor.kind} with {tensor.bits} bits is no "
                        "image: bool, uint8, uint16 and float32 are, on a device")
    axes, item = tensor.axes, tensor.bits // 8
    shape = tuple(tensor.shape[:axes])
    if tensor.strides:
        strides = tuple(step * item for step in tensor.strides[:axes])
    else:
        strides = _without_gaps(shape, item)
    return Memory((tensor.data or 0) + tensor.offset, shape, strides, dtype, device, _LEGACY_STREAM,
                  capsule)


def _by_interface(said: dict[str, Any], given: Any, device: str) -> Memory:
    dtype = np.dtype(said["typestr"])
    if not dtype.isnative:
        raise ImageError("an array on a device in the other byte order")
    if said.get("mask") is not None:
        raise ImageError("an array on a device with a mask")
    shape = tuple(said["shape"])
    strides = tuple(said.get("strides") or ()) or _without_gaps(shape, dtype.itemsize)
    return Memory(said["data"][0], shape, strides, dtype.name, device, said.get("stream") or _LEGACY_STREAM, given)


def _without_gaps(shape: Sequence[int], item: int) -> tuple[int, ...]:
    strides = [item] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


class Array:
    """An image that stays in the memory of the device where it was computed.

    CuPy, PyTorch, JAX, Numba and others take it without a copy, and pipelines do:

    >>> edges = torch.from_dlpack(impipe.run('edge', picture_on_the_card))
    >>> cupy.from_dlpack(array)
    >>> numpy.asarray(array)    # of a card: a copy

    All work on it is done when a call returns it, so that any stream may use it.
    """

    __slots__ = ("__weakref__", "_address", "_handle", "_layout", "device", "dtype", "shape", "strides")
    if TYPE_CHECKING:
        #: As for devices of pipelines: 'cuda:0'.
        device: str
        #: In bytes. Rows begin at multiples of 128 bytes, and channels are planes behind each other.
        strides: tuple[int, ...]
        _address: int

    def __init__(self, handle: c_void_p, layout: Shape) -> None:
        self._handle, self._layout = handle, layout
        self.dtype: np.dtype[Any] = layout.dtype
        self.shape: tuple[int, ...] = layout.shape

    def __getattr__(self, name: str) -> Any:
        """Where its memory is. An array whose address nobody has is freed without waiting for the card."""
        if name not in {"device", "strides", "_address"}:
            raise AttributeError(f"an impipe.Array has no {name}")
        like = _library.Image()
        function("array_describe")(self._handle, byref(like))
        found = {"_address": like.data, "strides": self._layout.steps_of(like),
                 "device": function("array_device")(self._handle).decode()}
        for key, value in found.items():
            setattr(self, key, value)
        return found[name]

    def __del__(self, free: Any = function("array_free")) -> None:
        free(self._handle)

    def __repr__(self) -> str:
        return f"<impipe.Array of {self.dtype}, shape {self.shape}, on {self.device}>"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(f"the array is on {self.device}: there is no view in the host's memory")
        pixels = self._layout.pixels()
        checked("array_copy", self._handle, byref(self._layout.image_of(pixels)))
        made = self._layout.arranged(pixels)
        return made if dtype is None else made.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        name, _, number = self.device.partition(":")
        return {"cpu": _HOST, "cuda": _CUDA}.get(name, _OPENCL), int(number or 0)

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule of DLPack. stream: any: there is no work on the array that it could wait for."""
        device = self.__dlpack_device__()
        if device[0] == _CUDA and stream == 0:
            raise ValueError("stream=0 says not which stream it is: 1 is CUDA's default stream")
        if copy or (dl_device is not None and tuple(dl_device) != device):
            raise BufferError("an impipe.Array is handed over as it is, on its device; "
                              "numpy.asarray copies it")
        versioned = max_version is not None and max_version[0] >= 1
        axes, item = len(self.shape), self.dtype.itemsize
        tensor = c_void_p()
        checked("array_tensor", self._handle, axes, (c_int64 * axes)(*self.shape),
                (c_int64 * axes)(*(step // item for step in self.strides)), int(versioned),
                byref(tensor))
        name = b"dltensor_versioned" if versioned else b"dltensor"
        return _new_capsule(tensor, name, ctypes.cast(_drop, c_void_p))

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self.device != "cpu":
            raise AttributeError(f"the array is on {self.device}")
        return self._interface()

    def _interface(self) -> dict[str, Any]:
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self._address, False), "version": 3}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self.device.startswith("cuda:"):
            raise AttributeError(f"the array is on {self.device}")
        return {**self._interface(), "stream": None}

    def _memory(self) -> Memory | None:
        if self.device == "cpu":
            return None
        return Memory(self._address, self.shape, self.strides, self.dtype.name, self.device,
                      _LEGACY_STREAM, self)
