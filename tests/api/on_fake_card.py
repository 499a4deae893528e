"""The Python package with a card that is none (fake_cuda.c); prints what is not so. A CUDA array is one
of NumPy's here that says it lies on the card.

    on_fake_card.py [SEED COUNT]    how many random views are tried
"""
import ctypes
import os
import random
import sys
import types
import warnings

import numpy as np

import impipe
from impipe import _device

DRIVER = ctypes.CDLL("libcuda.so.1")
wrong = []


def check(is_so, what):
    if not is_so:
        wrong.append(what)


def log():
    """What the driver has said since the last time."""
    path = os.environ["FAKE_CUDA_LOG"]
    if not os.path.exists(path):
        return ""
    with open(path, encoding="ascii") as file:
        text = file.read()
    os.remove(path)
    return text


def aligned(array):
    """A copy that begins at a multiple of 512 bytes, as memory of the card does."""
    block = np.zeros(array.nbytes + 512, np.uint8)
    start = -block.ctypes.data % 512
    copy = block[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Card:
    """As CuPy and PyTorch give their arrays."""

    def __init__(self, array, number=0):
        self.array, self.number, self.streams, self.shape = array, number, [], array.shape

    def __dlpack_device__(self):
        return 2, self.number

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        is_logical = self.array.dtype == bool
        capsule = (self.array.view(np.uint8) if is_logical else self.array).__dlpack__()
        tensor = _device._Managed.from_address(_device._pointer_of(capsule, b"dltensor")).tensor
        tensor.device, tensor.device_number = 2, self.number
        tensor.kind = 6 if is_logical else tensor.kind
        return capsule


class Interface:
    """As Numba does."""

    def __init__(self, array, stream):
        self.__cuda_array_interface__ = {
            "shape": array.shape, "strides": array.strides, "typestr": array.dtype.str,
            "data": (array.ctypes.data, False), "version": 3, "stream": stream}
        self.array, self.shape = array, array.shape


class Cupy(Card):
    """An array that its interface describes without work in a stream."""

    device = types.SimpleNamespace(id=0)

    def __init__(self, array, stream):
        super().__init__(array)
        self.__cuda_array_interface__ = Interface(array, stream).__cuda_array_interface__


def seen(array):
    """The memory of a result, which is the host's here."""
    said = array.__cuda_array_interface__
    is_there = 0 in said["shape"] or DRIVER.fake_owns(ctypes.c_uint64(said["data"][0]))
    check(is_there, f"{said}: memory that is not the card's")
    size = sum(step * (count - 1) for step, count in zip(said["strides"], said["shape"]))
    item = np.dtype(said["typestr"]).itemsize
    if 0 in said["shape"]:
        return np.empty(said["shape"], said["typestr"])
    memory = (ctypes.c_uint8 * (size + item)).from_address(said["data"][0])
    return np.lib.stride_tricks.as_strided(
        np.frombuffer(memory, said["typestr"], 1), said["shape"], said["strides"])


def refused(kind, text, call):
    try:
        call()
        check(False, f"{text}: nothing was said")
    except kind as error:
        check(str(error) == text, f"{error}, not {text}")


def check_places():
    rng = np.random.default_rng(2)
    for what, axes, shape, dtype, in_place in [
            ("rows of 128 bytes", None, (16, 128), np.uint8, True),
            ("words", None, (5, 64), np.uint16, True), ("singles", None, (5, 32), np.float32, True),
            ("logical", None, (5, 256), bool, True), ("planes", "CYX", (3, 16, 128), np.uint8, True),
            ("pages", "ZYX", (4, 16, 128), np.uint8, True), ("odd rows", None, (16, 77), np.uint16, False),
            ("colour", None, (16, 128, 3), np.uint8, False), ("alpha", "YXA", (9, 20, 4), np.uint8, False),
            ("pages last", "YXZ", (9, 20, 5), np.float32, False), ("one", None, (1, 1), np.uint8, True)]:
        array = aligned((rng.random(shape) * 255).astype(dtype))
        there = Card(array)
        log()
        result = impipe.Pipeline("").result(there, axes=axes)
        said = log()
        check(there.streams == [1] and "stream 1 is waited for" in said, f"{what}: the stream")
        copies = [note for note in result.notes if "copies the image first" in note]
        check(bool(copies) != in_place and ("gathered" in said) != in_place, f"{what}: {said} {copies}")
        if in_place:
            check(f"copied from {array.ctypes.data:#x}" in said, f"{what}: read elsewhere: {said}")
        check(result.image.__dlpack_device__() == (2, 0), f"{what}: its device")
        check(np.array_equal(seen(result.image), array), f"{what}: its pixels")
        check(np.array_equal(np.asarray(result.image), array), f"{what}: its pixels by numpy")
        check(isinstance(impipe.run("", there, axes=axes, on_device=False), np.ndarray), f"{what}: on_device")


def check_volumes():
    """Planes go to kernels as they lie, all together, and those of the result are one array: nothing is copied, and
    neither launches nor waits grow with their number."""
    for text in ("imgaussfilt3 1", "imboxfilt3 1,3,5", "imopen3 sphere,1", "imdilate3 cuboid,5"):
        for dtype in (np.uint8, np.float32):
            calls = set()
            for planes in (7, 40):
                stack = aligned(np.zeros((planes, 16, 128), dtype))
                log()
                result = impipe.run(text, Card(stack), axes="ZYX")
                said = log()
                what = f"{text}: {np.dtype(dtype)}, {planes} planes"
                check((result.shape, result.__dlpack_device__()) == (stack.shape, (2, 0)), f"{what}: shape, device")
                check("copied" not in said and "gathered" not in said, f"{what}: {said}")
                calls.add((said.count("launched"), said.count("work is waited for")))
            check(len(calls) == 1 and max(max(calls)) < 30, f"{text}: {calls}")
    # Medians are launched for each plane.
    result = impipe.run("medfilt3 3", Card(stack), axes="ZYX")
    check((result.shape, result.__dlpack_device__()) == (stack.shape, (2, 0)), "medfilt3: its shape and device")
    check(log().count("work is waited for") < 6, "medfilt3: a wait for each plane")
    # Pages behind each other with a gap, and rows that no kernel reads.
    for shape, cut in (((5, 3, 16, 128), np.s_[:, :2]), ((5, 16, 130), np.s_[:, :, :128])):
        view = aligned(np.zeros(shape, np.uint8))[cut]
        made = impipe.run("imboxfilt3 3", Card(view), axes="ZCYX" if view.ndim == 4 else "ZYX")
        check((made.shape, np.asarray(made).any()) == (view.shape, False), f"a view of {shape}")


def check_reductions():
    """What the host makes of several pages goes back to the card."""
    for shape, axes in (((128, 96), None), ((3, 16, 128), "ZYX"), ((3, 7, 9), "ZYX"), ((50, 70, 3), None),
                        ((4, 3, 16, 128), "ZCYX"), ((9, 20, 4), "YXA"), ((1, 1), None)):
        for dtype in (np.uint8, np.uint16, np.float32, bool):
            array = aligned((np.random.default_rng(8).random(shape) * 255).astype(dtype))
            for text in ("project max", "project mean", "project median", "project std", "temporal median n=3",
                         "temporal max n=3 | project min", "bwdist3", "imresize3 2"):
                for one in (Card(array), array):
                    what = f"{text}: {shape} {np.dtype(dtype)}"
                    try:
                        wanted = impipe.run(text, array, axes=axes)
                    except impipe.Error:
                        continue
                    # bwdist3 takes a gray image, which is a kernel's work, and kernels make nothing here.
                    made = impipe.run(text, one, axes=axes, device="cuda:0", on_device=True)
                    check(made.__dlpack_device__() == (2, 0), f"{what}: its device")
                    check(text == "bwdist3" or np.array_equal(seen(made), wanted, equal_nan=dtype != bool),
                          f"{what}: its pixels")


def check_views():
    array = aligned(np.arange(64 * 256, dtype=np.uint16).reshape(64, 256))
    for view in [array[::2], array[:, ::-3], array[5:, 3:200], array.T, array[8:16], array[:1]]:
        check(np.array_equal(seen(impipe.run("", Card(view))), view), f"strides {view.strides}")
    check(np.array_equal(seen(impipe.run("fliplr | fliplr | fliplr", Card(array)))[:0], array[:0]), "fliplr")
    log()
    impipe.run("", Interface(array, 7))
    check("stream 7 is waited for" in log(), "the stream of the interface")
    sys.modules["cupy"] = types.SimpleNamespace(ndarray=Cupy)
    there = Cupy(array[::2], 7)
    check(np.array_equal(seen(impipe.run("", there)), array[::2]), "CuPy's pixels")
    check("stream 7 is waited for" in log() and not there.streams, "CuPy's stream")
    del sys.modules["cupy"]
    impipe.run("", Interface(array, 8))
    check("stream" not in log(), "a stream without work")
    check(np.array_equal(seen(impipe.run("", Interface(array, None))), array), "no stream")


class Tensor(Card):
    """What is asked of one of PyTorch's. With a gradient it says by DLPack that it has one."""

    requires_grad, is_cuda, layout = False, True, "strided"
    device = types.SimpleNamespace(index=0)

    def __init__(self, array):
        super().__init__(array)
        self.dtype = f"torch.{array.dtype}"

    def is_conj(self):
        return False

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def element_size(self):
        return self.array.itemsize

    def __dlpack__(self, *, stream=None):
        if self.requires_grad:
            raise BufferError("a gradient")
        return super().__dlpack__(stream=stream)


def check_torch():
    current = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=9 + device.index))
    sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor, strided="strided", cuda=current)
    array = aligned(np.arange(64 * 256, dtype=np.uint16).reshape(64, 256))
    for view in (array, array[::2, 5:100], array.T, array > 77):
        there = Tensor(view)
        log()
        got = impipe.run("", there)
        check("stream 9 is waited for" in log() and not there.streams, "PyTorch's current stream")
        check(np.array_equal(seen(got), view), f"PyTorch's array with strides {view.strides}")
    there = Tensor(array.astype(np.int32))
    there.dtype = "torch.bfloat16"
    there.requires_grad = True
    refused(BufferError, "a gradient", lambda: impipe.run("", there))
    del sys.modules["torch"]


