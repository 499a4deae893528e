#!/usr/bin/env python3
"""Tries the Python package with CuPy and PyTorch on a CUDA card, and measures it.

    python_on_card.py [--quick]

Run it where `import impipe` works: with the wheel installed, or unpacked by `python3 -m zipfile -e
impipe-*.whl DIR` and DIR on PYTHONPATH. Prints a line for each thing that was tried, with the numbers;
libraries that are not there are left out. Exit 1 where something is not so, 2 where neither is there.
"""
import argparse
import gc
import hashlib
import importlib
import sys
import time
import warnings

import numpy as np

import impipe

FAILED = []


def library(name):
    try:
        return importlib.import_module(name)
    except Exception as error:  # a library may be there without the driver that it needs
        print(f"{name}: not here ({type(error).__name__}: {error})")
        return None


cupy, torch = library("cupy"), library("torch")


def say(is_so, what):
    print(("ok    " if is_so else "NOT   ") + what, flush=True)
    if not is_so:
        FAILED.append(what)


def pictures():
    rng = np.random.default_rng(7)
    single = rng.normal(1e3, 5, (200, 301)).astype(np.float32)
    single[3, 4:9], single[7, 2], single[8, 8] = np.nan, np.inf, -np.inf
    return {
        "uint8 512x512": ((rng.random((512, 512)) * 256).astype(np.uint8), None),
        "uint8 colour HWC": ((rng.random((500, 701, 3)) * 256).astype(np.uint8), None),
        "uint8 colour CHW": ((rng.random((3, 480, 640)) * 256).astype(np.uint8), "CYX"),
        "uint16 odd": (rng.choice(np.array([0, 1, 300, 65534, 65535], np.uint16), (333, 271)), None),
        "single with NaN and Inf": (single, None),
        "single 10": (rng.normal(10, 1, (256, 128)).astype(np.float32), None),
        "single 1e5": (rng.normal(1e5, 1, (64, 64)).astype(np.float32), None),
        "logical": (rng.random((96, 256)) > 0.5, None),
        "1x1": (np.array([[77]], np.uint8), None),
        "pages": ((rng.random((5, 40, 128)) * 256).astype(np.uint8), "ZYX"),
        "RGBA": ((rng.random((64, 48, 4)) * 256).astype(np.uint8), "YXA"),
        "every second": ((rng.random((300, 400)) * 256).astype(np.uint8)[::2, ::-3], None),
    }


TEXTS = ["", "imcomplement", "imgaussfilt 2", "imadjust | conv2 k7 | edge prewitt", "medfilt2 5",
         "mat2gray", "imresize 0.37", "imrotate 30 bilinear", "rgb2gray | imbinarize | bwlabel",
         "graythresh as t | imbinarize t", "project max", "im2single | save 'a' | imgaussfilt 1"]


def on_card(name, array):
    """The same pixels on the card; None where the library has not such arrays."""
    is_strided = any(step < 0 for step in array.strides)
    if name == "cupy":
        return cupy.asarray(array.base)[::2, ::-3] if is_strided else cupy.asarray(array)
    if is_strided or (
            array.dtype == np.uint16 and not hasattr(torch, "uint16")):
        return None
    return torch.from_numpy(array).cuda()


def back(name, array):
    """A result as an array of the library, without a copy, and its address."""
    if name == "cupy":
        made = cupy.from_dlpack(array)
        return made, made.data.ptr
    made = torch.from_dlpack(array)
    return made, made.data_ptr()


def bits(array):
    array = np.ascontiguousarray(array)
    return hashlib.sha256(array.view(np.uint8) if array.size else b"").hexdigest()


def fetched(name, array):
    return array.get() if name == "cupy" else array.cpu().numpy()


