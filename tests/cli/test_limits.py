"""Walks the ends of every parameter's range, every enumerated value, and elements and kernels of
every name at their smallest and largest sizes, from the catalogue's own descriptions.

Each run ends in time, with results or with an error in the user's words, and OpenCL has the CPU's
bits. By default the CPU walks all parameters, elements and kernels with an operator of each kind,
and OpenCL a few of the largest windows; IMPIPE_TEST_LIMITS=all walks everything on both.
"""
import json
import os
import re
import resource
import subprocess
import sys
import time
import unittest

import numpy as np
from program import PROGRAM, SANITIZED, UNDER_OCLGRIND, ProgramTest

EVERYTHING = os.environ.get("IMPIPE_TEST_LIMITS") == "all"
# Oclgrind, which takes minutes for a disc of radius 500, has them with an operator of each kind.
ALL_SHAPES = EVERYTHING and not UNDER_OCLGRIND
LARGE_ELEMENT = "disk,128" if UNDER_OCLGRIND else "disk,500"
OPERATORS = os.environ.get("IMPIPE_TEST_OPERATORS", "")  # a regular expression: some alone
SECONDS = 900 if UNDER_OCLGRIND or SANITIZED else 300  # of one run; compiling included
MOST_MEMORY = 6 << 30  # bytes of address space: what asks for more is told so

# What an operator takes beside the parameter that is walked.
WITH = {
    "bwareaopen": {"least": "3"}, "gamma": {"gamma": "0.5"}, "imlincomb": {"k": "0.5"},
    "histogram": {"expr": "'x'"}, "map": {"expr": "'x'"}, "reduce": {"expr": "'acc + x'"},
    "stencil": {"expr": "'at(1,0)'"}, "imabsdiff": {"with": "3"}, "imadd": {"with": "3"},
    "imdivide": {"with": "3"}, "immultiply": {"with": "3"}, "imsubtract": {"with": "3"},
    "imfilter": {"kernel": "[1 2; 3 4]"}, "impad": {"by": "1"}, "imreconstruct": {"mask": ":b"},
    "jointhist": {"image": ":b"}, "ordfilt2": {"nth": "2", "domain": "square,3"},
    "constant": {"value": "0.5"}, "fspecial": {"type": "gaussian"}, "intlut": {"lut": ":b"},
    "imcrop": {"size": "2,2"}, "imresize": {"scale": "2"}, "conv2": {"size": "3"},
    "applylut": {"lut": "[" + "0 1 " * 8 + "]"}, "bwlookup": {"lut": "[" + "0 1 " * 8 + "]"},
    "bwselect": {"columns": "1", "rows": "1"}, "channel": {"k": "1"}, "circshift": {"by": "1"},
    "corr2": {"reference": ":b"}, "filter2": {"kernel": "[1 2; 3 4]"},
    "imapplymatrix": {"matrix": "[1 0 0]"}, "imextendedmax": {"h": "3"},
    "imextendedmin": {"h": "3"}, "imhistmatch": {"reference": ":b"}, "imhmax": {"h": "3"},
    "imhmin": {"h": "3"}, "imimposemin": {"marker": ":b"}, "immse": {"reference": ":b"},
    "imquantize": {"levels": "3"}, "imtranslate": {"translate": "1,1"},
    "ind2rgb": {"map": "[0 0 0; 1 1 1]"}, "padarray": {"by": "1"}, "psnr": {"reference": ":b"},
    "ssim": {"reference": ":b"}, "deconvlucy": {"psf": "[1 2 1]"}, "deconvwnr": {"psf": "[1 2 1]"},
    "edgetaper": {"psf": "[1 2 1]"}, "freqfilt": {"cutoff": "0.1"}, "imregcorr": {"fixed": ":b"},
    "normxcorr2": {"template": ":b"}, "psf2otf": {"kernel": "[1 2 1]", "size": "9,9"},
}
ELEMENT = {"se": "square,3"}
# A parameter that takes the place of another one.
INSTEAD = {("imcrop", "rect"): "size", ("imresize", "size"): "scale", ("conv2", "kernel"): "size"}

ELEMENTS = ["square,1", "square,1001", "rectangle,1,1", "rectangle,1001,1", "rectangle,1,1001",
            "rectangle,1001,1001", "rectangle,254,258", "square,255", "square,256", "disk,0",
            "disk,128", "disk,144", "disk,500", "diamond,0", "diamond,180", "diamond,500",
            "octagon,0", "octagon,498", "line,1,0", "line,1001,0", "line,1001,90", "line,1001,37",
            "line,301,0", "pair,-500,500", "pair,0,0", "periodicline,0,0,0",
            "periodicline,500,1,-1", "periodicline,1,500,-500"]
