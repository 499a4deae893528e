"""Objects and their numbers, in plain numpy and Python integers: a second opinion.

Written from the definitions (what MATLAB and Octave document, and the rules chosen where they
differ), not from the program. Images are arrays [rows, columns]; see definitions.py.
"""
import heapq
import math

import numpy as np

import definitions as d

# East, then counter-clockwise: x1 .. x8 of Guo and Hall.
AROUND = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]


def around(b, outside=0):
    """The 8 neighbours of each pixel, east first, as arrays of 0 and 1."""
    return [d.shifted(b.astype(int), dy, dx, "constant", outside) for dy, dx in AROUND]


# --- rows of numbers

def outline(piece):
    """(even, odd, corners) of the walk round a piece, whose pixels are a set of (row, column)."""
    sides = [(0, -1), (-1, 0), (0, 1), (1, 0)]  # west, north, east, south: clockwise
    start = min(piece, key=lambda p: (p[1], p[0]))
    p, s, walk = start, 0, []
    while True:
        walk.append(p)
        t = (s + 1) % 4
        ahead = (p[0] + sides[t][0], p[1] + sides[t][1])
        across = (ahead[0] + sides[s][0], ahead[1] + sides[s][1])
        if across in piece:
            p, s = across, (s - 1) % 4
        elif ahead in piece:
            p = ahead
        else:
            s = t
        if (p, s) == (start, 0):
            break
    pixels = [p for i, p in enumerate(walk) if p != walk[i - 1]]
    steps = [((a[0] - b[0]) ** 2, (a[1] - b[1]) ** 2)
             for a, b in zip(pixels, pixels[1:] + pixels[:1])]
    even = sum(1 for step in steps if sum(step) == 1)
    corners = sum(1 for i, step in enumerate(steps) if step != steps[i - 1])
    return even, len(steps) - even, corners


def perimeter(mask):
    pieces = d.bwlabel(mask, 8).astype(int)
    total = 0.0
    for k in range(1, pieces.max() + 1):
        piece = set(map(tuple, np.argwhere(pieces == k).tolist()))
        if len(piece) > 1:
            even, odd, corners = outline(piece)
            total += 0.980 * even + 1.406 * odd - 0.091 * corners
    return total


def hull(points):
    """Corners of the convex hull, in order (Andrew's chain); integers."""
    def half(sequence):
        chain = []
        for p in sequence:
            while len(chain) > 1 and ((chain[-1][0] - chain[-2][0]) * (p[1] - chain[-2][1]) -
                                      (chain[-1][1] - chain[-2][1]) * (p[0] - chain[-2][0])) <= 0:
                chain.pop()
            chain.append(p)
        return chain[:-1]
    points = sorted(set(points))
    return half(points) + half(points[::-1])


