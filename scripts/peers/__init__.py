"""The libraries that compare_peers.py --device holds impipe against, one module each.

A module has a class Peer: making it raises ImportError (or any other error) where the library is
not here; put() makes a picture resident in the memory of its device, calls(kind) gives a Call for
each row of table.ROWS that it can do, get() brings a result back as an array of rows and columns.
"""

# Module and what it is, in the order in which they are timed: those of the card first.
PEERS = {
    "npp": "NPP",
    "cub": "CUB",
    "cupy": "CuPy",
    "torch": "PyTorch",
    "cucim": "cuCIM",
    "cvcuda": "CV-CUDA",
    "kornia_rs_cuda": "kornia-rs on the card",
    "pyclesperanto": "pyclesperanto",
    "opencv": "OpenCV",
    "skimage": "scikit-image",
    "kornia_rs": "kornia-rs",
    "pillow": "Pillow",
    "vips": "vips",
    "gm": "GraphicsMagick",
}


class Call:
    """How a peer does a row. run(a, b): of resident pictures, b is there where the row takes two.
    see: what of the fetched result is held against impipe's. note: how the definition differs, in
    words; then nothing has to agree. off, share, margin: instead of the row's. graph: whether the
    call can be recorded in a CUDA graph, tried unless it is False."""

    def __init__(self, run, see=None, note="", off=None, share=None, margin=None, graph=True):
        self.run, self.see, self.note, self.graph = run, see, note, graph
        self.off, self.share, self.margin = off, share, margin