def why_wrong(name, text, array, axes):
    """Of one pipeline on the card, beside the CPU; empty: nothing, None: it was not tried."""
    try:
        wanted = impipe.run(text, array, axes=axes)
    except impipe.Error:
        return None
    there = on_card(name, array)
    if there is None:
        return None
    got = impipe.run(text, there, axes=axes)
    if not isinstance(got, impipe.Array):
        return f"it is {type(got)}"
    made, address = back(name, got)
    host = fetched(name, made)
    if address != got.__cuda_array_interface__["data"][0]:
        return "the library has copied the result"
    if (host.dtype, host.shape, bits(host)) != (wanted.dtype, wanted.shape, bits(wanted)):
        return f"{host.dtype} {host.shape}, not {wanted.dtype} {wanted.shape}, or other pixels"
    if bits(np.asarray(got)) != bits(wanted):
        return "numpy.asarray has other pixels"
    return "" if bits(fetched(name, there)) == bits(array) else "the input has changed"


def check_bits(name):
    same, wrong = 0, []
    for kind, (array, axes) in pictures().items():
        for text in TEXTS:
            try:
                why = why_wrong(name, text, array, axes)
            except Exception as error:  # the others are tried, too
                why = f"{type(error).__name__}: {error}"
            if why:
                wrong.append(f"{text!r} of {kind}: {why}")
            same += why == ""
    say(not wrong, f"{name}: {same} results have the CPU's bits and lie where the library finds them")
    for line in wrong[:30]:
        print("      " + line)


def check_places(name):
    rng = np.random.default_rng(3)
    for what, shape, axes, stays in [("512x512", (512, 512), None, True),
                                     ("CHW", (3, 480, 640), "CYX", True),
                                     ("HWC", (480, 640, 3), None, False),
                                     ("rows of 701 bytes", (500, 701), None, False)]:
        there = on_card(name, (rng.random(shape) * 256).astype(np.uint8))
        result = impipe.Pipeline("imcomplement").result(there, axes=axes)
        copied = [note for note in result.notes if "copies" in note]
        say(bool(copied) != stays, f"{name} {what}: read in place {not copied}")
        _, address = back(name, result.image)
        before = there.data.ptr if name == "cupy" else there.data_ptr()
        same = impipe.run("", there, axes=axes).__cuda_array_interface__["data"][0]
        say(before not in (address, same), f"{name} {what}: results have memory of their own")


def check_cupy_streams():
    p = impipe.Pipeline("imcomplement")
    slow = cupy.RawKernel("""extern "C" __global__ void slow(unsigned char* a, int value) {
        const long long start = clock64();
        while (clock64() - start < 100000000) {}
        for (int i = threadIdx.x; i < 512 * 512; i += blockDim.x) a[i] = value;
    }""", "slow")
    wrong = 0
    for turn in range(8):
        with cupy.cuda.Stream(non_blocking=True):
            x = cupy.zeros((512, 512), cupy.uint8)
            slow((1,), (256,), (x, np.int32(turn + 1)))
            wrong += int((np.asarray(p(x)) != 254 - turn).sum())
            del x
    say(wrong == 0, f"cupy: a stream's work is done before its array is read ({wrong} pixels wrong)")


def check_torch_streams():
    p, wrong, changed = impipe.Pipeline("imcomplement"), 0, 0
    for turn in range(8):
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.zeros((512, 512), dtype=torch.uint8, device="cuda")
            torch.cuda._sleep(100_000_000)
            x.fill_(turn + 1)
            wrong += int((np.asarray(p(x)) != 254 - turn).sum())
            # The result is let go while its reader waits; its memory must not get another image.
            y = torch.from_dlpack(p(x))
            torch.cuda._sleep(100_000_000)
            z = y + 1
            del y
        for other in range(4):
            p(torch.full((512, 512), other, dtype=torch.uint8, device="cuda"))
        torch.cuda.synchronize()
        changed += int((z.cpu().numpy() != 255 - turn).sum())
    say(wrong == 0, f"torch: a stream's work is done before its array is read ({wrong} pixels wrong)")
    say(changed == 0, f"torch: memory that a stream still reads stays ({changed} pixels wrong)")