KERNELS = ["average,1", "average,255", "average,255,1", "gaussian,1,1,0.01", "gaussian,255,1000",
           "log,255,1000", "log,2,0.01", "laplacian,0", "laplacian,1", "unsharp,0", "unsharp,1",
           "disk,0", "disk,127", "motion,1,0", "motion,127,45", "motion,127,1e6", "sobel", "prewitt"]
# What a file's error may say; an error that shows a place in the pipeline is the user's anyway.
REFUSALS = ["out of memory", "nothing is left of it", "is not defined for", "too large", " at most ",
            "image needs", "as large as", "has no white", "singular", "the psf is ",
            "lie in each pixel, and not in pages", "the result is without ICC profile",
            "colours are taken for sRGB"]


# Whose elements and kernels are walked by default: others are made of the same primitives.
SHOWN_ELEMENTS = {"imdilate", "imerode", "ordfilt2"}
SHOWN_KERNELS = {"imfilter kernel", "conv2 kernel", "imdilate heights"}
# Their results are as large as was asked for: one pixel is enough.
ON_ONE_PIXEL = ("imresize scale=10000", "jointhist image=:b bins=4096")


def number(value):
    return f"{value:g}" if abs(value) < 1e6 and value != int(value) else str(int(value))


def values_of(name, parameter):
    """What is tried of one parameter of the operator `name`: texts."""
    found = list(parameter.get("words", []))
    if "numbers" in parameter:
        least, most = parameter["numbers"]
        for end in ("low", "high"):
            if parameter.get(end) is not None:
                found += [",".join([number(parameter[end])] * n) for n in sorted({least, most})]
    if "a 0/1 matrix" in parameter["takes"]:
        found += ELEMENTS if ALL_SHAPES or name in SHOWN_ELEMENTS else [LARGE_ELEMENT]
    elif "a named kernel" in parameter["takes"]:
        known = f"{name} {parameter['name']}" in SHOWN_KERNELS
        kernels = KERNELS if ALL_SHAPES or known else ["gaussian,255,1000"]
        found += ["fspecial:" + kernel for kernel in kernels]
    return found


def pipelines(operator):
    """Every pipeline of the walk that uses the operator."""
    name, parameters = operator["name"], operator["parameters"]
    names = {p["name"] for p in parameters}
    needed = dict(WITH.get(name, {}))
    needed.update({k: v for k, v in ELEMENT.items() if k in names})
    for parameter in parameters:
        for value in values_of(name, parameter):
            given = dict(needed)
            given.pop(INSTEAD.get((name, parameter["name"])), None)
            given[parameter["name"]] = value
            if "offsets" in given or "heights" in given:  # as large as the element
                kernel = value.split(":")[-1].split(",")
                side = kernel[1] if kernel[0] in ("average", "log", "gaussian") else "3"
                given["domain" if "offsets" in given else "se"] = f"square,{side}"
            stage = " ".join([name] + [f"{k}={v}" for k, v in given.items()])
            before = "as b | " if ":b" in stage else ""
            yield before + stage


