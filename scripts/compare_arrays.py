"""Judges an array against the expected one: shape, class, NaN and Inf, tolerance, allowed share.

    compare_arrays.py EXPECTED.npy ACTUAL.npy [--tol T] [--max-bad-frac F] [--cap C] [--any-class]

An element is bad when it differs by more than T, or when only one side is NaN or the same Inf. The
pair matches when at most the share F of the elements is bad, none is off by more than C, and every
NaN and Inf is in its place (unless some bad elements are allowed). Exit: 0 match, 1 not, 2 usage.
"""
import argparse
import sys

import numpy as np

CLASS_NAMES = {"bool": "logical", "float32": "single", "float64": "double"}


def class_of(array):
    """The pixel class as the tables name it: logical, uint8, uint16, single, double."""
    return CLASS_NAMES.get(array.dtype.name, array.dtype.name)


def same_shape(expected, actual):
    """One element is one element, and a 1-D array may stand for a row or a column."""
    if expected.shape == actual.shape:
        return True
    if expected.size != actual.size:
        return False
    flat = actual.ndim == 1 and expected.ndim == 2 and 1 in expected.shape
    return expected.size == 1 or flat


def accepted_classes(expected_class, measurement):
    """Integers and logicals have to be what they are; `single` stands for double and back.

    Measurements are double whatever the image was."""
    floats = {"single", "double"}
    if expected_class in floats:
        return floats
    return {expected_class} | (floats if measurement else set())


def compare(expected, actual, tolerance=0.0, bad_share=0.0, cap=np.inf, classes=None):
    """(matches, message). `classes` are the accepted class names; None accepts any."""
    if classes is not None and class_of(actual) not in classes:
        return False, f"class is {class_of(actual)}, expected {' or '.join(sorted(classes))}"
    if not same_shape(expected, actual):
        return False, f"shape is {actual.shape}, expected {expected.shape}"
    if expected.size == 0:
        return True, "empty"
    if expected.dtype == np.bool_:
        actual = actual != 0
    want = expected.astype(np.float64).ravel()
    have = actual.astype(np.float64).ravel()

    finite = np.isfinite(want) & np.isfinite(have)
    same_special = (np.isnan(want) & np.isnan(have)) | (~finite & (want == have))
    misplaced = ~finite & ~same_special
    difference = np.zeros(want.size)
    difference[finite] = np.abs(want[finite] - have[finite])
    bad = misplaced | (difference > tolerance)

    worst = float(difference.max())
    matches = (bad.sum() <= bad_share * want.size + 1e-9 and worst <= max(cap, tolerance)
               and (bad_share > 0 or not misplaced.any()))
    message = (f"largest difference {worst:.6g}, "
               f"{int(bad.sum())} of {want.size} beyond {tolerance:g}")
    if misplaced.any():
        message += f", {int(misplaced.sum())} NaN or Inf misplaced"
    if not matches:
        at = int(np.argmax(np.where(misplaced, np.inf, difference)))
        place = tuple(int(i) for i in np.unravel_index(at, expected.shape))
        message += f"; worst at {place}: expected {float(want[at])!r}, is {float(have[at])!r}"
    return bool(matches), message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("expected")
    parser.add_argument("actual")
    parser.add_argument("--tol", type=float, default=0.0)
    parser.add_argument("--max-bad-frac", type=float, default=0.0)
    parser.add_argument("--cap", type=float, default=np.inf)
    parser.add_argument("--any-class", action="store_true")
    options = parser.parse_args()
    try:
        expected = np.load(options.expected, allow_pickle=False)
        actual = np.load(options.actual, allow_pickle=False)
    except (OSError, ValueError) as error:
        print(f"compare_arrays: {error}", file=sys.stderr)
        return 2
    classes = None if options.any_class else accepted_classes(class_of(expected), False)
    matches, message = compare(expected, actual, options.tol, options.max_bad_frac, options.cap,
                               classes)
    print(("same: " if matches else "different: ") + message)
    return 0 if matches else 1


if __name__ == "__main__":
    sys.exit(main())
