"""Pipelines of MATLAB-style image operators on arrays, with the results of the program impipe.

>>> import impipe
>>> edges = impipe.run('imadjust | conv2 k7 | edge prewitt', photograph)
"""
from ._device import Array
from ._library import (Cancelled, DeviceError, Error, ImageError, OutOfMemory, PipelineError,
                       function)
from ._pipeline import Cancel, Notice, Pipeline, Result, Table, Value, release_memory, run
from ._program import files, ops

__version__: str = function("version")().decode()
__all__ = ["Array", "Cancel", "Cancelled", "DeviceError", "Error", "ImageError", "Notice", "OutOfMemory",
           "Pipeline", "PipelineError", "Result", "Table", "Value", "files", "ops", "release_memory", "run"]

# What a traceback and help() call them.
for _public in (Array, Cancel, Cancelled, DeviceError, Error, ImageError, Notice, OutOfMemory, Pipeline,
                PipelineError, Result, files, ops, release_memory, run):
    _public.__module__ = __name__
