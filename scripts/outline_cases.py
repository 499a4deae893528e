"""Makers of cases of outlines, polygons, hulls, lines, circles and gray levels; expected results by
definitions_outlines.py and definitions_lines.py."""
import numpy as np

import definitions as d
import definitions_lines as lines
import definitions_outlines as o
from case_table import maker, matrix_text, text
from object_cases import CLASSES, mask_of

SIDES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 40]


def size_of(case):
    return case.pick(*SIDES), case.pick(*SIDES)


def shapes_of(case, size=None):
    """Masks, and few fat shapes with holes."""
    size = size or size_of(case)
    if case.pick(True, True, False):
        return mask_of(case, size)
    y, x = np.mgrid[:size[0], :size[1]]
    result = np.zeros(size, bool)
    for _ in range(case.pick(1, 2, 5)):
        cy, cx, r = case.rng.random(3) * (size[0], size[1], max(size) / 2)
        result ^= np.hypot(y - cy, x - cx) < r
    return result


def dressed(case, mask):
    """The mask as an image of some class: what is not 0 counts."""
    return case.pick(mask, mask, mask.astype(np.uint8) * case.pick(1, 255), mask.astype(np.uint16) * 300,
                     np.where(mask, np.float32(case.pick(1, -0.25, np.inf, 1e-42)), np.float32(0)))


def labelled(case, mask):
    """The mask, or labels on its pixels, some without a pixel, some in pieces."""
    if case.pick(True, False):
        return mask
    cls = case.pick(np.uint8, np.uint16, np.float32)
    most = 200 if cls == np.uint8 else 40000
    numbers = case.rng.permutation(most)[:case.pick(1, 3, 6)] + 1
    if case.pick(True, False):
        labels = d.bwlabel(mask, 8).astype(int)
        return np.where(mask, numbers[labels % len(numbers)], 0).astype(cls)
    return np.where(mask, case.rng.choice(numbers, mask.shape), 0).astype(cls)


@maker("bwboundaries")
def boundaries(case, op):
    a, conn, holes, origin = shapes_of(case), case.pick(4, 8), case.pick("on", "off"), case.pick(0, 1)
    table = o.bwboundaries(a, conn, holes == "on", origin)
    params = f"conn={conn};holes={holes};origin={origin}"
    if case.pick(True, True, False):
        case.emit(params, [dressed(case, a)], table, "double", "exact")
    else:
        case.emit(params, [dressed(case, a)], o.boundaries_geojson(table), "text", "exact")


@maker("polygonize")
def polygons(case, op):
    a, conn, origin = labelled(case, shapes_of(case)), case.pick(4, 8), case.pick(0, 1)
    case.emit(f"conn={conn};origin={origin}", [a], o.polygonize(a, conn, origin), "text", "exact")


def corners_of(case, rows, columns):
    n = case.pick(0, 1, 2, 3, 4, 5, 9) or 3
    places = case.rng.uniform(-0.3, 1.3, (n, 2)) * (columns, rows)
    return np.round(places * case.pick(1, 2, 100)) / case.pick(1, 2, 100)


@maker("poly2mask", "roipoly")
def polygon_masks(case, op):
    rows, columns = size_of(case)
    vertices, origin = corners_of(case, rows, columns), case.pick(0, 1)
    expected = o.poly2mask(vertices.tolist(), rows, columns, origin)
    params = f"vertices={matrix_text(vertices)};origin={origin}"
    if op == "poly2mask":
        case.emit(params + f";size={rows},{columns}", [], expected, "logical", "exact")
        return
    a = case.image(case.pick(*CLASSES), (rows, columns))
    if a.dtype != bool and case.pick(True, False):
        a = np.stack([a] * 3, axis=-1)
    case.emit(params, [a], expected, "logical", "exact")


