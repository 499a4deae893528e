#!/usr/bin/env bash
# White of sRGB is 1.0000241 in ACEScg.
#
# OpenColorIO 2.6.0: the CPU processor that everybody takes, getDefaultCPUProcessor, replaces powers by faster
# ones with an error of 2.4e-5 at white, 1.5 steps of 16 bits; OPTIMIZATION_LOSSLESS gives 1 exactly. Mattes
# and masks that compare with 1 after a conversion miss.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 opencolorio==2.6.0
venv/bin/python - <<'PYTHON'
import PyOpenColorIO as ocio

config = ocio.Config.CreateFromBuiltinConfig("ocio://default")
processor = config.getProcessor("sRGB - Texture", "ACEScg")
white = [1.0, 1.0, 1.0]
by_default = processor.getDefaultCPUProcessor().applyRGB(white)
lossless = processor.getOptimizedCPUProcessor(ocio.OPTIMIZATION_LOSSLESS).applyRGB(white)
print("default", by_default, "lossless", lossless)
assert all(1.00002 < value < 1.00003 for value in by_default)
assert lossless == white
PYTHON
