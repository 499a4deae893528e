"""What scripts/setup.sh says of backends, on machines that have this and that."""
import os
import subprocess
import unittest

from program import ROOT, ProgramTest

NEEDS = ("a machine that is to use it needs the driver (Debian: libcuda1), and NVRTC from a package "
         "(Debian: libnvrtc11.2; NVIDIA: cuda-nvrtc-12-*) or from PyPI (pip install "
         "nvidia-cuda-nvrtc; for drivers of CUDA 12 nvidia-cuda-nvrtc-cu12), or instead of NVRTC a "
         "cache that 'impipe cache warm PIPELINE' filled on such a machine (IMPIPE_CACHE_DIR)")
BUILT_IN = ("built in, without a CUDA toolkit; the program opens NVIDIA's driver and NVRTC when it "
            "runs")


class Setup(ProgramTest):
    def report(self, linker=(), card=None, **environment):
        """What is said where the dynamic linker has these libraries, of each backend."""
        table = "".join(f"\t{os.path.basename(path)} (libc6,x86-64) => {path}\n" for path in linker)
        self.tool("ldconfig", f"cat <<'.'\n{table}.")
        self.tool("nvidia-smi", "exit 9" if card is None else f"echo '{card}'")
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", ". scripts/setup.sh; setup_report_backends"],
            cwd=ROOT, capture_output=True, text=True, check=True,
            env={"PATH": self.path("bin") + ":/usr/bin:/bin", "SETUP_ROOT": self.path("root"),
                 "HOME": self.path("home"), **environment})
        said = {}
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("setup: "), line)
            backend, text = line.removeprefix("setup: ").split(": ", 1)
            said.setdefault(backend, []).append(text)
        self.assertEqual(done.stdout, "")
        self.assertEqual(said["what the built program can use"], ["impipe devices"])
        return said

    def tool(self, name, text):
        self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n")
        os.chmod(self.path("bin", name), 0o755)

    def file(self, name):
        self.write(name, b"")
        return self.path(name)

    def test_a_bare_machine(self):
        said = self.report()
        self.assertEqual(said["cpu"], ["built in; needs nothing"])
        self.assertEqual(said["cuda"], [
            BUILT_IN, "here: driver missing (libcuda.so.1), NVRTC missing (libnvrtc.so)", NEEDS])
        self.assertEqual(said["opencl"], [
            "built in; the program opens the loader and its drivers when it runs",
            "here: loader missing (Debian: ocl-icd-libopencl1), drivers none in /etc/OpenCL/vendors"])

    def test_a_machine_that_has_all(self):
        self.file("root/etc/OpenCL/vendors/a.icd")
        self.file("root/etc/OpenCL/vendors/b.icd")
        said = self.report(["/lib/libcuda.so.1", "/lib/libnvrtc.so.12", "/lib/libOpenCL.so.1"],
                           "GPU 0: NVIDIA T4 (UUID: GPU-1)")
        self.assertEqual(said["cuda"], [
            BUILT_IN, "here: driver /lib/libcuda.so.1, NVRTC /lib/libnvrtc.so.12",
            "here: GPU 0: NVIDIA T4"])
        self.assertEqual(said["opencl"][1], "here: loader /lib/libOpenCL.so.1, drivers a.icd b.icd")

    def test_a_toolkit_without_a_driver(self):
        toolkit = self.file("root/usr/local/cuda-12.4/lib64/libnvrtc.so.12")
        said = self.report()
        self.assertEqual(said["cuda"], [
            BUILT_IN, f"here: driver missing (libcuda.so.1), NVRTC {toolkit}", NEEDS])

    def test_a_driver_without_nvrtc(self):
        said = self.report(["/lib/libcuda.so.1"])
        self.assertEqual(said["cuda"], [
            BUILT_IN, "here: driver /lib/libcuda.so.1, NVRTC missing (libnvrtc.so)",
            "here: nvidia-smi names no card", NEEDS])

    def test_nvrtc_is_found_where_the_program_looks(self):
        wheel = "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"
        for name, environment in (
                ("venv/" + wheel, {"VIRTUAL_ENV": self.path("venv")}),
                ("conda/" + wheel, {"CONDA_PREFIX": self.path("conda")}),
                ("home/.local/" + wheel, {}),
                ("root/usr/local/" + wheel.replace("site-", "dist-"), {}),
                ("toolkit/lib64/libnvrtc.so", {"CUDA_HOME": self.path("toolkit")}),
                ("libraries/libnvrtc.so.13", {"LD_LIBRARY_PATH": self.path("libraries")}),
                ("own/compiler.so", {"IMPIPE_NVRTC": self.path("own/compiler.so")})):
            with self.subTest(name):
                found = self.file(name)
                self.assertIn(f"NVRTC {found}", self.report(**environment)["cuda"][1])
                os.remove(found)
        self.assertIn("NVRTC missing", self.report(
            ["/lib/libnvrtc.so.12"], IMPIPE_NVRTC="/no/compiler.so")["cuda"][1])


if __name__ == "__main__":
    unittest.main()
