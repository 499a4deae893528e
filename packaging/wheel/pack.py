#!/usr/bin/env python3
"""Packs a folder as a wheel: pack.py FOLDER TAG VERSION README OUTPUT.

FOLDER holds the package `impipe`. The command `impipe` is a script that becomes the program in the
package, without loading the package.
"""
import base64
import hashlib
import os
import sys
import zipfile

COMMAND = """#!python
import importlib.util
import os
import sys

package = importlib.util.find_spec("impipe").submodule_search_locations[0]
program = os.path.join(package, "bin", "impipe")
os.execv(program, [program, *sys.argv[1:]])
"""


def main():
    folder, tag, version, readme, output = sys.argv[1:]
    info = f"impipe-{version}.dist-info"
    with open(readme, encoding="utf-8") as file:
        text = file.read()
    members = {
        f"impipe-{version}.data/scripts/impipe": (COMMAND.encode(), True),
        f"{info}/WHEEL": (f"Wheel-Version: 1.0\nGenerator: impipe\nRoot-Is-Purelib: false\n"
                          f"Tag: {tag}\n".encode(), False),
        f"{info}/METADATA": ("Metadata-Version: 2.1\nName: impipe\n"
                             f"Version: {version}\n"
                             "Summary: Pipelines of MATLAB-style image operators\n"
                             "License: Apache-2.0\nRequires-Python: >=3.11\n"
                             "Requires-Dist: numpy\n"
                             "Provides-Extra: cuda\n"
                             "Requires-Dist: nvidia-cuda-nvrtc; extra == 'cuda'\n"
                             "Provides-Extra: cuda12\n"
                             "Requires-Dist: nvidia-cuda-nvrtc-cu12; extra == 'cuda12'\n"
                             f"Description-Content-Type: text/markdown\n\n{text}".encode(), False),
    }
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                members[os.path.relpath(path, folder)] = (file.read(), os.access(path, os.X_OK))
    record = f"{info}/RECORD"
    lines = [f"{record},,"]
    path = os.path.join(output, f"impipe-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, data, runs):
            member = zipfile.ZipInfo(name)  # of 1980: the same files make the same wheel
            member.external_attr = (0o100755 if runs else 0o100644) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(member, data)

        for name, (data, runs) in sorted(members.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.insert(-1, f"{name},sha256={digest},{len(data)}")
            add(name, data, runs)
        add(record, ("\n".join(lines) + "\n").encode(), False)
    print(path)


if __name__ == "__main__":
    main()