def check_memory(name):
    there = on_card(name, np.zeros((2048, 2048), np.uint8))
    p = impipe.Pipeline("imcomplement")

    def free():
        gc.collect()
        return (cupy.cuda.Device().mem_info if name == "cupy" else torch.cuda.mem_get_info())[0]
    back(name, p(there))
    before = free()
    for _ in range(500):
        back(name, p(there))
        p(there).__dlpack__()  # a capsule that nobody takes
    say(before - free() < 64 << 20, f"{name}: 1000 results took {(before - free()) >> 20} MiB")


def check_devices():
    count = torch.cuda.device_count()
    for number in range(count):
        torch.cuda.set_device(count - 1)
        x = torch.zeros((64, 128), dtype=torch.uint8, device=f"cuda:{number}")
        got = impipe.run("imcomplement", x)
        made = torch.from_dlpack(got)
        del got
        is_so = (made.device == x.device and int(made.min()) == 255
                 and torch.cuda.current_device() == count - 1)
        say(is_so, f"torch: cuda:{number} with cuda:{count - 1} current")
    torch.cuda.set_device(0)
    if count > 1:
        try:
            impipe.run("imcomplement", x, device="cuda:0")
            say(False, "an array on another card than device= is refused")
        except impipe.PipelineError as error:
            say(True, f"an array on another card than device=: {error}")


def best(call, rounds=100, calls=20):
    least = 1e9
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        least = min(least, (time.perf_counter() - start) / calls)
    return least


def measure_calls(name):
    small, p = on_card(name, np.zeros((16, 128), np.uint8)), impipe.Pipeline("imcomplement")
    p(small)
    seconds = best(lambda: p(small))
    say(seconds <= 80e-6, f"{name}: a call on 16x128 takes {seconds * 1e6:.1f} us (80 at most)")
    with_tensor = best(lambda: back(name, p(small)))
    print(f"      {name}: with from_dlpack of the result {with_tensor * 1e6:.1f} us")


def peers():
    try:
        cucim = importlib.import_module("cucim.skimage.filters")
        median = importlib.import_module("cucim.skimage.filters").median
        footprint = cupy.ones((5, 5), cupy.uint8)
        return "cuCIM", {"imgaussfilt 2": lambda x: cucim.gaussian(x, 2, preserve_range=True),
                         "medfilt2 5": lambda x: median(x, footprint)}
    except Exception as error:
        print(f"cuCIM: not here ({type(error).__name__})")
    ndimage = importlib.import_module("cupyx.scipy.ndimage")
    return "cupyx.scipy.ndimage", {
        "imgaussfilt 2": lambda x: ndimage.gaussian_filter(x, 2, truncate=2),
        "medfilt2 5": lambda x: ndimage.median_filter(x, 5)}


def measure_loops():
    rng = np.random.default_rng(1)
    images = [cupy.asarray((rng.random((512, 512)) * 256).astype(np.uint8)) for _ in range(100)]
    name, others = peers()

    def loop(call):
        def work():
            for image in images:
                call(image)
            cupy.cuda.Device().synchronize()
        work()
        return best(work, 10, 1)
    for text, other in others.items():
        p = impipe.Pipeline(text)
        ours, theirs = loop(p), loop(other)
        say(theirs >= 2 * ours, f"{text}, 100 pictures of 512x512: {ours * 1e3:.2f} ms, {name} "
            f"{theirs * 1e3:.2f} ms, ratio {theirs / ours:.2f} (2 at least)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="no measurements")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", impipe.Notice)
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, impipe {impipe.__version__}, CuPy "
          f"{cupy and cupy.__version__}, PyTorch {torch and torch.__version__}")
    checks = [(check_cupy_streams,)] if cupy else []
    checks += [(check_torch_streams,), (check_devices,)] if torch else []
    for name in [name for name, there in [("cupy", cupy), ("torch", torch)] if there]:
        checks += [(check_bits, name), (check_places, name), (check_memory, name)]
        checks += [] if quick else [(measure_calls, name)]
    checks += [(measure_loops,)] if cupy and not quick else []
    for check, *names in checks:
        try:
            check(*names)
        except Exception as error:  # the others are tried, too
            say(False, f"{check.__name__} {names}: {type(error).__name__}: {error}")
    print(f"{len(FAILED)} not so")
    return 2 if not checks else 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