@maker("regionfill", "roifill")
def filled(case, op):
    size, cls = (case.pick(*SIDES[:9]), case.pick(*SIDES[:9])), case.pick("uint8", "uint16", "single")
    a, mask = case.image(cls, size, channels=case.pick(1, 3)), shapes_of(case, size)
    if cls == "single":
        a = a * np.float32(case.pick(1, 1, 1e-3)) + np.float32(case.pick(0, 10, 1e3, 1e5))
    expected = d.cast(d.each_plane(lambda p: o.regionfill(p, mask), a), cls)
    case.emit("mask=input2", [a, dressed(case, mask)], expected, cls,
              1e-4 if cls == "single" else "round", 0.1)


@maker("regionprops")
def more_properties(case, op):
    a, conn, origin = labelled(case, shapes_of(case)), case.pick(4, 8), case.pick(0, 1)
    image = case.image(case.pick(*CLASSES), a.shape) if case.pick(True, False) else None
    names = [n for n in o.NAMES[1:17] + o.MORE if n not in sum(o.GROUPS.values(), [])]
    groups = ["Centroid", "BoundingBox"]
    if image is not None:
        names += ["MeanIntensity", "MinIntensity", "MaxIntensity"]
        groups.append("WeightedCentroid")
    for group in groups:
        names += case.pick([group], o.GROUPS[group])
    names = list(case.rng.permutation(names)[:case.pick(1, 3, 5, len(names))])
    params = f"properties={','.join(names)};conn={conn};origin={origin}"
    case.emit(params + (";image=input2" if image is not None else ""),
              [a] + ([image] if image is not None else []),
              o.chosen_properties(a, conn, origin, names, image), "double", 1e-9)


@maker("convexhull", "bwconvhull")
def hulls(case, op):
    a, conn, origin = labelled(case, shapes_of(case)), case.pick(4, 8), case.pick(0, 1)
    if op == "convexhull":
        case.emit(f"conn={conn};origin={origin}", [a], o.convexhull(a, conn, origin), "double", "exact")
    else:
        method = case.pick("union", "objects")
        case.emit(f"method={method};conn={conn}", [a], o.bwconvhull(a, method, conn), "logical", "exact")


@maker("bwmorph")
def ends_and_branches(case, op):
    a, operation = shapes_of(case), case.pick("endpoints", "branchpoints")
    result = (o.ends if operation == "endpoints" else o.branches)(a)
    case.emit(f"operation={operation}", [dressed(case, a)], result, "logical", "exact")


@maker("bwskel")
def skeletons(case, op):
    a, least = shapes_of(case), case.pick(0, 1, 2, 3, 5, 12, 1000000000)
    case.emit(f"minbranch={least}", [dressed(case, a)], o.bwskel(a, least), "logical", "exact")


def strokes_of(case):
    """Few straight lines and noise."""
    size = size_of(case)
    if case.pick(True, False, False):
        return mask_of(case, size)
    result = case.rng.random(size) < case.pick(0, 0.02)
    for _ in range(case.pick(1, 2, 4)):
        (y1, y2), (x1, x2) = case.rng.random(2) * size[0], case.rng.random(2) * size[1]
        for t in np.linspace(0, 1, 2 * max(size)):
            if case.rng.random() < 0.9:
                result[int(y1 + t * (y2 - y1)), int(x1 + t * (x2 - x1))] = True
    return result


def steps_of(case, a):
    """resolution and rho at which no vote lies between two bins"""
    for _ in range(50):
        steps = case.pick(1, 2, 5, 7.5, 10, 45, 90, 180, 0.5, 0.77), case.pick(1, 1, 0.5, 2, 3.3, 100, 0.7)
        if not lines.near_half(a, *steps):
            return steps
    return 0.77, 0.7


