"""Makers of cases of objects, masks and reliefs; expected results by definitions_objects.py."""
import math

import numpy as np

import definitions as d
import definitions_objects as o
from case_table import maker, matrix_text, text
from strange_cases import SIZES

CLASSES = ("logical", "uint8", "uint16", "single")
OPERATIONS = ("thin skel shrink spur clean fill remove majority diag bridge hbreak dilate erode open "
              "close tophat bothat").split()


def size_of(case):
    return case.pick(case.size(), case.pick(*[s for s in SIZES if max(s) <= 130]))


def mask_of(case, size=None):
    """Blobs, noise of several densities, lines, nothing, everything."""
    rows, columns = size or size_of(case)
    y, x = np.mgrid[:rows, :columns]
    noise = case.rng.random((rows, columns))
    rings = np.maximum(abs(x - columns // 2), abs(y - rows // 2)) % 3 == 0
    return case.pick(lambda: case.image("logical", (rows, columns)), lambda: noise < 0.1,
                     lambda: noise < 0.35, lambda: noise < 0.6, lambda: noise < 0.9,
                     lambda: (x + 2 * y) % 5 == 0, lambda: rings, lambda: rings & (noise < 0.95),
                     lambda: np.zeros((rows, columns), bool), lambda: np.ones((rows, columns), bool))()


def dressed(case, mask):
    """The mask as an image of some class: what is not 0 counts."""
    if case.pick(True, False):
        return mask
    return case.pick(mask.astype(np.uint8) * case.pick(1, 255), mask.astype(np.uint16) * 300,
                     mask.astype(np.float32) * np.float32(case.pick(1, -0.25, 7.5)))


def relief_of(case, cls, size=None):
    levels = case.pick(None, 3, 8, 30)
    return case.image(cls, size or size_of(case), levels=levels)


@maker("regionprops")
def properties(case, op):
    a, conn, origin = mask_of(case), case.pick(4, 8), case.pick(0, 1)
    if case.pick(True, False):  # labels, some without a pixel
        cls = case.pick(np.uint8, np.uint16, np.float32)
        most = 200 if cls == np.uint8 else 40000
        numbers = case.rng.permutation(most)[:case.pick(1, 3, 20)] + 1
        a = np.where(a, case.rng.choice(numbers, a.shape), 0).astype(cls)
    params, inputs, image = f"conn={conn};origin={origin}", [a], None
    if case.pick(True, False):
        image = case.image(case.pick(*CLASSES), a.shape)
        params, inputs = params + ";image=input2", [a, image]
    case.emit(params, inputs, o.regionprops(a, conn, origin, image), "double", 1e-9)


@maker("bweuler")
def euler_number(case, op):
    a, conn = mask_of(case), case.pick(4, 8)
    case.emit(f"conn={conn}", [dressed(case, a)], np.array([[float(o.euler(a, conn))]]), "double", "exact")


@maker("bwperim")
def perimeters(case, op):
    a, conn = mask_of(case), case.pick(4, 8)
    case.emit(f"conn={conn}", [dressed(case, a)], o.bwperim(a, conn), "logical", "exact")


@maker("bwmorph")
@maker("bwmorph")
@maker("bwmorph")
def morphed(case, op):
    a, operation = mask_of(case), case.pick(*OPERATIONS)
    n = case.pick(0, 1, 2, 3, 7, math.inf)
    if operation in ("majority", "bothat") and n == math.inf:
        n = 40  # two images may take turns
    case.emit(f"operation={operation};n={n}", [dressed(case, a)], o.bwmorph(a, operation, n), "logical",
              "exact")


@maker("bwlookup", "applylut")
def looked_up(case, op):
    a, cells = mask_of(case), case.pick(16, 512)
    cls = case.pick(None, None, "uint8", "uint16", "single")
    if cls is None:
        lut = np.where(case.rng.random(cells) < 0.5, 0, case.rng.integers(-3, 4, cells) / 4)
        result = o.bwlookup(a, lut) != 0
    else:
        lut = case.rng.integers(-20, 70000, cells) / 4
        result = d.cast(o.bwlookup(a, lut), cls)
    spelled = ",".join(f"{v!r}" for v in lut.tolist())
    case.emit(f"lut=[{spelled}]" + (f";class={cls}" if cls else ""), [dressed(case, a)], result,
              cls or "logical", "exact")


@maker("bwhitmiss")
def patterns(case, op):
    a = mask_of(case)
    shape = case.pick((3, 3), (2, 2), (1, 4), (5, 3), (4, 5), (1, 1), (3, 90))
    interval = case.rng.choice([-1, 0, 0, 0, 1], shape)
    one, two, params = interval == 1, interval == -1, f"interval={matrix_text(interval)}"
    if case.pick(True, False):
        two = case.rng.random(case.pick((2, 2), (3, 1), (3, 4))) < 0.3
        params = f"se1={matrix_text(one.astype(int))};se2={matrix_text(two.astype(int))}"
    case.emit(params, [dressed(case, a)], o.hit(a, one, True) & o.hit(a, two, False), "logical", "exact")


@maker("bwareafilt")
def filtered(case, op):
    a, conn = mask_of(case), case.pick(4, 8)
    if case.pick(True, False):
        n, keep = case.pick(1, 2, 5, 1000000), case.pick("largest", "smallest")
        params, result = f"n={n};keep={keep}", o.bwareafilt(a, conn, n, keep == "largest")
    else:
        low, high = case.pick((0, 5), (5, 60), (3, 3), (40, math.inf), (0, math.inf), (1.5, 8.5))
        params, result = f"range={low},{high}", o.bwareafilt(a, conn, limits=(low, high))
    case.emit(f"{params};conn={conn}", [dressed(case, a)], result, "logical", "exact")


@maker("bwselect")
def selected(case, op):
    a, conn, count = mask_of(case), case.pick(4, 8), case.pick(1, 3, 20)
    columns = case.rng.integers(-2, a.shape[1] + 2, count).tolist()
    rows = case.rng.integers(-2, a.shape[0] + 2, count).tolist()
    case.emit(f"columns={text(columns)};rows={text(rows)};conn={conn}", [dressed(case, a)],
              o.bwselect(a, columns, rows, conn), "logical", "exact")


@maker("imclearborder")
def cleared(case, op):
    conn = case.pick(4, 8)
    a = case.pick(lambda: mask_of(case), lambda: relief_of(case, case.pick("uint8", "uint16", "single")))()
    case.emit(f"conn={conn}", [a], d.cast(o.imclearborder(a, conn), d.class_of(a)), d.class_of(a), "exact")


@maker("imhmax", "imhmin", "imextendedmax", "imextendedmin")
def suppressed(case, op):
    cls, conn = case.pick("uint8", "uint16", "single"), case.pick(4, 8)
    a = relief_of(case, cls)
    h = case.pick(0, 1, case.real(0, 0.5), 0.25, 2) * (1 if cls == "single" else d.WHITE[cls] / 4)
    h = h if cls == "single" else case.pick(round(h), h, 0.5, 1.5)
    level = (o.imhmax if op.endswith("max") else o.imhmin)(a, h, conn)
    if op.startswith("imextended"):
        sign = 1 if op.endswith("max") else -1
        case.emit(f"h={h!r};conn={conn}", [a], d.regional_maxima(sign * level, conn), "logical", "exact")
    else:
        case.emit(f"h={h!r};conn={conn}", [a], d.cast(level, cls), cls, "exact")


@maker("imimposemin")
def imposed(case, op):
    cls, conn = case.pick("uint8", "uint16", "single"), case.pick(4, 8)
    a = relief_of(case, cls)
    marker = case.pick(case.rng.random(a.shape) < 0.02, mask_of(case, a.shape))
    case.emit(f"marker=input2;conn={conn}", [a, dressed(case, marker)],
              d.cast(o.imimposemin(a, marker, conn), cls), cls, 1e-6 if cls == "single" else "exact")


@maker("watershed")
@maker("watershed")
def flooded(case, op):
    cls, conn = case.pick("uint8", "uint16", "single", "single", "logical"), case.pick(4, 8)
    a = case.pick(lambda: relief_of(case, cls), lambda: d.bwdist(mask_of(case), "euclidean"))()
    if a.dtype == np.float32:
        a = np.where(np.isinf(a), np.float32(0), -a if case.pick(True, False) else a)
    case.emit(f"conn={conn}", [a], o.watershed(a, conn).astype(np.float32), "single", "exact")


@maker("label2rgb")
def coloured(case, op):
    n = case.pick(0, 1, 2, 3, 5, 9, 64, 100, 255)
    size = size_of(case)
    a = case.rng.integers(0, n + 1, size).astype(case.pick(np.uint8, np.uint16, np.float32))
    background = case.pick((1, 1, 1), (0, 0, 0), (0.2, 0.5, 0.9))
    table = case.pick("jet", "jet", "gray", np.round(case.rng.random((n + case.pick(1, 4), 3)), 3))
    spelled = table if isinstance(table, str) else matrix_text(table)
    case.emit(f"map={spelled};background={text(background)}", [a], o.label2rgb(a, table, background),
              "uint8", "exact")
