#!/usr/bin/env python3
"""Made data and expected values of tests/cli/test_scripts.py, by scikit-image, SciPy and astropy.

    scripts/script_cases.py tests/data/scripts

Needs numpy, scipy, scikit-image, astropy and Pillow. The pipelines stand in docs/scripts.md; what is
computed here is written from the same steps with the functions of those libraries.
"""
import json
import pathlib
import sys

import numpy as np
from astropy.stats import sigma_clip
from PIL import Image
from scipy import ndimage
from skimage import color, feature, filters, measure, morphology, segmentation, transform

RANDOM = np.random.default_rng(55)
NUMBERS = {}
EIGHT = np.ones((3, 3), int)


def disc(shape, x, y, radius):
    rows, columns = np.ogrid[:shape[0], :shape[1]]
    return (columns - x) ** 2 + (rows - y) ** 2 <= radius ** 2


def gray(pixels, noise):
    return np.clip(np.round(pixels + RANDOM.normal(0, noise, pixels.shape)), 0, 255).astype(np.uint8)


def otsu_mask(image):
    return image > filters.threshold_otsu(image)


def down_the_columns(mask, connectivity=2):
    """Labels in MATLAB's order."""
    return measure.label(mask.T, connectivity=connectivity).T


def coins():
    image = np.full((120, 150), 60.0)
    for x, y, r in [(30, 30, 14), (75, 28, 18), (118, 40, 12), (40, 85, 20), (100, 84, 16), (146, 100, 15)]:
        image[disc(image.shape, x, y, r)] = 170
        image[disc(image.shape, x + 3, y - 2, r // 4)] = 55  # a dark spot
    image = gray(image, 8)
    mask = ndimage.binary_fill_holes(otsu_mask(image))
    mask = morphology.remove_small_objects(mask, max_size=29, connectivity=2)
    mask = segmentation.clear_border(mask)
    rows = measure.regionprops(down_the_columns(mask))
    NUMBERS["coins"] = [[r.label, r.area, r.centroid[1] + 1, r.centroid[0] + 1] for r in rows]
    return {"coins.png": image}, {}


def touching():
    mask = np.zeros((110, 140), bool)
    for x, y, r in [(35, 35, 18), (62, 40, 16), (100, 30, 17), (50, 80, 19), (84, 82, 18), (116, 74, 17)]:
        mask |= disc(mask.shape, x, y, r)
    image = gray(np.where(mask, 190.0, 70.0), 6)
    mask = otsu_mask(image)
    height = ndimage.distance_transform_edt(mask)
    seeds = measure.label(morphology.h_maxima(height, 2), connectivity=2)
    cells = segmentation.watershed(-height, seeds, mask=mask, connectivity=EIGHT, watershed_line=True)
    return {"touching.png": image}, {"touching_labels.npy": cells.astype(np.uint8)}


def markers():
    image = np.full((100, 120), 40.0)
    image[disc(image.shape, 40, 45, 24)] = 120
    image[disc(image.shape, 80, 55, 26)] = 200
    image = gray(ndimage.gaussian_filter(image, 1.5), 3)
    seeds = np.zeros(image.shape, int)
    seeds[disc(image.shape, 32, 45, 5)] = 1
    seeds[disc(image.shape, 86, 55, 5)] = 2
    seeds[[0, -1]] = 3
    seeds[:, [0, -1]] = 3
    steepness = np.hypot(ndimage.sobel(image.astype(float), 0), ndimage.sobel(image.astype(float), 1))
    regions = segmentation.watershed(steepness, seeds, connectivity=EIGHT)
    return ({"markers.png": image, "markers_seeds.png": (seeds > 0).astype(np.uint8) * 255},
            {"markers_labels.npy": regions.astype(np.uint8)})


def retina():
    rows, columns = np.mgrid[:128, :128].astype(float)
    image = np.stack([150 + 0.3 * rows, 110 + 0.5 * columns, np.full(rows.shape, 60.0)], -1)
    vessels = [np.abs(rows - 64 - 20 * np.sin(columns / 22)) < 2, np.abs(columns - 70 - 0.4 * rows + 15) < 1.5,
               np.abs(rows + columns - 90) < 2]
    for vessel in vessels:
        image[vessel] *= 0.65
    image = gray(image, 3)
    hat = ndimage.black_tophat(image[..., 1], size=(15, 15), mode="reflect")
    mask = morphology.remove_small_objects(otsu_mask(hat), max_size=59, connectivity=2)
    skeleton = morphology.thin(mask)
    NUMBERS["retina"] = [int(mask.sum()), int(skeleton.sum())]
    return {"retina.png": image}, {"retina_mask.npy": mask}


def granulometry():
    image = np.full((128, 128), 30.0)
    for radius, count in ((3, 40), (6, 15), (9, 6)):
        for _ in range(count):
            image[disc(image.shape, *RANDOM.integers(0, 128, 2), radius)] = RANDOM.integers(120, 220)
    image = gray(image, 2)
    NUMBERS["granulometry"] = [
        int(ndimage.grey_opening(image, size=(n, n), mode="reflect").astype(np.int64).sum())
        for n in (3, 7, 11, 15)]
    return {"granulometry.png": image}, {}


def plate():
    image = np.full((140, 200), 90.0)
    image += np.linspace(0, 50, 200)
    image[60:92, 50:150] = 225
    for i in range(6):
        left = 58 + 15 * i
        image[66:86, left:left + 3] = 30
        image[66:69, left:left + 9] = 30
        if i % 2:
            image[83:86, left:left + 9] = 30
            image[66:86, left + 7:left + 9] = 30
    image = gray(image, 4)
    mask = morphology.closing(image > 200, np.ones((9, 9), bool))
    rows = measure.regionprops(measure.label(mask, connectivity=2))
    top, left, bottom, right = max(rows, key=lambda r: r.area).bbox
    letters = segmentation.clear_border(~otsu_mask(image[top:bottom, left:right]))
    letters = morphology.remove_small_objects(letters, max_size=19, connectivity=2)
    NUMBERS["plate"] = [[r.label, r.area, r.bbox[1], r.bbox[0], r.bbox[3] - r.bbox[1], r.bbox[2] - r.bbox[0]]
                        for r in measure.regionprops(down_the_columns(letters))]
    return {"plate.png": image}, {}


def skeleton():
    mask = np.zeros((90, 120), bool)
    mask[40:46, 10:110] = True
    mask[10:80, 30:36] = True
    mask[42:80, 80:85] = True
    for i in range(30):
        mask[12 + i:16 + i, 58 + i:64 + i] = True
    thin = morphology.thin(mask)
    ring = [np.roll(np.pad(thin, 1), (-dy, -dx), (0, 1))[1:-1, 1:-1].astype(int) for dy, dx in
            [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]]
    steps = sum((ring[k] == 0) & (ring[(k + 1) % 8] == 1) for k in range(8))
    NUMBERS["skeleton"] = [int((thin & (steps <= 1) & (sum(ring) < 8)).sum()), int((thin & (steps >= 3)).sum())]
    return {"skeleton.png": mask.astype(np.uint8) * 255}, {"skeleton.npy": thin}


def texture():
    image = gray(ndimage.gaussian_filter(RANDOM.normal(128, 300, (64, 72)), 2, mode="wrap"), 0)
    pairs = feature.graycomatrix(image // 32, [1], [0], levels=8, symmetric=True)
    p = pairs[:, :, 0, 0] / pairs.sum()
    i, j = np.indices(p.shape)
    NUMBERS["texture"] = [feature.graycoprops(pairs, "contrast")[0, 0],
                          feature.graycoprops(pairs, "correlation")[0, 0],
                          feature.graycoprops(pairs, "ASM")[0, 0],  # MATLAB's energy
                          float((p / (1 + abs(i - j))).sum())]      # MATLAB's homogeneity
    return {"texture.png": image}, {}


def deskew():
    page = np.full((260, 300), 235.0)
    for top in range(30, 230, 16):
        for left in range(25, 265, 7):
            if RANDOM.random() < 0.85:
                page[top:top + 8, left:left + 5] = 30
    image = gray(transform.rotate(page, 3.4, order=1, mode="constant", cval=235, preserve_range=True), 4)
    rows, columns = np.nonzero(~otsu_mask(image))
    x, y = columns - (image.shape[1] - 1) / 2, rows - (image.shape[0] - 1) / 2

    def contrast(step):
        """Of neighbouring lines of pixels at 0.1 degrees times this."""
        angle = np.deg2rad(step * 0.1)
        lines = np.floor(y * np.cos(angle) + x * np.sin(angle) + 0.5).astype(int)
        return (np.diff(np.bincount(lines - lines.min() + 1, minlength=1)) ** 2).sum()

    angle = -0.1 * max(range(-150, 151), key=contrast)
    NUMBERS["deskew"] = [angle]
    level = transform.rotate(image.astype(float), angle, order=1, mode="constant", cval=235, preserve_range=True)
    return {"deskew.png": image, "deskew_level.png": np.floor(level + 0.5).astype(np.uint8)}, {}


def classes():
    image = np.empty((90, 120, 3))
    image[:] = 200, 60, 50
    image[20:70, 15:55] = 60, 150, 70
    image[disc((90, 120), 85, 45, 25)] = 50, 80, 180
    image = gray(image, 6)
    lab = color.rgb2lab(image)
    centres = [color.rgb2lab(np.array([[c]], np.uint8))[0, 0] for c in
               ((200, 60, 50), (60, 150, 70), (50, 80, 180))]
    NUMBERS["classes_centres"] = [[round(float(v), 1) for v in c[1:]] for c in centres]
    distances = np.stack([(lab[..., 1] - round(float(c[1]), 1)) ** 2 + (lab[..., 2] - round(float(c[2]), 1)) ** 2
                          for c in centres])
    return {"classes.png": image}, {"classes_labels.npy": (distances.argmin(0) + 1).astype(np.uint8)}


def circles():
    image = np.full((110, 150), 50.0)
    truth = [(40, 42, 18), (96, 36, 12), (108, 80, 22), (45, 88, 14)]
    for x, y, r in truth:
        image[disc(image.shape, x, y, r)] = 200
    image = gray(image, 3)
    edges = feature.canny(image / 255.0, 1.5)
    radii = np.arange(10, 26)
    _, x, y, r = transform.hough_circle_peaks(transform.hough_circle(edges, radii), radii, 12, 12,
                                              total_num_peaks=4)
    found = sorted((int(a), int(b), int(c)) for a, b, c in zip(x, y, r))
    assert all(min(np.hypot(a - p, b - q) for p, q, _ in truth) <= 2 for a, b, _ in found)
    NUMBERS["circles"] = found
    return {"circles.png": image}, {}


def document():
    page = np.full((120, 160), 230.0)
    for top in range(12, 108, 14):
        for left in range(10, 148, 7):
            if RANDOM.random() < 0.8:
                page[top:top + 6, left:left + 2] = 60
                page[top:top + 2, left:left + 5] = 60
    rows, columns = np.mgrid[:120, :160]
    image = gray(page * (0.35 + 0.65 * columns / 160) * (1 - 0.3 * rows / 120), 3)
    # The library mirrors without the pixels of the border, the definition with them.
    count, pixels = 25 * 25, image.astype(np.int64)
    window = np.ones((25, 25), np.int64)
    total, squares = (ndimage.correlate(values, window, mode="reflect") for values in (pixels, pixels ** 2))
    mean, deviation = total / count, np.sqrt(count * squares - total ** 2) / count
    paper = image > mean * (1 + 0.2 * (deviation / 127.5 - 1))
    inside = (slice(13, -13), slice(13, -13))
    assert (paper == (image > filters.threshold_sauvola(image, 25, k=0.2, r=127.5)))[inside].all()
    return {"document.png": image}, {"document_paper.npy": paper}


def stack():
    rows, columns = np.mgrid[:64, :72]
    sky = 800 + 2.0 * columns
    for x, y, peak in ((20, 15, 4000), (50, 40, 9000), (30, 52, 2500)):
        sky = sky + peak * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / 8)
    frames = {}
    for i in range(12):
        frame = RANDOM.poisson(sky).astype(float)
        frame[RANDOM.integers(0, 64, 12), RANDOM.integers(0, 72, 12)] += 20000  # cosmic rays
        frames[f"stack_{i:02}.png"] = np.clip(np.round(frame), 0, 65535).astype(np.uint16)
    cube = np.stack(list(frames.values())).astype(float)
    clipped = sigma_clip(cube, sigma=3, maxiters=5, cenfunc="median", stdfunc="std", axis=0, masked=False)
    mean = np.floor(np.nanmean(clipped, 0) + 0.5)
    NUMBERS["stack"] = [float(mean.max()), float(mean.mean())]
    return frames, {"stack_mean.npy": mean.astype(np.uint16)}


def template():
    ground = ndimage.gaussian_filter(RANDOM.normal(0, 1, (96, 120)), 2)
    image = gray(110 + 160 * ground, 0)
    part = gray(image[37:60, 41:72] * 0.6 + 40.0, 4)  # darker, flatter and noisy
    scores = feature.match_template(image, part)
    y, x = np.unravel_index(scores.argmax(), scores.shape)
    NUMBERS["template"] = [x, y, scores.max()]
    return {"template.png": image, "template_part.png": part}, {}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (coins, touching, markers, retina, granulometry, plate, skeleton, texture, deskew, classes,
                 circles, document, stack, template):
        inputs, expected = make()
        for name, pixels in inputs.items():
            Image.fromarray(pixels).save(folder / name)
        for name, values in expected.items():
            np.save(folder / name, values)
    text = json.dumps(NUMBERS, default=float)
    (folder / "numbers.json").write_text(text.replace(', "', ',\n "') + "\n")


if __name__ == "__main__":
    main()