def hull_area(ys, xs):
    """Pixel centres in or on the hull of the middles of the pixels' sides."""
    points = []
    for y, x in zip(ys.tolist(), xs.tolist()):
        points += [(2 * x - 1, 2 * y), (2 * x + 1, 2 * y), (2 * x, 2 * y - 1), (2 * x, 2 * y + 1)]
    corners = hull(points)
    y, x = np.mgrid[ys.min():ys.max() + 1, xs.min():xs.max() + 1] * 2
    inside = np.ones(y.shape, bool)
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        inside &= (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0
    return int(inside.sum())


def euler(mask, conn):
    a = np.pad(mask, 1).astype(int)
    q = [a[:-1, :-1], a[:-1, 1:], a[1:, :-1], a[1:, 1:]]
    count = sum(q)
    diagonal = (count == 2) & (q[0] == q[3])
    sign = -2 if conn == 8 else 2
    return int((count == 1).sum() - (count == 3).sum() + sign * diagonal.sum()) // 4


def axes(ys, xs):
    """(major, minor, eccentricity, orientation)"""
    n, sx, sy = len(xs), int(xs.sum()), int(ys.sum())
    uxx = (n * int((xs * xs).sum()) - sx * sx) / n ** 2 + 1 / 12
    uyy = (n * int((ys * ys).sum()) - sy * sy) / n ** 2 + 1 / 12
    uxy = -(n * int((xs * ys).sum()) - sx * sy) / n ** 2
    k = math.sqrt((uxx - uyy) ** 2 + 4 * uxy ** 2)
    major = 2 * math.sqrt(2) * math.sqrt(uxx + uyy + k)
    minor = 2 * math.sqrt(2) * math.sqrt(max(uxx + uyy - k, 0))
    up, across = (uyy - uxx + k, 2 * uxy) if uyy > uxx else (2 * uxy, uxx - uyy + k)
    angle = 0.0 if up == 0 and across == 0 else 90.0 if across == 0 else math.degrees(
        math.atan(up / across))
    return major, minor, math.sqrt(1 - (minor / major) ** 2), angle


def intensities(values, ys, xs, origin):
    v = values.astype(np.float64)
    total = v.sum()
    places = [(v * p).sum() / total + origin if total != 0 else math.nan for p in (xs, ys)]
    return [v.mean(), v.min(), v.max(), *places]


def regionprops(a, conn, origin, image=None):
    labels = d.bwlabel(a, conn) if a.dtype == bool else a
    rows = []
    for label in sorted(set(labels[labels != 0].tolist())):
        mask = labels == label
        ys, xs = np.nonzero(mask)
        n, w, h = len(xs), int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1
        major, minor, eccentricity, angle = axes(ys.astype(object), xs.astype(object))
        box = [xs.min() + 0.5, ys.min() + 0.5] if origin else [xs.min(), ys.min()]
        row = [label, n, xs.mean() + origin, ys.mean() + origin, *box, w, h,
               math.sqrt(4 * n / math.pi), major, minor, eccentricity, angle, perimeter(mask),
               n / (w * h), n / hull_area(ys, xs), euler(mask, 8)]
        rows.append(row + (intensities(image[mask], ys, xs, origin) if image is not None else []))
    return np.array(rows, float).reshape(-1, 17 if image is None else 22)


# --- masks

def bwperim(b, conn):
    all_set = np.ones(b.shape, bool)
    for dy, dx in d.neighbours(conn):
        all_set &= d.shifted(b.astype(int), dy, dx, "constant", 0) > 0
    return b & ~all_set


def bwlookup(b, lut):
    bits, index = b.astype(int), np.zeros(b.shape, int)
    side = 2 if len(lut) == 16 else 3
    for column in range(side):
        for row in range(side):
            first = 0 if side == 2 else 1
            index += (1 << (column * side + row)) * d.shifted(bits, row - first, column - first,
                                                              "constant", 0).astype(int)
    return np.asarray(lut)[index]


def kept_labels(b, conn, keep):
    """keep(areas) -> the numbers of the components that stay."""
    labels = d.bwlabel(b, conn).astype(int)
    areas = np.bincount(labels.reshape(-1), minlength=labels.max() + 1)[1:]
    return np.isin(labels, [k + 1 for k in keep(areas)]) & (labels > 0)


def bwareafilt(b, conn, n=None, largest=True, limits=None):
    if limits is not None:
        return kept_labels(b, conn, lambda areas: [k for k, area in enumerate(areas)
                                                   if limits[0] <= area <= limits[1]])
    return kept_labels(b, conn, lambda areas: sorted(
        range(len(areas)), key=lambda k: -areas[k] if largest else areas[k])[:n])


def bwselect(b, columns, rows, conn):
    labels = d.bwlabel(b, conn)
    wanted = {labels[y, x] for x, y in zip(columns, rows)
              if 0 <= y < b.shape[0] and 0 <= x < b.shape[1]} - {0}
    return np.isin(labels, list(wanted))


def hit(b, se, wanted):
    """Where every cell of se that is 1 lies outside or on a pixel that is `wanted`."""
    oy, ox = (se.shape[0] - 1) // 2, (se.shape[1] - 1) // 2
    result = np.ones(b.shape, bool)
    for i, j in np.argwhere(se):
        result &= d.shifted((b == wanted).astype(int), i - oy, j - ox, "constant", 1) > 0
    return result


# --- bwmorph

def crossings(x):
    """XH: how often the way round the pixel goes from 0 to 1."""
    return sum(((x[2 * i] == 0) & ((x[2 * i + 1] + x[(2 * i + 2) % 8]) > 0)).astype(int)
               for i in range(4))


def thin(b):
    for half in (0, 1):
        x = around(b)
        n1 = sum(((x[2 * i] + x[2 * i + 1]) > 0).astype(int) for i in range(4))
        n2 = sum(((x[2 * i + 1] + x[(2 * i + 2) % 8]) > 0).astype(int) for i in range(4))
        low = np.minimum(n1, n2)
        if half == 0:
            guard = ((x[1] + x[2] + (1 - x[7])) > 0) & (x[0] > 0)
        else:
            guard = ((x[5] + x[6] + (1 - x[3])) > 0) & (x[4] > 0)
        b = b & ~((crossings(x) == 1) & (low >= 2) & (low <= 3) & ~guard)
    return b


FIELDS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def in_fields(b, candidates, rule, outside=0):
    b = b.copy()
    for row, column in FIELDS:
        field = np.zeros(b.shape, bool)
        field[row::2, column::2] = True
        b &= ~(field & candidates & rule(around(b, outside)))
    return b


def skeleton(b, ends):
    x = around(b)
    border = b & (x[0] + x[2] + x[4] + x[6] < 4)
    return in_fields(b, border, lambda y: (crossings(y) == 1) & ~(ends & (sum(y) == 1)))


def spur(b):
    return in_fields(b, b & (sum(around(b, 1)) == 1), lambda y: sum(y) == 1, 1)


def bridged(b):
    result = b.copy()
    x = np.stack(around(b), axis=-1)
    for r, c in np.argwhere(~b):
        ring = x[r, c]
        places = [AROUND[i] for i in range(8) if ring[i]]
        groups, left = 0, set(places)
        while left:
            groups, stack = groups + 1, [left.pop()]
            while stack:
                y, z = stack.pop()
                near = {p for p in left if max(abs(p[0] - y), abs(p[1] - z)) == 1}
                left -= near
                stack += near
        corners = (len(places) == 2 and all(y and z for y, z in places) and
                   (places[0][0] == places[1][0] or places[0][1] == places[1][1]))
        result[r, c] = groups >= 2 and not corners
    return result


def diagonal(b):
    e, ne, n, nw, w, sw, s, se = around(b)
    joined = ((n & e & (1 - ne)) | (e & s & (1 - se)) | (s & w & (1 - sw)) | (w & n & (1 - nw)))
    return b | (joined > 0)


def without_h(b):
    e, ne, n, nw, w, sw, s, se = around(b)
    corners = nw & ne & sw & se
    lying = corners & n & s & (1 - e) & (1 - w)
    standing = corners & e & w & (1 - n) & (1 - s)
    return b & ~((lying | standing) > 0)


def bwmorph(b, operation, n):
    square = np.ones((3, 3), int)
    named = {"dilate": "imdilate", "erode": "imerode", "open": "imopen", "close": "imclose",
             "tophat": "imtophat", "bothat": "imbothat"}

    def once(a):
        x = around(a)
        s, e4 = sum(x), x[0] + x[2] + x[4] + x[6]
        rules = {"clean": lambda: a & (s > 0), "fill": lambda: a | (e4 == 4),
                 "remove": lambda: a & (e4 < 4), "majority": lambda: s + a >= 5,
                 "diag": lambda: diagonal(a), "bridge": lambda: bridged(a),
                 "hbreak": lambda: without_h(a), "thin": lambda: thin(a),
                 "skel": lambda: skeleton(a, True), "shrink": lambda: skeleton(a, False),
                 "spur": lambda: spur(a)}
        if operation in named:
            return d.morphology(named[operation], a, square)
        return rules[operation]()
    for _ in range(1000 if n == math.inf else n):
        following = once(b)
        if np.array_equal(following, b):
            break
        b = following
    return b


# --- reliefs

def reconstruction(marker, mask, conn):
    """By dilation of the marker, which lies nowhere above the mask; floats."""
    x = np.minimum(marker, mask)
    while True:
        grown = x
        for dy, dx in d.neighbours(conn):
            grown = np.maximum(grown, d.shifted(x, dy, dx, "constant", -np.inf))
        grown = np.minimum(grown, mask)
        if np.array_equal(grown, x):
            return x
        x = grown


def lowered(a, h):
    """A - h, rounded and saturated in the class."""
    if a.dtype == np.float32:
        return (a - np.float32(h)).astype(np.float64)
    white = d.WHITE[d.class_of(a)]
    return d.rha(np.clip(a.astype(np.float64) - h, 0, white))


def imhmax(a, h, conn):
    return reconstruction(lowered(a, h), a.astype(np.float64), conn)


def imhmin(a, h, conn):
    """By erosion: everything upside down."""
    if a.dtype == np.float32:
        raised = (a + np.float32(h)).astype(np.float64)
    else:
        raised = d.rha(np.clip(a.astype(np.float64) + h, 0, d.WHITE[d.class_of(a)]))
    return -reconstruction(-raised, -a.astype(np.float64), conn)


def imclearborder(a, conn):
    x = a.astype(np.float64)
    marker = np.full(x.shape, -np.inf if a.dtype == np.float32 else 0)
    marker[[0, -1], :] = x[[0, -1], :]
    marker[:, [0, -1]] = x[:, [0, -1]]
    return x - reconstruction(marker, x, conn)


def imimposemin(a, marker, conn):
    x = a.astype(np.float64)
    if a.dtype == np.float32:
        low, high = -np.inf, np.inf
        step = (x.max() - x.min()) / 1000 or 0.1
        raised = (a + np.float32(step)).astype(np.float64)
    else:
        low, high = 0, d.WHITE[d.class_of(a)]
        raised = np.minimum(x + 1, high)
    fm = np.where(marker != 0, low, high)
    return -reconstruction(-fm, -np.minimum(raised, fm), conn)


NEAR = {8: [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)],
        4: [(0, -1), (-1, 0), (1, 0), (0, 1)]}


