"""Outlines, polygons, hulls and skeletons of objects, in plain numpy and Python integers: a second
opinion.

Written from the definitions, not from the program. Images are arrays [rows, columns]; see
definitions.py. An object is a set of pixels (x, y); logical images are labelled, the values of
others are labels.
"""
import itertools
import math
from fractions import Fraction

import numpy as np

import definitions as d
import definitions_objects as o

# East, then clockwise on the screen, as (dx, dy).
DIRECTIONS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]


def objects(a, conn):
    """(label, mask) of each object, in order of the labels."""
    labels = d.bwlabel(a, conn) if a.dtype == bool else a
    return [(int(k), labels == k) for k in np.unique(labels) if k > 0]


# --- outlines

def outline(mask, conn):
    """Moore tracing: the pixels (x, y) of the outer border, the first one again at the end."""
    rows, columns = mask.shape

    def inside(x, y):
        return 0 <= x < columns and 0 <= y < rows and mask[y, x]

    def step(x, y, first):
        for i in range(8):
            k = (first + i) % 8
            if (conn == 8 or k % 2 == 0) and inside(x + DIRECTIONS[k][0], y + DIRECTIONS[k][1]):
                return k
        return None

    x, y = (int(v) for v in np.argwhere(mask.T)[0])
    points, first = [(x, y)], step(x, y, 5 if conn == 8 else 6)
    if first is None:
        return points * 2
    start, k = (x, y), first
    while True:
        x, y = x + DIRECTIONS[k][0], y + DIRECTIONS[k][1]
        points.append((x, y))
        k = step(x, y, k - 1 if conn == 8 and k % 2 == 0 else k - 2)
        if (x, y) == start and k == first:
            return points


def bwboundaries(b, conn, holes, origin):
    """Rows Boundary Object Kind Index X Y."""
    labels = d.bwlabel(b, conn)
    found = [(int(k), 0, outline(labels == k, conn)) for k in range(1, int(labels.max()) + 1)]
    if holes:
        inner = 4 if conn == 8 else 8
        gaps = d.bwlabel(~b, inner)
        frame = set(gaps[[0, -1]].ravel()) | set(gaps[:, [0, -1]].ravel())
        for k in range(1, int(gaps.max()) + 1):
            if k not in frame:
                points = outline(gaps == k, inner)
                found.append((int(labels[points[0][1], points[0][0] - 1]), 1, points))
    rows = [[n + 1, number, kind, i + 1, x + origin, y + origin]
            for n, (number, kind, points) in enumerate(found) for i, (x, y) in enumerate(points)]
    return np.array(rows, float).reshape(-1, 6)


def boundaries_geojson(table):
    features = []
    for n in np.unique(table[:, 0]):
        rows = table[table[:, 0] == n]
        features.append({"type": "Feature",
                         "properties": dict(zip(("Boundary", "Object", "Kind"),
                                                (int(v) for v in rows[0, :3]))),
                         "geometry": {"type": "LineString", "coordinates": rows[:, 4:].tolist()}})
    return {"type": "FeatureCollection", "features": features}


# --- polygons

def rings(part):
    """Closed rings of corners (x, y) round a 4-connected set of pixels: none visits a point twice.

    The pixel lies on the same side of each edge. Where two pixels of the part meet in a corner
    alone, the ring goes on at the other pixel, so the two gaps have a ring each."""
    sides = {}
    for x, y in part:
        for outer, a, b in (((x, y - 1), (x, y), (x + 1, y)), ((x, y + 1), (x + 1, y + 1), (x, y + 1)),
                            ((x - 1, y), (x, y + 1), (x, y)), ((x + 1, y), (x + 1, y), (x + 1, y + 1))):
            if outer not in part:
                sides.setdefault(a, []).append((b, (x, y)))
    result = []
    while sides:
        start = next(iter(sides))
        end, pixel = sides[start].pop()
        ring = [start]
        while end != start:
            ring.append(end)
            options = sides[end]
            taken = next((s for s in options if len(options) == 2 and s[1] != pixel), options[0])
            options.remove(taken)
            end, pixel = taken
        result.append(ring)
        sides = {a: list_ for a, list_ in sides.items() if list_}
    return [straightened(ring) for ring in result]


