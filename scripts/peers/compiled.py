"""Compiles the .cu files beside this one with the toolkit that is here, and loads them.

python3 -m peers.compiled NAME... compiles those of the names that it knows, at once.
"""
import ctypes
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = {
    "npp": ("nppif", "nppist", "nppim", "nppitc", "nppicc", "nppidei", "nppial", "nppig", "nppc"),
    "cub": (),
}


def nvcc():
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(found):
        raise ImportError("nvcc is not installed")
    return found


def load(name):
    """The library made of NAME.cu."""
    return ctypes.CDLL(compile_library(name))


def compile_library(name):
    """The path of the library made of NAME.cu; kept for the next process of this user."""
    source = os.path.join(FOLDER, name + ".cu")
    kept = os.path.join(tempfile.gettempdir(), f"impipe-peers-{os.getuid()}")
    os.makedirs(kept, exist_ok=True)
    target = os.path.join(kept, f"{name}-{int(os.path.getmtime(source))}.so")
    if not os.path.exists(target):
        compiler = nvcc()
        root = os.path.dirname(os.path.dirname(os.path.realpath(compiler)))
        places = [place for place in (f"{root}/lib64", f"{root}/targets/x86_64-linux/lib")
                  if glob.glob(place + "/libcudart*")]
        command = [compiler, "-std=c++17", "-O2", "-arch=native", "--extended-lambda", "-Xcompiler",
                   "-fPIC", "-shared", "-o", target + ".new", source]
        for place in places:
            command += ["-L", place, "-Xlinker", f"-rpath={place}"]
        run = subprocess.run(command + [f"-l{library}" for library in LIBRARIES[name]],
                             capture_output=True, text=True, timeout=150)
        if run.returncode != 0:
            raise ImportError("nvcc: " + " ".join(run.stderr.split())[:150])
        os.replace(target + ".new", target)
    return target


if __name__ == "__main__":
    for each in set(LIBRARIES).intersection(sys.argv[1:]):
        threading.Thread(target=compile_library, args=[each]).start()
