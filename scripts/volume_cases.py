"""Makers of cases of stacks and volumes; expected results by definitions_volumes.py."""
import math

import numpy as np

import definitions as d
import definitions_volumes as v
from case_table import Pages, maker, text

CLASSES = ("logical", "uint8", "uint16", "single")
SIDES = [1, 2, 3, 5, 8, 13, 17, 24]


def volume_of(case, *classes, channels=(1, 1, 1, 3), pages=(1, 2, 3, 4, 5, 8), sides=SIDES, wild=True):
    """Pages of one file; singles perhaps far from 0, or with NaN and infinities."""
    cls, channels = case.pick(*(classes or CLASSES)), case.pick(*channels)
    size, count, levels = (case.pick(*sides), case.pick(*sides)), case.pick(*pages), case.pick(None, 2, 6)
    if cls == "logical":
        channels = 1
    a = np.stack([case.image(cls, size, channels, levels) for _ in range(count)])
    if cls != "single":
        if case.pick(True, False, False) and cls != "logical":  # both ends of the range
            a = np.where(case.rng.random(a.shape) < 0.3, case.rng.choice([0, d.WHITE[cls]], a.shape), a)
        return a.astype({"logical": bool}.get(cls, cls))
    kind = case.pick("unit", "signed", "offset", "specials" if wild else "unit")
    if kind == "signed":
        a = a * 3 - 1
    elif kind == "offset":
        a = a + case.pick(10, 1e3, 1e5)
    elif kind == "specials":
        places = case.rng.random(a.shape) < 0.08
        a[places] = case.rng.choice([np.nan, np.nan, np.inf, -np.inf], places.sum())
    return a.astype(np.float32)


def exact_or(a, tolerance, otherwise="exact"):
    return tolerance if d.class_of(a) == "single" else otherwise


def three(case, *choices):
    """Rows, columns, planes, and how they are written: one number where they are equal."""
    values = [case.pick(*choices)] * 3 if case.pick(True, False) else [case.pick(*choices) for _ in "rcp"]
    return values, text(values[:1] if len(set(values)) == 1 and case.pick(True, False) else values)


def emit_rounded(case, params, a, exact):
    """What is computed in float32 and cast once may be rounded otherwise next to a tie."""
    cls = d.class_of(a)
    white = d.WHITE[cls]
    ties = 0 if cls == "single" else np.mean(np.abs(exact - np.floor(exact) - 0.5) < 1e-6 * white)
    case.emit(params, [Pages(a)], Pages(v.cast(exact, cls)), cls, exact_or(a, 1e-5, "round"), ties)


@maker("project")
def projected(case, op):
    a, operation = volume_of(case), case.pick("max", "min", "mean", "sum", "std", "median")
    wanted = case.pick(None, None, None, "single", "uint8", "uint16")
    result = v.project(a, operation, wanted)
    ranks = operation in ("max", "min", "median")
    case.emit(f"operation={operation}" + (f";class={wanted}" if wanted else ""), [Pages(a)], result,
              d.class_of(result), "round" if d.class_of(result) != "single" and a.dtype == np.float32
              else 1e-6 if d.class_of(result) == "single" and not ranks else "exact")


@maker("stack")
@maker("stack")
def stacked(case, op):
    images = volume_of(case, pages=(1, 2, 3, 4, 5, 8, 12), sides=SIDES[:6])
    if case.pick(True, False):  # a few outliers
        places = case.rng.random(images.shape) < 0.1
        images[places] = case.pick(0, d.WHITE[d.class_of(images)])
    operation = case.pick("max", "min", "mean", "sum", "std", "median", "clip", "clip", "clip", "clip")
    wanted = case.pick(None, None, None, "single", "uint8", "uint16")
    params, more = f"operation={operation}" + (f";class={wanted}" if wanted else ""), {}
    if operation == "clip":
        more = {"kappa": case.pick(3, 1, 1.5, 2, 0.9, 0.3, 0), "iterations": case.pick(5, 1, 2, 1000),
                "centre": case.pick("median", "mean")}
        params += "".join(f";{name}={value}" for name, value in more.items())
    result = v.stack(images, operation, wanted, **more)
    ranks = operation in ("max", "min", "median")
    case.emit(params, list(images), result, d.class_of(result),
              "round" if d.class_of(result) != "single" and images.dtype == np.float32
              else 1e-6 if d.class_of(result) == "single" and not ranks else "exact")


@maker("temporal")
def windowed(case, op):
    a, operation = volume_of(case), case.pick("median", "mean", "max", "min")
    n = case.pick(1, 2, 3, 4, 5, 7, 8, 30)
    case.emit(f"operation={operation};n={n}", [Pages(a)], Pages(v.temporal(a, operation, n)),
              d.class_of(a), exact_or(a, 1e-6) if operation == "mean" else "exact")