def straightened(ring):
    return [p for i, p in enumerate(ring)
            if (p[0] - ring[i - 1][0]) * (ring[(i + 1) % len(ring)][1] - p[1]) !=
            (p[1] - ring[i - 1][1]) * (ring[(i + 1) % len(ring)][0] - p[0])]


def doubled_area(ring):
    return sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(ring, ring[1:] + ring[:1]))


def polygonize(a, conn, origin):
    shift = 0.5 * origin
    features = []
    for label, mask in objects(a, conn):
        parts = d.bwlabel(mask, 4)
        polygons = []
        for k in range(1, int(parts.max()) + 1):
            part = {(int(x), int(y)) for y, x in np.argwhere(parts == k)}
            found = sorted(rings(part), key=doubled_area, reverse=True)
            polygons.append([[[x + shift, y + shift] for x, y in ring + ring[:1]] for ring in found])
        geometry = ({"type": "Polygon", "coordinates": polygons[0]} if len(polygons) == 1 else
                    {"type": "MultiPolygon", "coordinates": polygons})
        features.append({"type": "Feature", "properties": {"Object": label}, "geometry": geometry})
    return {"type": "FeatureCollection", "features": features}


def poly2mask(vertices, rows, columns, origin):
    mask = np.zeros((rows, columns), bool)
    if len(vertices) < 3:
        return mask
    for r, c in np.ndindex(rows, columns):
        x, y = c + origin, r + origin
        for (x1, y1), (x2, y2) in zip([vertices[-1], *vertices[:-1]], vertices):
            if y1 != y2 and (y1 <= y) != (y2 <= y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
                mask[r, c] = not mask[r, c]
    return mask


def regionfill(a, mask):
    """One plane, in double: each pixel of the mask is the mean of its neighbours by sides."""
    x = a.astype(np.float64)
    places = [tuple(p) for p in np.argwhere(mask)]
    if not places or mask.all():
        return x
    index = {p: i for i, p in enumerate(places)}
    matrix, right = np.zeros((len(places),) * 2), np.zeros(len(places))
    for (r, c), i in index.items():
        for dr, dc in d.neighbours(4):
            p = (r + dr, c + dc)
            if 0 <= p[0] < x.shape[0] and 0 <= p[1] < x.shape[1]:
                matrix[i, i] += 1
                if p in index:
                    matrix[i, index[p]] -= 1
                else:
                    right[i] += x[p]
    x[mask] = np.linalg.solve(matrix, right)
    return x


# --- hulls

def hull(mask):
    """Vertices of the hull of the pixels' (x +- 1/2, y), (x, y +- 1/2), doubled; o.hull's order."""
    points = []
    for y, x in np.argwhere(mask).tolist():
        points += [(2 * x - 1, 2 * y), (2 * x + 1, 2 * y), (2 * x, 2 * y - 1), (2 * x, 2 * y + 1)]
    return o.hull(points)


def filled_hull(mask):
    result = np.zeros(mask.shape, bool)
    if not mask.any():
        return result
    corners = hull(mask)
    for r, c in np.ndindex(*mask.shape):
        result[r, c] = all((bx - ax) * (2 * r - ay) - (by - ay) * (2 * c - ax) >= 0
                           for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]))
    return result


def bwconvhull(a, method, conn):
    if method == "union":
        return filled_hull(a if a.dtype == bool else a > 0)
    result = np.zeros(a.shape, bool)
    for _, mask in objects(a, conn):
        result |= filled_hull(mask)
    return result


def convexhull(a, conn, origin):
    """Rows Object Index X Y, clockwise on the screen (y down) from the leftmost, uppermost vertex."""
    rows = []
    for label, mask in objects(a, conn):
        corners = hull(mask)
        if doubled_area(corners) < 0:
            corners = corners[::-1]
        at = corners.index(min(corners))
        corners = corners[at:] + corners[:at + 1]
        rows += [[label, i + 1, x / 2 + origin, y / 2 + origin] for i, (x, y) in enumerate(corners)]
    return np.array(rows, float).reshape(-1, 4)