def outcome(array, axes):
    """A result, or what is said against the array."""
    try:
        return impipe.run("", array, axes=axes), ""
    except (impipe.Error, TypeError) as error:
        return None, str(error)


def random_view(chance):
    shape = [chance.choice([1, 2, 3, 4, 5, 7, 16, 31, 32, 33, 64, 128])
             for _ in range(chance.choice([1, 2, 2, 3, 3, 4, 5]))]
    while np.prod(shape) > 100_000:
        shape[chance.randrange(len(shape))] = 1
    numbers = np.random.default_rng(chance.randrange(1 << 30)).integers(0, 300, shape)
    view = aligned(numbers.astype(chance.choice([bool, np.uint8, np.uint16, np.float32])))
    for _ in range(chance.randrange(3)):
        axis = chance.randrange(view.ndim)
        before = (slice(None),) * axis
        view = chance.choice([view.transpose(chance.sample(range(view.ndim), view.ndim)),
                              view[(*before, slice(None, None, chance.choice([-1, 2, -3])))],
                              view[(*before, slice(chance.randrange(3), None))]])
    return view


def check_random_views(seed, count):
    """Arrays on the card are what the same arrays in the host's memory are."""
    chance = random.Random(seed)
    refusals = 0
    for _ in range(count):
        view = random_view(chance)
        named = chance.random() < 0.7
        axes = "".join(chance.sample("YXCATZSB", view.ndim)) if named else None
        wanted, why = outcome(view, axes)
        got, why_there = outcome(chance.choice([Card(view), Interface(view, 1)]), axes)
        what = f"{view.shape} {view.strides} {axes}"
        if got is None:
            refusals += 1
            check(why == why_there or "one step has to lead" in why_there, f"{what}: {why_there}, {why}")
        else:
            check(wanted is not None and np.array_equal(np.asarray(got), wanted)
                  and np.array_equal(seen(got), wanted), f"{what}: other pixels")
    check(refusals < 0.9 * count, f"{refusals} of {count} are refused")


