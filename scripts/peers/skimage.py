"""scikit-image and SciPy on the CPU."""
import warnings

import numpy as np
import scipy
import scipy.ndimage
import skimage
import skimage.color
import skimage.exposure
import skimage.feature
import skimage.filters
import skimage.measure
import skimage.metrics
import skimage.morphology
import skimage.restoration
import skimage.segmentation
import skimage.transform

from peers.clocks import WallClock
from peers.skimage_rows import SkimageRows


class Peer:
    where = "cpu"

    def __init__(self):
        warnings.simplefilter("ignore")
        self.clock = WallClock()
        distance = scipy.ndimage.distance_transform_edt
        self.rows = SkimageRows(skimage, np, scipy.ndimage, distance, on_card=False)

    def version(self):
        return f"scikit-image {skimage.__version__}, SciPy {scipy.__version__}"

    def put(self, array):
        return array

    def get(self, result):
        return {key: np.asarray(value) for key, value in result.items()} \
            if isinstance(result, dict) else np.asarray(result)

    def calls(self, kind):
        return self.rows.calls(kind)