@maker("hough", "houghpeaks", "houghlines")
def straight_lines(case, op):
    a = strokes_of(case)
    resolution, rho = steps_of(case, a)
    params = f"resolution={resolution};rho={rho}"
    if op == "hough":
        case.emit(params, [dressed(case, a)], lines.hough(a, resolution, rho)[0], "single", "exact")
        return
    n, threshold = case.pick(1, 2, 5, 30), case.pick(None, None, 0, 1, 3, 4.5, 10)
    nhood = case.pick(None, None, (1, 1), (3, 5), (7, 1), (101, 3), (5, 1001))
    params += f";n={n}" + ("" if threshold is None else f";threshold={threshold}")
    params += f";nhood={text(nhood)}" if nhood else ""
    if op == "houghpeaks":
        expected = lines.houghpeaks(a, n, threshold, nhood, resolution, rho)
    else:
        gap, least, origin = case.pick(0, 1, 2, 2.5, 20), case.pick(0, 1, 3, 5.5, 40), case.pick(0, 1)
        params += f";fillgap={gap};minlength={least};origin={origin}"
        expected = lines.houghlines(a, n, threshold, nhood, resolution, rho, gap, least, origin)
    case.emit(params, [dressed(case, a)], expected, "double", 1e-9)


@maker("imfindcircles")
def circles(case, op):
    size = size_of(case)
    y, x = np.mgrid[:size[0], :size[1]]
    a = mask_of(case, size)
    if case.pick(True, True, False):
        a = case.rng.random(size) < case.pick(0, 0.05)
        for _ in range(case.pick(1, 3)):
            cy, cx, r = (case.rng.random(3) * (*size, 12)).astype(int)
            a |= np.floor(np.hypot(y - cy, x - cx) + 0.5) == r
    low = case.pick(1, 2, 3, 5, 9)
    high, n = low + case.pick(0, 1, 3, 6), case.pick(1, 2, 10, 1000)
    threshold, distance = case.pick(0, 0.2, 0.5, 0.75, 1), case.pick(None, 0, 1, 1.5, 5, 100)
    origin = case.pick(0, 1)
    params = f"radius={low},{high};n={n};threshold={threshold};origin={origin}"
    params += "" if distance is None else f";distance={distance}"
    expected = lines.imfindcircles(a, low, high, n, threshold, low if distance is None else distance, origin)
    case.emit(params, [dressed(case, a)], expected, "double", 1e-12)


@maker("graycomatrix", "graycoprops")
def pairs(case, op):
    cls = case.pick(*CLASSES)
    a = case.image(cls, size_of(case))
    if cls == "single" and case.pick(True, False):
        a = a * np.float32(3) - np.float32(1)
        places = case.rng.random(a.shape) < 0.05
        a[places] = case.rng.choice(np.array([np.nan, np.inf, -np.inf], np.float32), places.sum())
    white = d.WHITE[cls]
    levels, symmetric = case.pick(None, 1, 2, 3, 8, 30, 256), case.pick("on", "off")
    offset = case.pick((0, 1), (0, 0), (1, 0), (-1, 1), (2, -3), (-5, -1), (40, 0), (0, 1000))
    limits = case.pick(None, None, (0.25 * white, 0.75 * white), (0.5 * white, 0.5 * white),
                       (-white, 3 * white))
    params = f"offset={text(offset)};symmetric={symmetric}"
    params += f";levels={levels}" if levels else ""
    params += f";limits={limits[0]!r},{limits[1]!r}" if limits else ""
    counts = lines.graycomatrix(a, levels or (2 if cls == "logical" else 8), offset, limits, symmetric == "on")
    if op == "graycomatrix":
        case.emit(params, [a], counts, "double", "exact")
    else:
        case.emit(params, [a], np.array([lines.graycoprops(counts)]), "double", 1e-9)


@maker("entropy")
def bits(case, op):
    cls = case.pick(*CLASSES)
    a = case.image(cls, size_of(case), channels=case.pick(1, 3) if cls != "logical" else 1,
                   levels=case.pick(None, 1, 2, 8))
    case.emit("", [a], np.array([[lines.entropy(a)]]), "double", 1e-4 if cls == "single" else 1e-9)