def check_lives():
    array = aligned(np.full((64, 128), 5, np.uint8))
    mine = (ctypes.c_char * 1)()
    DRIVER.cuCtxSetCurrent(ctypes.byref(mine))
    result = impipe.run("", Card(array))
    capsule = result.__dlpack__(stream=1)
    np.asarray(result)
    log()
    del result
    check("context is waited for" not in log(), "the capsule keeps the memory")
    del capsule
    check("context is waited for" in log(), "it is not used again while another library reads it")
    result = impipe.run("", Card(array))
    result.shape, result.dtype, len(result)
    del result
    check("context is waited for" not in log(), "nobody has its address")
    now = ctypes.c_void_p()
    DRIVER.cuCtxGetCurrent(ctypes.byref(now))
    check(now.value == ctypes.addressof(mine), "the thread's context is another")
    check(impipe.run("", Card(array, 1)).__dlpack_device__() == (2, 1), "the second card")
    refused(ValueError, "stream=0 says not which stream it is: 1 is CUDA's default stream",
            lambda: impipe.run("", Card(array)).__dlpack__(stream=0))


def check_errors():
    array = aligned(np.zeros((64, 128), np.uint8))
    refused(impipe.PipelineError, "images are on several devices: cuda:0, cuda:1",
            lambda: impipe.run("imadd :b", Card(array), b=Card(array, 1)))
    refused(impipe.PipelineError, "the image is on cuda:1, and device='cuda:0'",
            lambda: impipe.run("", Card(array, 1), device="cuda:0"))
    refused(impipe.ImageError, "an array of double on a device is not converted: make it bool, uint8, "
            "uint16 or float32 there", lambda: impipe.run("", Card(array.astype(float))))
    refused(TypeError, "an array of DLPack's type 5 with 128 bits is no image: bool, uint8, uint16 and "
            "float32 are, on a device", lambda: impipe.run("", Card(array.astype(complex))))
    pages = np.zeros((2, 8, 3, 8), np.uint8)
    refused(impipe.ImageError, "(2, 8, 3, 8), axes='TYZX': one step has to lead from page to page of an "
            "array on a device; make the axes of pages adjacent",
            lambda: impipe.run("", Card(pages), axes="TYZX"))
    rocm = Card(array)
    rocm.__class__ = type("Rocm", (Card,), {"__dlpack_device__": lambda self: (10, 0)})
    refused(impipe.ImageError, "an array on a device of DLPack's type 10: CUDA's and the host's memory can "
            "be used", lambda: impipe.run("", rocm))


warnings.simplefilter("ignore", impipe.Notice)
for part in [check_places, check_volumes, check_reductions, check_views, check_torch, check_lives, check_errors]:
    part()
check_random_views(*map(int, sys.argv[1:] or (1, 1500)))
print("\n".join(wrong) or "all is so")