def watershed(a, conn):
    """Meyer's flooding; equal values in the order in which they came."""
    rows, columns = a.shape
    minima = d.regional_maxima(-a.astype(np.float64), conn)
    labels = d.bwlabel(minima, conn).astype(int)
    queued, heap, seq = labels > 0, [], 0

    def near(r, c):
        return [(r + dy, c + dx) for dy, dx in NEAR[conn]
                if 0 <= r + dy < rows and 0 <= c + dx < columns]

    def wait(r, c, seq):
        for q in near(r, c):
            if not queued[q]:
                queued[q] = True
                heapq.heappush(heap, (float(a[q]), seq, q))
                seq += 1
        return seq
    for c, r in np.ndindex(columns, rows):
        if labels[r, c]:
            seq = wait(r, c, seq)
    while heap:
        _, _, p = heapq.heappop(heap)
        beside = {labels[q] for q in near(*p)} - {0}
        if len(beside) == 1:
            labels[p] = beside.pop()
            seq = wait(*p, seq)
    return labels


def jet(n):
    q = -(-n // 4)
    u = [i / q for i in range(1, q + 1)] + [1.0] * (q - 1) + [i / q for i in range(q, 0, -1)]
    first = -(-q // 2) - (1 if n % 4 == 1 else 0)
    table = np.zeros((n, 3))
    green = [first + i for i in range(1, len(u) + 1)]
    for value, g in zip(u, green):
        if 1 <= g <= n:
            table[g - 1, 1] = value
        if 1 <= g + q <= n:
            table[g + q - 1, 0] = value
    blue = [g - q for g in green if 1 <= g - q <= n]
    table[[b - 1 for b in blue], 2] = u[len(u) - len(blue):]
    return table


def label2rgb(labels, table, background):
    labels = labels.astype(int)
    n = labels.max()
    if isinstance(table, str):
        table = jet(n) if table == "jet" else np.repeat(
            np.linspace(0, 1, n)[:, None] if n != 1 else np.zeros((1, 1)), 3, axis=1)
    colours = np.vstack([[background], table[:n]]) if n > 0 else np.array([background], float)
    return d.cast(255 * colours[labels], "uint8")