@maker("imgaussfilt3")
def blurred(case, op):
    a = volume_of(case)
    sigmas, spelled = three(case, 0.5, 0.3, 0.8, 1, 1.7, 4)
    emit_rounded(case, f"sigma={spelled}", a, v.imgaussfilt3(a, sigmas))


@maker("imboxfilt3")
def boxes(case, op):
    a = volume_of(case)
    size, spelled = three(case, 1, 2, 3, 4, 5, 30)
    case.emit(f"size={spelled}", [Pages(a)], Pages(v.imboxfilt3(a, size)), d.class_of(a),
              exact_or(a, 1e-5))


@maker("medfilt3")
def medians(case, op):
    a = volume_of(case)
    size, spelled = three(case, 1, 2, 3, 4, 5, 9)
    case.emit(f"size={spelled}", [Pages(a)], Pages(v.medfilt3(a, size)), d.class_of(a), "exact")


@maker("imdilate3", "imerode3", "imopen3", "imclose3")
def morphed(case, op):
    a = volume_of(case)
    if case.pick(True, False):
        kind, sizes = case.pick("sphere", "ball"), [case.pick(0, 1, 2, 3, 6)]
    else:
        kind = case.pick("cuboid", "box")
        sizes = [case.pick(1, 2, 3, 4, 9) for _ in range(case.pick(1, 2, 3, 3))]
    se = ",".join(map(str, [kind, *sizes]))
    case.emit(f"se={se}", [Pages(a)], Pages(v.morphology(op, a, v.element(kind, *sizes))), d.class_of(a),
              "exact")


def voxels_of(case):
    """Noise of several densities, nothing, everything."""
    shape = case.pick(1, 2, 3, 5), case.pick(*SIDES), case.pick(*SIDES)
    return case.rng.random(shape) < case.pick(0, 0.02, 0.1, 0.2, 0.3, 0.5, 1)


def dressed(case, mask):
    return case.pick(mask, mask.astype(np.uint8) * case.pick(1, 255), mask.astype(np.uint16) * 300,
                     mask.astype(np.float32) * np.float32(case.pick(1, -0.25, 1e-42)))


@maker("bwlabeln", "bwconncomp")
def labels_of(case, op):
    a, conn = voxels_of(case), case.pick(6, 18, 26)
    case.emit(f"conn={conn}", [Pages(dressed(case, a))], Pages(v.bwlabeln(a, conn).astype(np.float32)),
              "single", "exact")


@maker("regionprops3")
def volume_properties(case, op):
    a, conn, origin = voxels_of(case), case.pick(6, 18, 26), case.pick(0, 1)
    if case.pick(True, False):
        cls = case.pick(np.uint8, np.uint16, np.float32)
        numbers = case.rng.permutation(200 if cls == np.uint8 else 40000)[:case.pick(1, 3, 9)] + 1
        a = np.where(a, case.rng.choice(numbers, a.shape), 0).astype(cls)
    params = f"conn={conn};origin={origin}"
    case.emit(params, [Pages(a)], v.regionprops3(a, conn, origin), "double", 1e-9)


@maker("bwdist3")
def distances(case, op):
    a, spacing = voxels_of(case), case.pick((1, 1, 1), (1, 1, 1), (1, 1, 2.5), (0.3, 2, 1), (100, 1, 0.01))
    case.emit(f"spacing={text(spacing)}" if spacing != (1, 1, 1) or case.pick(0, 1) else "",
              [Pages(dressed(case, a))], Pages(v.bwdist3(a, spacing)), "single",
              "exact" if spacing == (1, 1, 1) else 1e-6)


@maker("imresize3")
def resized(case, op):
    a, method, smooth = volume_of(case), case.pick("linear", "linear", "nearest"), case.pick("on", "off")
    shape = [a.shape[axis] for axis in v.AXES]
    if case.pick(True, False):
        size = [case.pick(1, 2, 3, 7, 10, 30, n) for n in shape]
        scales, params = [n / old for n, old in zip(size, shape)], f"size={text(size)}"
    else:
        scales, spelled = three(case, 0.5, 1, 2, 0.3, 1.7, 3)
        size, params = [math.ceil(s * n) for s, n in zip(scales, shape)], f"scale={spelled}"
    params += f";method={method}" + (f";antialiasing={smooth}" if method == "linear" else "")
    emit_rounded(case, params, a, v.imresize3(a, size, scales, method, smooth == "on"))
