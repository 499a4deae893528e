"""The Python package: its results are those of the program, from any thread and any array."""
import contextlib
import doctest
import io
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import threading
import unittest
import unittest.mock
import warnings

import numpy as np

from program import PROGRAM, ROOT, SANITIZED, ProgramTest, colour, ocio_config, ramp

BUILD = os.environ.get("IMPIPE_BUILD") or os.path.dirname(os.path.dirname(os.path.dirname(PROGRAM)))
os.environ["IMPIPE_LIBRARY"] = os.path.join(BUILD, "src", "api", "libimpipe.so")
os.environ["IMPIPE_PROGRAM"] = PROGRAM
sys.path.insert(0, os.path.join(ROOT, "python"))
if not SANITIZED:  # a sanitizer's library has to come first in a process
    import impipe


def bits(array):
    """An array that compares floats by their bits."""
    array = np.ascontiguousarray(array)
    return array.view(np.uint32) if array.dtype == np.float32 else array


def singles(height, width, offset=0.0, seed=3):
    rng = np.random.default_rng(seed)
    return (offset + rng.normal(0, 1, (height, width))).astype(np.float32)


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def with_nan(array):
    array = array.copy()
    array[3, 4:9] = np.nan
    array[7, 2], array[8, 8] = np.inf, -np.inf
    return array


def ends16(height=31, width=45):
    rng = np.random.default_rng(5)
    return rng.choice(np.array([0, 1, 300, 65534, 65535], np.uint16), (height, width))


def cells(height=30, width=40):
    """A logical image with some objects."""
    out = np.zeros((height, width), bool)
    out[3:9, 4:12] = out[15:22, 20:24] = out[5, 30] = True
    return out


IMAGES = {
    "gray": ramp(), "odd": ramp(37, 53, 1), "one": ramp(1, 1), "row": ramp(1, 33),
    "colour": colour(), "uint16": ends16(), "single": singles(33, 29),
    "at1e3": singles(33, 29, 1e3), "at1e5": singles(33, 29, 1e5), "nan": with_nan(singles(20, 24)),
    "logical": cells(), "int16": (ramp(20, 31).astype(np.int16) - 128), "double": ramp() / 7.0,
    "half": singles(12, 9).astype(np.float16), "two": colour()[..., :2],
}
# An image, and pipelines that end in one.
TO_IMAGES = [
    ("gray", ["imadjust | conv2 k7 | edge prewitt", "", "medfilt2 5 | imadjust", "adapthisteq",
              "imresize 0.4", "padarray 3,5 symmetric", "fliplr | rot90", "im2single | fft2",
              "graythresh as t | imbinarize t", "imgaussfilt 2 | watershed", "dither"]),
    ("odd", ["imrotate 30 bilinear", "imdilate disk,3 | imerode disk,3", "wiener2 5"]),
    ("one", ["imgaussfilt 2", "medfilt2 3", "imcomplement", "padarray 2,2"]),
    ("row", ["imgaussfilt 1 | imadjust"]),
    ("colour", ["rgb2lab | lab2rgb", "imgaussfilt 1.5", "rgb2gray | edge canny", "imresize 17,23",
                "imadjust | medfilt2 3"]),
    ("uint16", ["medfilt2 3", "imgaussfilt 2", "histeq", "imcomplement"]),
    ("single", ["imgaussfilt 1", "imlincomb 2 | stdfilt"]),
    ("at1e3", ["stdfilt", "medfilt2 3"]),
    ("at1e5", ["imboxfilt 5"]),
    ("nan", ["medfilt2 3", "imgaussfilt 1", "mat2gray", ""]),
    ("logical", ["bwdist", "bwlabel", "bwmorph thin n=inf", "imfill holes"]),
    ("int16", ["imgaussfilt 1", "mat2gray"]),
    ("double", ["imgaussfilt 1"]),
    ("half", ["medfilt2 3"]),
    ("two", ["imgaussfilt 1"]),
]


def program_result(test, text, image, *options):
    """What the program makes of an NPY, in the class in which it was computed."""
    test.picture("in.npy", image)
    test.impipe(text, "in.npy", "-o", "out.npy", *options, code=None)
    return np.load(test.path("out.npy"))