class Limits(ProgramTest):
    pictures = ["in"]

    def make_pictures(self):
        rng = np.random.default_rng(7)
        for shape in [(1, 1), (1, 7), (9, 1), (5, 3)]:
            for kind in (np.uint8, np.uint16, np.float32):
                pixels = rng.integers(0, 256, shape).astype(kind)
                np.save(self.make_parent(f"in/{shape[0]}x{shape[1]}-{np.dtype(kind).name}.npy"),
                        pixels)
            np.save(self.path(f"in/{shape[0]}x{shape[1]}-bool.npy"), rng.random(shape) < 0.5)
        np.save(self.path("in/5x3x3.npy"), rng.integers(0, 256, (5, 3, 3), dtype=np.uint8))

    def run_limited(self, pipeline, source, device):
        """Exit code, stdout and stderr; the run is given up after some time."""
        pictures = self.pictures
        if any(text in pipeline for text in ON_ONE_PIXEL):
            pictures = ["in/1x1-uint8.npy"]
        if source:
            return self.run_on([], pipeline, device)
        if not UNDER_OCLGRIND:
            return self.run_on(pictures, pipeline, device)
        # It compiles or runs one kernel at a time.
        runs = [self.run_on([picture], pipeline, device) for picture in pictures]
        codes = [code for code, _, _ in runs if code != 0]
        return codes[0] if codes else 0, *("".join(run[k] for run in runs) for k in (1, 2))

    def run_on(self, pictures, pipeline, device):
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        arguments = [PROGRAM, pipeline, *pictures, "--device", device]
        arguments += ["-j", "1"] if UNDER_OCLGRIND else []
        ends_in_image = self.ends_in_image[pipeline.split("|")[-1].split()[0]]
        ends_in_image |= "reduce " in pipeline and " window=" in pipeline
        ends_in_image &= "out=peak" not in pipeline
        arguments += ["--hash", "-n", "-o", "out"] if ends_in_image else []
        try:
            done = subprocess.run(arguments, cwd=self.folder, timeout=SECONDS, text=True,
                                  capture_output=True, preexec_fn=limit, errors="replace",
                                  env=self.environment())
        except subprocess.TimeoutExpired:
            return "hangs", "", ""
        return done.returncode, done.stdout, done.stderr

    def check(self, pipeline, source, device):
        """What is wrong with a run, or its standard output."""
        code, out, err = self.run_limited(pipeline, source, device)
        if code not in (0, 1, 2) or "Sanitizer" in err:
            return f"{device}: `{pipeline}`: {code}: {err[-600:]}", out
        if code == 2 and "^" not in err:
            return f"{device}: `{pipeline}`: no place is shown: {err}", out
        for line in err.splitlines():
            shown = ": plan: pipeline:1:" in line or any(r in line for r in REFUSALS)
            if code == 1 and "impipe: in/" in line and not shown:
                return f"{device}: `{pipeline}`: {line}", out
        return None, out

    def walk(self, wanted, devices):
        self.make_pictures()
        catalogue = json.loads(self.impipe("ops", "--json").out)
        self.ends_in_image = {o["name"]: o["name"] in ("histeq", "imhistmatch")
                              or (o["category"] != "statistics" and o["name"] != "regionprops3")
                              for o in catalogue}
        wrong = []
        for operator in catalogue:
            if not re.search(OPERATORS, operator["name"]):
                continue
            for pipeline in pipelines(operator):
                if not wanted(operator, pipeline):
                    continue
                outs = []
                if EVERYTHING:  # for hours: how far it is
                    print(f"{time.strftime('%H:%M:%S')} {pipeline}", file=sys.stderr, flush=True)
                for device in devices:
                    fault, out = self.check(pipeline, operator["source"], device)
                    outs.append(out)
                    wrong += [fault] if fault else []
                if len(set(outs)) > 1 and operator["accuracy"].startswith("exact"):
                    wrong.append(f"`{pipeline}`: the devices differ")
        self.assertEqual(wrong, [])

    def devices(self):
        if UNDER_OCLGRIND:  # which would take minutes to measure how fast it copies
            return ["cpu", "opencl:0"]
        listed = json.loads(self.impipe("devices", "--json").out)
        usable = [d["id"] for d in listed if d.get("usable", True)]
        return ["cpu"] + [d for d in usable if d.startswith("opencl")][:1]

    @unittest.skipIf(UNDER_OCLGRIND, "it is OpenCL's kernels that Oclgrind looks at")
    def test_every_end_of_every_parameter_on_the_cpu(self):
        # Sources of 65536 x 65536 pixels take 4 GiB and their time.
        self.walk(lambda operator, text: not (operator["source"] and "65536" in text), ["cpu"])

    def test_windows_of_the_largest_sizes_on_opencl(self):
        devices = self.devices()
        if len(devices) == 1:
            self.assertNotIn("opencl", os.environ.get("IMPIPE_REQUIRE_BACKEND", ""))
            self.skipTest("no OpenCL device")
        self.pictures = ["in/5x3-uint8.npy", "in/1x7-float32.npy"]  # each class compiles anew
        few = ["ordfilt2 nth=2 domain=disk,128", "medfilt2 size=255,255", "imdilate se=disk,500"]
        def wanted(operator, text):
            if UNDER_OCLGRIND and any(large in text for large in ON_ONE_PIXEL):
                return False  # 100 million pixels: a day of its time
            return text in few or (EVERYTHING and not operator["source"])

        self.walk(wanted, devices)

    def test_a_kernel_of_weights_that_underflow_is_refused(self):
        self.make_pictures()
        for stage in ["imfilter fspecial:log,2,0.01", "fspecial gaussian 2 0.01",
                      "conv2 fspecial:gaussian,4,0.01"]:
            self.assertIn("this sigma is too small for a kernel of this side: every weight is 0",
                          self.impipe(stage, *([] if stage.startswith("fs") else ["in"]), "-o",
                                      "out.npy" if stage.startswith("fs") else "out", code=2).err)

    def test_a_domain_that_is_too_large_is_refused(self):
        self.make_pictures()
        said = self.impipe("ordfilt2 1 square,256", "in", "-o", "out", code=2).err
        self.assertEqual(said, "impipe: pipeline:1:12: ordfilt2: a domain has at most 65535 cells "
                               "that are 1, this one has 65536\n  ordfilt2 1 square,256\n"
                               "             ^^^^^^^^^^\n")
        np.savetxt(self.path("wide.txt"), np.eye(1, 1002), fmt="%d")
        said = self.impipe("ordfilt2 1 @wide.txt", "in", "-o", "out", code=2).err
        self.assertEqual(said, "impipe: pipeline:1:12: ordfilt2: wide.txt, line 1: a matrix has "
                               "at most 1001 rows and columns\n  ordfilt2 1 @wide.txt\n"
                               "             ^^^^^^^^^\n")


if __name__ == "__main__":
    unittest.main()