def line_angle(dx, dy):
    """Degrees in (-90, 90], counter-clockwise from the x axis; dy counts down."""
    if dx < 0 or (dx == 0 and dy > 0):
        dx, dy = -dx, -dy
    return 90.0 if dx == 0 else math.degrees(math.atan2(-dy, dx))


def feret(mask):
    """Largest diameter, its angle, smallest width, its angle, of the pixels' corners; exact ties."""
    points = []
    for y, x in np.argwhere(mask).tolist():
        points += [(2 * x + i, 2 * y + j) for i in (-1, 1) for j in (-1, 1)]
    corners = o.hull(points)
    most = max((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 for a, b in itertools.combinations(corners, 2))
    angle = min(line_angle(b[0] - a[0], b[1] - a[1]) for a, b in itertools.combinations(corners, 2)
                if (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 == most)
    widths = []
    for a, b in zip(corners, corners[1:] + corners[:1]):
        dx, dy = b[0] - a[0], b[1] - a[1]
        heights = [dx * (p[1] - a[1]) - dy * (p[0] - a[0]) for p in corners]
        widths.append((Fraction((max(heights) - min(heights)) ** 2, dx * dx + dy * dy),
                       line_angle(-dy, dx)))
    width, across = min(widths)
    return math.sqrt(most) / 2, angle, math.sqrt(width) / 2, across


# --- columns of regionprops

NAMES = ("Label Area Centroid_x Centroid_y BoundingBox_x BoundingBox_y BoundingBox_w BoundingBox_h "
         "EquivDiameter MajorAxisLength MinorAxisLength Eccentricity Orientation Perimeter Extent "
         "Solidity EulerNumber MeanIntensity MinIntensity MaxIntensity WeightedCentroid_x "
         "WeightedCentroid_y").split()
GROUPS = {"Centroid": NAMES[2:4], "BoundingBox": NAMES[4:8], "WeightedCentroid": NAMES[20:22]}
MORE = ("ConvexArea FilledArea Circularity MaxFeretDiameter MaxFeretAngle MinFeretDiameter "
        "MinFeretAngle").split()


def filled_area(mask):
    gaps = d.bwlabel(~np.pad(mask, 1), 4)
    return int((gaps != gaps[0, 0]).sum() - (np.pad(mask, 1) & (gaps == gaps[0, 0])).sum())


def chosen_properties(a, conn, origin, names, image=None):
    """Label, then the columns of `names`."""
    plain = o.regionprops(a, conn, origin, image)
    rows = []
    for row, (_, mask) in zip(plain, objects(a, conn)):
        have = dict(zip(NAMES, row))
        circle = have["Perimeter"] ** 2
        ys, xs = np.nonzero(mask)
        have.update(zip(MORE, (o.hull_area(ys, xs), filled_area(mask),
                               4 * math.pi * have["Area"] / circle if circle else math.inf,
                               *feret(mask))))
        rows.append([have["Label"]] + [have[c] for name in names for c in GROUPS.get(name, [name])])
    width = 1 + sum(len(GROUPS.get(name, [name])) for name in names)
    return np.array(rows, float).reshape(-1, width)


# --- skeletons

def ring_of(b):
    """(s, t): neighbours that are set, and steps from 0 to 1 on the way round."""
    x = o.around(b)
    return sum(x), sum(((x[i] == 0) & (x[(i + 1) % 8] == 1)).astype(int) for i in range(8))


def ends(b):
    s, t = ring_of(b)
    return b & (t <= 1) & (s < 8)


def branches(b):
    return b & (ring_of(b)[1] >= 3)


def bwskel(b, least):
    thin = o.bwmorph(b, "thin", math.inf)
    nodes, (s, _) = branches(thin), ring_of(thin)
    pieces, near = d.bwlabel(thin & ~nodes, 8), sum(o.around(nodes)) > 0
    result = thin.copy()
    for k in range(1, int(pieces.max()) + 1):
        piece = pieces == k
        if piece.sum() < least and (piece & (s == 1)).any() and (piece & near).any():
            result &= ~piece
    return result