@unittest.skipIf(SANITIZED, "python itself has no sanitizer")
class Python(ProgramTest):
    def setUp(self):
        super().setUp()
        catcher = warnings.catch_warnings()
        catcher.__enter__()
        self.addCleanup(catcher.__exit__, None, None, None)
        warnings.simplefilter("ignore", impipe.Notice)

    def same(self, got, wanted, what):
        self.assertEqual(got.shape, wanted.shape, what)
        # The program writes a number type again where that holds every value.
        if got.dtype != wanted.dtype:
            self.assertIn(wanted.dtype.name, ("int16", "float64"), what)
            wanted = wanted.astype(got.dtype)
        np.testing.assert_array_equal(bits(got), bits(wanted), what)

    def test_images_are_those_of_the_program(self):
        for name, texts in TO_IMAGES:
            for text in texts:
                with self.subTest(image=name, text=text):
                    image = IMAGES[name]
                    self.same(impipe.run(text, image), program_result(self, text, image), text)

    def test_examples_of_all_operators_are_those_of_the_program(self):
        images = [ramp(), colour(), cells(40, 60), np.stack([ramp(12, 17, seed) for seed in range(5)])]
        compared, refused = 0, []
        for operator in json.loads(self.impipe("ops", "--json").out):
            if operator["name"] == "stack":  # takes files
                continue
            pipeline, got = impipe.Pipeline(operator["example"]), None
            for image in images:
                given = () if pipeline.has_source else (image,)
                try:
                    got = pipeline(*given, **{name: image for name in pipeline.operands})
                    break
                except impipe.Error:
                    continue
            if got is None:
                refused.append(operator["name"])
            elif isinstance(got, np.ndarray):
                self.picture("in.npy", image)
                self.impipe(pipeline.text, *["in.npy" for _ in given], "-o", "out.npy",
                            *[f"--with={name}=in.npy" for name in pipeline.operands], code=None)
                self.same(got, np.load(self.path("out.npy")), pipeline.text)
                os.remove(self.path("out.npy"))
                compared += 1
        self.assertGreater(compared, 100)
        # The operand of one is a table, others name files.
        self.assertEqual(refused, ["intlut", "lut3d", "ocio"])

    def test_pages_and_axes_are_those_of_the_program(self):
        stack = np.stack([ramp(13, 17, seed) for seed in range(6)])
        for text, axes, image in [
                ("imgaussfilt 1", None, stack), ("project median", None, stack),
                ("temporal mean n=3", None, stack), ("imgaussfilt3 1", None, stack),
                ("imresize3 7,8,3", None, stack), ("imgaussfilt 1", "TZYX", stack.reshape(2, 3, 13, 17)),
                ("project max axis=z", "TZYX", stack.reshape(2, 3, 13, 17)),
                ("project mean axis=t | imgaussfilt 1", "TZYX", stack.reshape(2, 3, 13, 17)),
                ("temporal median n=3 axis=t", "ZTYX", stack.reshape(2, 3, 13, 17)),
                ("fliplr", "CYX", stack[:3]), ("rgb2gray", "CYX", stack[:3]),
                ("imgaussfilt 1", "YXZ", np.moveaxis(stack, 0, -1)),
                ("imgaussfilt 2", "YXA", np.dstack([colour(), ramp(seed=9)])),
                ("imgaussfilt 1", None, stack[:2, ..., None]), ("imadjust", "ZYX", stack[:1]),
                ("imgaussfilt 1", None, stack[0, 0])]:
            with self.subTest(text=text, axes=axes):
                options = [f"--axes={axes}"] if axes else []
                self.same(impipe.run(text, image, axes=axes),
                          program_result(self, text, image, *options), text)

    def test_axes_that_stay_keep_their_order(self):
        v = np.random.default_rng(8).integers(0, 256, (3, 2, 4, 20, 24), np.uint8)
        for text, axes, image, wanted in [
                ("project max axis=t", "TCZYX", v, v.max(0)),
                ("project max axis=z", "TCZYX", v, v.max(2)),
                ("project max axis=t", "TZYX", v[:, 0, :1], v[:, 0, :1].max(0)),
                ("project max axis=t", "TZYX", v[:1, 0], v[0, 0]),
                ("project max", "TZYX", v[:1, 0, :1], v[0, 0, 0]),
                ("project max axis=t", "YXTZ", v[:, 0].transpose(2, 3, 0, 1),
                 v[:, 0].max(0).transpose(1, 2, 0)),
                ("project max axis=t", "ZYXT", v[:, 0].transpose(1, 2, 3, 0), v[:, 0].max(0))]:
            np.testing.assert_array_equal(impipe.run(text, image, axes=axes), wanted, text)
        doubled = impipe.run("imresize3 1,1,2", v[0, 0].transpose(1, 2, 0), axes="YXZ")
        self.assertEqual(doubled.shape, (20, 24, 8))
        saved = impipe.Pipeline("save a | project max axis=t").result(v[:, 0], axes="TZYX").saves
        np.testing.assert_array_equal(saved["a"], v[:, 0])

    def test_measurements_are_those_of_the_program(self):
        gray, rgb = ramp(), colour()
        self.assertEqual(impipe.run("mean2 | std2", gray).keys(), {"mean2", "std2"})
        for image, text in [(gray, "imhist"), (rgb, "imhist"), (rgb, "mean2 each"),
                            (gray, "graycomatrix"), (gray, "stretchlim")]:
            got = impipe.run(text, image)
            self.assertEqual(list(got), [text.split()[0]])
            got = np.asarray(got[text.split()[0]])
            wanted = program_result(self, text, image)  # of one number a channel: (1, channels)
            self.same(got, wanted[0] if text == "mean2 each" else wanted, text)
        self.assertEqual(impipe.run("mean2", gray)["mean2"], gray.mean())
        pages = np.stack([gray, gray[::-1] // 2])
        self.assertEqual(impipe.run("mean2 across=pages", pages), {"mean2": pages.mean()})

    def test_tables_are_those_of_the_program(self):
        self.picture("in.npy", cells())
        self.impipe("bwlabel | regionprops", "in.npy", "-o", "out.csv")
        with open(self.path("out.csv"), encoding="utf-8") as file:
            names = file.readline().strip().split(",")
            rows = np.loadtxt(file, delimiter=",")
        table = impipe.run("bwlabel | regionprops", cells())["regionprops"]
        self.assertEqual(list(table), names)
        np.testing.assert_allclose(np.stack(list(table.values()), -1), rows, rtol=1e-9)
        empty = impipe.run("bwlabel | regionprops", np.zeros((4, 5), bool))["regionprops"]
        self.assertEqual({column.shape for column in empty.values()}, {(0,)})
        volume = np.stack([cells()] * 3)
        self.assertEqual(impipe.run("bwlabeln | regionprops3", volume)["regionprops3"]["Volume"].sum(),
                         volume.sum())

    def test_a_result_has_all_that_comes_of_a_run(self):
        pages = np.stack([ramp(9, 8, seed) for seed in range(3)])
        result = impipe.Pipeline("mean2 | imhist as h | imcomplement | save '{stem}.png' | "
                                 "im2single").result(pages)
        np.testing.assert_array_equal(result.measurements["mean2"], pages.mean(axis=(1, 2)))
        self.assertEqual(result.measurements["h"].shape, (3, 256))
        np.testing.assert_array_equal(result.saves["{stem}.png"], 255 - pages)
        self.assertEqual((result.image.dtype, result.white), (np.float32, 1))
        self.assertEqual(os.listdir(self.folder), [])  # nothing is written
        self.assertEqual(impipe.Pipeline("bwdist").result(cells()).white, 0)

    def test_strides_byte_orders_and_lists(self):
        big = colour(60, 80)
        for view in [big[::-2, ::3], big.transpose(1, 0, 2), big[..., ::-1], big[..., 1],
                     np.broadcast_to(big[:, :1, :1], (60, 7, 3)), np.asfortranarray(big),
                     big[5:9, 11:12]]:
            self.same(impipe.run("imgaussfilt 1", view),
                      impipe.run("imgaussfilt 1", view.copy(order="C")), view.strides)
        words = ends16()
        self.same(impipe.run("medfilt2 3", words.astype(">u2")), impipe.run("medfilt2 3", words), "")
        odd = np.frombuffer(b"x" + words.tobytes(), np.uint8)[1:].view(np.uint16)
        self.same(impipe.run("medfilt2 3", odd.reshape(words.shape)),
                  impipe.run("medfilt2 3", words), "unaligned")
        read_only = ramp()
        read_only.flags.writeable = False
        before = read_only.copy()
        impipe.run("", read_only)[:] = 0
        np.testing.assert_array_equal(read_only, before)  # results share no memory

    def test_operands_and_sources(self):
        a, b = ramp(seed=1), ramp(seed=2)
        self.picture("b.npy", b)
        text = "imlincomb 1 -0.5 :b"
        self.same(impipe.run(text, a, b=b), program_result(self, text, a, "--with", "b=b.npy"), text)
        self.assertEqual(impipe.Pipeline(text).operands, ("b",))
        planes = colour().transpose(2, 0, 1)
        np.save(self.path("b.npy"), planes[:, ::-1])
        self.same(impipe.run(text, planes, axes="CYX", b=planes[:, ::-1]),
                  program_result(self, text, planes, "--with", "b=b.npy", "--axes=CYX"), "axes")
        self.impipe("phantom 32 | imgaussfilt 1", "-o", "p.npy")
        self.same(impipe.run("phantom 32 | imgaussfilt 1"), np.load(self.path("p.npy")), "phantom")
        with self.assertRaisesRegex(impipe.PipelineError, "takes no input"):
            impipe.run("phantom 32", a)

    def test_the_plan_is_that_of_the_program(self):
        text = "imadjust | conv2 k7 | edge prewitt"
        plan = self.impipe("plan", text, "--class", "uint16", "--channels", "3").out
        self.assertEqual(impipe.Pipeline(text).plan(np.zeros((4, 5, 3), np.uint16)), plan)
        self.assertEqual(impipe.Pipeline("project max | edge").plan(),
                         self.impipe("plan", "project max | edge").out)

    def test_a_library_that_is_not_there_is_named(self):
        run = subprocess.run([sys.executable, "-c", "import impipe"], capture_output=True, text=True,
                             env={**os.environ, "IMPIPE_LIBRARY": self.path("none.so"),
                                  "PYTHONPATH": os.path.join(ROOT, "python")})
        self.assertEqual(run.stderr.splitlines()[-1],
                         f"ImportError: the library of impipe, {self.path('none.so')}, cannot be "
                         f"loaded ({self.path('none.so')}: cannot open shared object file: No such "
                         "file or directory): install libimpipe0, or let the variable "
                         "IMPIPE_LIBRARY be the path of libimpipe.so.0")

    def check_error(self, kind, message, text, *arguments, **options):
        with self.assertRaises(kind) as caught:
            impipe.run(text, *arguments, **options)
        self.assertEqual(str(caught.exception), message)

    def test_errors_are_said_in_the_words_of_the_program(self):
        gray = ramp()
        self.check_error(impipe.PipelineError,
                         "pipeline:1:19: medfilt2: there is no parameter 'x'; it has size, pad\n"
                         "  imadjust|medfilt2 x=3\n"
                         "                    ^",
                         "imadjust|medfilt2 x=3", gray)
        self.check_error(impipe.PipelineError,
                         "pipeline:1:1: stack makes one image of several files, and here are "
                         "none; `project` makes one of an image's pages\n  stack mean\n  ^^^^^^^^^^",
                         "stack mean", gray)
        self.check_error(impipe.PipelineError,
                         "the pipeline reads an image ':b': give an operand b, or keep one with "
                         "`as b`", "imadd :b", gray)
        self.check_error(impipe.PipelineError, "c= is no argument, and the pipeline reads no image "
                         "':c'; there are axes=, device=, cancel= and on_device=", "imcomplement",
                         gray, c=gray)
        self.check_error(impipe.PipelineError, "devise= is no argument, and the pipeline reads no "
                         "image ':devise'; there are b=, axes=, device=, cancel= and on_device=",
                         "imadd :b", gray, devise="cpu", b=gray)
        for name in ("threads", "memory", "strict", "sandbox"):
            self.check_error(impipe.PipelineError, f"{name}= belongs to a pipeline: "
                             f"impipe.Pipeline(text, {name}=...)", "edge", gray, **{name: 2})
        self.check_error(impipe.PipelineError, "the pipeline needs an image", "imcomplement")
        self.check_error(impipe.ImageError,
                         "imadd: the current image is 60x40, :b is 12x40", "imadd :b", gray,
                         b=gray[:, :12])
        self.check_error(impipe.ImageError, "the image is 0x5 x 1, and has 1 pages: there is "
                         "nothing in it", "imcomplement", np.zeros((5, 0), np.uint8))
        self.check_error(impipe.ImageError, "the image is 7x4 x 0: 1 to 1000 channels are taken, and "
                         "perhaps an alpha", "imcomplement", np.zeros((16, 4, 2, 0, 7), np.uint8),
                         axes="ZYSAX")
        self.check_error(TypeError, "an array of complex128 is no image: bool, integers of 8 to 64 "
                         "bits and floats of 16 to 64 bits are", "imcomplement", gray + 1j)
        self.check_error(TypeError, "'a.png' is no image; impipe.files runs a pipeline over files",
                         "imcomplement", "a.png")
        masked = np.ma.masked_equal(np.arange(12, dtype=np.float32).reshape(3, 4), 7)
        self.check_error(TypeError, "values of the array are masked, and images have no masks; its "
                         "filled(numpy.nan) is one", "mean2", masked)
        self.assertEqual(impipe.run("max", np.ma.array(masked.data))["max"], 11)
        self.check_error(TypeError, "text=3 is no str", 3, gray)
        self.check_error(TypeError, "device=0 is no str", "imcomplement", gray, device=0)
        self.check_error(impipe.ImageError, "an array of shape (5, 6, 7, 8) does not say what its "
                         "axes are; give axes=, a letter for each, as TZCYX", "imcomplement",
                         np.zeros((5, 6, 7, 8), np.uint8))
        self.check_error(impipe.ImageError, "numbers of type int16 have no white, and so no alpha",
                         "imcomplement", np.zeros((5, 6, 2), np.int16), axes="YXA")
        self.check_error(impipe.PipelineError, "axes='YZ': it has no X", "imcomplement", gray,
                         axes="YZ")
        self.check_error(impipe.DeviceError, "--device: there is no device 'cart:0'; see impipe "
                         "devices", "imcomplement", gray, device="cart:0")
        for memory in (1000, 1 << 20):
            with self.assertRaises(impipe.OutOfMemory) as caught:
                impipe.Pipeline("", memory=memory)(np.zeros((2000, 1000), np.uint8))
            least, most = map(int, re.fullmatch(
                r"out of memory: the image takes at least (\d+) bytes, and the session may take "
                r"(\d+)", str(caught.exception)).groups())
            self.assertGreaterEqual(least, 2000 * 1000)
            self.assertEqual(most, memory)

    def test_a_text_that_is_not_trusted_reads_below_its_folders(self):
        self.write("in/k.txt", "1 2 1\n")
        self.write("k.txt", "1 2 1\n")
        pipeline = impipe.Pipeline(f"conv2 @{self.path('in/k.txt')}", sandbox=self.path("in"))
        self.same(pipeline(ramp()), impipe.run("conv2 [1 2 1]", ramp()), "@file")
        self.same(pickle.loads(pickle.dumps(pipeline))(ramp()), pipeline(ramp()), "pickled")
        for wrong in ({"memory": 1 << 64}, {"threads": (1 << 32) + 1}, {"sandbox": "on\0"},
                      {"device": "cpu\0"}):
            with self.assertRaises(impipe.Error, msg=wrong):
                impipe.Pipeline("imcomplement", **wrong)
        for sandbox in [self.path("in"), pathlib.Path(self.path("in")), "on", ""]:
            with self.assertRaisesRegex(impipe.PipelineError, "(?s)sandbox.*\\^"):
                impipe.Pipeline(f"conv2 @{self.path('k.txt')}", sandbox=sandbox)

    def test_what_is_guessed_and_rounded_is_a_notice(self):
        for text, array, note in [
                ("edge", colour(), "edge: colour images go through rgb2gray first"),
                ("imcomplement", np.zeros((3, 5, 6), np.uint8),
                 "(3, 5, 6) is read as ZYX, 3 pages; axes= names the axes"),
                ("imcomplement", np.zeros((3, 5, 4), np.uint8),
                 "(3, 5, 4) is read as YXC, 4 channels, none of them an alpha; axes='YXA' says "
                 "that the last is one"),
                ("fliplr", np.full((1, 2), 16777217, np.int32),
                 "single cannot hold 2 of its values (16777217 becomes 16777216)")]:
            with self.assertWarns(impipe.Notice) as caught:
                impipe.run(text, array)
            self.assertEqual(str(caught.warning), note)
            self.assertEqual(os.path.basename(caught.filename), "test_python.py")
        with self.assertRaisesRegex(impipe.ImageError, "^strict: single cannot hold 2 of its"):
            impipe.Pipeline("fliplr", strict=True)(np.full((1, 2), 16777217, np.int32))

    def test_threads_at_once(self):
        pipeline = impipe.Pipeline("imadjust | medfilt2 5 | imgaussfilt 2", threads=2)
        images = [ramp(90 + i, 80, i) for i in range(4)]
        wanted = [pipeline(image) for image in images]
        wrong = []

        def work(which):
            for turn in range(12):
                i = (which + turn) % len(images)
                if not np.array_equal(pipeline(images[i]), wanted[i]):
                    wrong.append((which, turn))
                if not np.array_equal(impipe.run(f"imadd {turn}", images[0]),
                                      np.clip(images[0].astype(int) + turn, 0, 255)):
                    wrong.append((which, turn, "run"))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_call_in_another_thread_is_cancelled(self):
        cancel, ended = impipe.Cancel(), []
        pipeline = impipe.Pipeline("medfilt2 3", threads=1)

        def work():
            try:
                while True:
                    pipeline(np.zeros((300, 300), np.uint8), cancel=cancel)
            except impipe.Cancelled as error:
                ended.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        cancel.cancel()
        thread.join(60)
        self.assertEqual(ended, ["cancelled"])

    def test_other_devices_have_the_same_bits(self):
        pipeline = impipe.Pipeline("imgaussfilt 2 | imadjust")
        missing = []
        for device in ["opencl", "cuda"]:
            try:
                impipe.Pipeline("imcomplement", device=device)
            except impipe.DeviceError as error:
                missing.append(str(error))
                continue
            for name in ["colour", "nan", "uint16"]:
                self.same(pipeline(IMAGES[name], device=device), pipeline(IMAGES[name]), name)
        if len(missing) == 2:
            self.skipTest("; ".join(missing))

    def test_results_that_stay_are_handed_over_without_a_copy(self):
        stack = np.stack([ramp(13, 17, seed) for seed in range(6)])
        for text, axes, image in [
                ("imgaussfilt 1", None, ramp(37, 53)), ("imcomplement", None, colour()),
                ("", "CYX", stack[:3]), ("imadjust", "TZYX", stack.reshape(2, 3, 13, 17)),
                ("fliplr", "YXTZ", np.moveaxis(stack.reshape(2, 3, 13, 17), (0, 1), (2, 3))),
                ("imgaussfilt 2", "YXA", np.dstack([colour(), ramp(seed=9)])), ("", None, ramp(1, 1)),
                ("", None, ramp(1, 9)[0]), ("mat2gray", None, IMAGES["nan"]), ("edge", None, ramp()),
                ("medfilt2 3", None, ends16()), ("project max axis=z", "TZYX", stack.reshape(2, 3, 13, 17)),
                ("rgb2gray", None, stack[:2, ..., None].repeat(3, -1))]:
            with self.subTest(text=text, axes=axes):
                wanted = impipe.run(text, image, axes=axes)
                array = impipe.run(text, image, axes=axes, on_device=True)
                self.assertIsInstance(array, impipe.Array)
                self.assertEqual((array.shape, array.dtype, array.device, array.ndim, len(array)),
                                 (wanted.shape, wanted.dtype, "cpu", wanted.ndim, len(wanted)))
                view = np.asarray(array) if wanted.dtype == bool else np.from_dlpack(array)
                self.assertEqual((view.ctypes.data, view.strides), (array._address, array.strides))
                self.same(view, wanted, text)
                self.same(impipe.run("", array, axes=axes if wanted.ndim == image.ndim else None),
                          impipe.run("", wanted, axes=axes if wanted.ndim == image.ndim else None), text)
                for version in [None, (1, 0), (1, 1)]:
                    array.__dlpack__(max_version=version)  # a capsule that is not taken
                self.assertEqual(np.asarray(array).ctypes.data, view.ctypes.data)
                del array
                impipe.run("imcomplement", image, axes=axes)
                self.same(view, wanted, "the memory is the view's")
        result = impipe.Pipeline("save 'a' | imcomplement | save 'b'").result(stack, on_device=True)
        self.same(np.asarray(result.saves["a"]), stack, "a")
        self.same(np.from_dlpack(result.saves["b"]), 255 - stack, "b")
        unlike = impipe.Pipeline("imresize 0.5").result(ramp(), on_device=True)
        with self.assertRaisesRegex(BufferError, "as it is"):
            unlike.image.__dlpack__(copy=True)
        self.assertEqual(impipe.run("mean2", ramp(), on_device=True), impipe.run("mean2", ramp()))

    def test_memory_that_is_handed_over_is_freed_by_who_has_it(self):
        image = np.zeros((3000, 3000), np.float32)
        view = np.from_dlpack(impipe.run("imcomplement", image, on_device=True))
        impipe.release_memory()
        before = resident()
        del view
        impipe.release_memory()
        self.assertGreater(before - resident(), 30 << 20)  # it has 36 MB

    def test_arrays_on_a_device_go_from_pipeline_to_pipeline(self):
        try:
            impipe.Pipeline("imcomplement", device="opencl")
        except impipe.DeviceError as error:
            self.skipTest(str(error))
        for name in ["colour", "nan", "uint16", "logical", "one"]:
            image = IMAGES[name]
            there = impipe.run("", image, device="opencl", on_device=True)
            self.assertEqual(there.device, "opencl:0")
            self.same(np.asarray(there), impipe.run("", image), name)  # with one NaN
            for text in ["imcomplement", "", "save 'a' | fliplr", "mean2 as m | padarray 1,2"]:
                result = impipe.Pipeline(text).result(there)
                wanted = impipe.Pipeline(text).result(image)
                self.assertEqual(result.image.device, "opencl:0")
                self.assertEqual([note for note in result.notes if "copies" in note], [])
                self.same(np.asarray(result.image), wanted.image, text)
                self.assertEqual(str(result.measurements), str(wanted.measurements))
                for key, saved in wanted.saves.items():
                    self.same(np.asarray(result.saves[key]), saved, key)
                self.same(impipe.Pipeline(text)(there, on_device=False), wanted.image, text)
            self.same(np.asarray(there), impipe.run("", image), "the input stays as it is")
        two = impipe.run("imadd :b", there, b=there)
        self.same(np.asarray(two), impipe.run("imadd :b", image, b=image), "operand")
        mixed = impipe.run("imadd :b", there, b=image)  # an operand of the host's
        self.same(np.asarray(mixed), impipe.run("imadd :b", image, b=image), "mixed")
        for name in ["colour", "uint16", "single"]:  # other strides, as a view has them
            there = impipe.run("", IMAGES[name], device="opencl", on_device=True)
            rows = there.shape[0] // 2
            there.shape = (rows, *there.shape[1:])
            there.strides = (2 * there.strides[0], *there.strides[1:])
            result = impipe.Pipeline("imgaussfilt 1").result(there)
            self.assertIn("copies the image first", result.notes[0])
            self.same(np.asarray(result.image), impipe.run("imgaussfilt 1", IMAGES[name][:2 * rows:2]), name)
        stack = np.stack([ramp(16, 128, seed) for seed in range(4)])
        there = impipe.run("", stack, device="opencl", on_device=True)
        for text in ["imcomplement", "project max"]:
            self.same(np.asarray(impipe.run(text, there)), impipe.run(text, stack), text)
        seen_through = np.random.default_rng(1).integers(0, 256, (31, 33, 4), np.uint8)
        there = impipe.run("", seen_through, axes="YXA", device="opencl", on_device=True)
        for text in ["im2single", "im2uint16", "mat2gray", "im2single | save 'a' | imcomplement"]:
            result = impipe.Pipeline(text).result(there, axes="YXA")
            wanted = impipe.Pipeline(text).result(seen_through, axes="YXA")
            self.same(np.asarray(result.image), wanted.image, text)
            for key, saved in wanted.saves.items():
                self.same(np.asarray(result.saves[key]), saved, key)
        self.check_error(impipe.PipelineError, "the image is on opencl:0, and device='cpu'",
                         "imcomplement", there, device="cpu")

    def test_arrays_on_a_card_are_read_where_they_lie(self):
        """With a driver that has no card: tests/api/fake_cuda.c says what it stands in for."""
        fake = self.path("libcuda.so.1")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", os.path.join(ROOT, "tests/api/fake_cuda.c"), "-o",
                        fake], check=True)
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "tests/api/on_fake_card.py")], capture_output=True,
            text=True, timeout=300,
            env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), "IMPIPE_NVRTC": fake,
                 "LD_LIBRARY_PATH": self.folder, "FAKE_CUDA_LOG": self.path("log"),
                 "IMPIPE_CACHE_DIR": self.path("cache")})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all is so\n", ""))

    def test_many_images_at_once_come_in_their_order(self):
        pipeline = impipe.Pipeline("imgaussfilt 1")
        images = [ramp(30 + i, 40, i) for i in range(9)]
        for at_once in (0, 1, 3):
            got = list(pipeline.map(iter(images), at_once=at_once))
            self.assertEqual(len(got), len(images))
            for made, image in zip(got, images):
                self.same(made, pipeline(image), "map")
        with self.assertRaises(impipe.ImageError):
            list(pipeline.map([ramp(), np.zeros((0, 3), np.uint8)]))

    @unittest.mock.patch.dict(os.environ)
    def test_configurations_and_their_tables_are_read_anew(self):
        image = np.full((4, 5, 3), 100, np.uint8)
        for name, scale in (("a", 0.5), ("b", 2)):
            self.write(name + ".ocio", ocio_config(f"FileTransform> {{src: {name}.cube}}"))
            self.write(f"luts/s/{name}.cube", f"LUT_1D_SIZE 2\n0 0 0\n{scale} {scale} {scale}\n")
            os.environ.update(OCIO=self.path(name + ".ocio"), SHOT="s")
            self.assertEqual(impipe.run("ocio lin enc", image).mean(), 100 * scale)
        self.write("luts/s/b.cube", "LUT_1D_SIZE 2\n0 0 0\n0.25 0.25 0.25\n")
        self.assertEqual(impipe.run("ocio lin enc", image).mean(), 25)

    def test_kept_memory_is_given_back(self):
        impipe.run("imgaussfilt 1", np.zeros((5000, 5000), np.float32))
        before = resident()
        impipe.release_memory()
        self.assertGreater(before - resident(), 80 << 20)  # a plane has 100 MB

    def test_pickles_and_forks(self):
        pipeline = impipe.Pipeline("imcomplement")
        again = pickle.loads(pickle.dumps(pipeline))
        self.same(again(ramp()), 255 - ramp(), "pickled")
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(pipeline(ramp()), 255 - ramp()) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_the_library_is_silent_and_leaves_signals_alone(self):
        code = """if True:
            import impipe, numpy
            def caught():
                own = 3 << 31  # 32 and 33 are the C library's, for threads
                line = next(line for line in open('/proc/self/status') if 'SigCgt' in line)
                return int(line.split()[1], 16) & ~own
            before = caught()
            impipe.run('imgaussfilt 2', numpy.zeros((9, 9), numpy.uint8))
            for text in ['nonsense', 'imadd :b', 'imcrop 50,50,4,4']:
                try:
                    impipe.run(text, numpy.zeros((9, 9), numpy.uint8))
                    raise SystemExit(text + ' has a result')
                except impipe.Error:
                    pass
            assert caught() == before
        """
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_examples_of_the_page(self):
        with open(os.path.join(ROOT, "docs/python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"(?s)```python\n(.*?)```", file.read())
        self.assertEqual(len(blocks), 7)
        names = {"impipe": impipe, "np": np, "photo": colour(48, 64), "gray": ramp(48, 64)}
        examples = doctest.DocTestParser().get_doctest("\n".join(blocks), names, "python.md", None, 0)
        said = []
        doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
        self.assertEqual("".join(said), "")

    def test_the_program_runs_on_files(self):
        self.picture("in/a.png")
        self.picture("in/b.png", ramp(seed=1))
        impipe.files("imcomplement", self.path("in"), self.path("out"), threads=1)
        self.assertEqual(self.tree("out"), ["a.png", "b.png"])
        try:
            import tqdm  # pylint: disable=import-outside-toplevel,unused-import
        except ImportError:
            pass
        else:
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                report = impipe.files("mean2", self.path("in"), csv=True, bar=True)
            self.assertEqual(report, impipe.files("mean2", self.path("in"), csv=True))
            self.assertIn("2/2", said.getvalue())
            with contextlib.redirect_stderr(said), self.assertRaisesRegex(impipe.Error, "no.png"):
                impipe.files("mean2", [self.path("in/a.png"), self.path("no.png")], bar=True)
        report = impipe.files("mean2", [self.path("in/a.png")], csv=True)
        self.assertEqual(report.splitlines()[0], "file,mean2")
        self.assertEqual(impipe.ops("medfilt2"), self.impipe("ops", "medfilt2").out)
        with self.assertRaises(impipe.Error) as caught:
            impipe.files("imcomplemen", self.path("in"), self.path("out"))
        self.assertEqual(caught.exception.code, 2)
        self.assertIn("did you mean 'imcomplement'?", str(caught.exception))
        done = subprocess.run([sys.executable, "-m", "impipe", "--version"], capture_output=True,
                              text=True, env={**os.environ,
                                              "PYTHONPATH": os.path.join(ROOT, "python")})
        self.assertEqual((done.stdout, done.stderr), (f"impipe {impipe.__version__}\n", ""))


if __name__ == "__main__":
    unittest.main()
