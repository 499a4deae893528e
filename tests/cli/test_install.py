"""`cmake --install` makes a tree that works from any place, with its man page and completions."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from program import ROOT, SANITIZED, ProgramTest, ramp

BUILD = os.environ.get("IMPIPE_BUILD", "")


class Install(ProgramTest):
    def setUp(self):
        super().setUp()
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.path("first")],
                       check=True, stdout=subprocess.DEVNULL)
        os.rename(self.path("first"), self.path("moved"))  # no path of the prefix is built in

    def test_the_tree(self):
        self.assertEqual(self.tree("moved"), sorted([
            "bin/impipe", "lib/impipe/impipe_codec.so",
            "lib/impipe/impipe_codec_avif.so", "lib/impipe/impipe_codec_exr.so",
            "lib/impipe/impipe_codec_fits.so", "lib/impipe/impipe_codec_dicom.so",
            "lib/impipe/impipe_codec_raw.so", "lib/impipe/impipe_codec_zarr.so",
            "lib/impipe/impipe_codec_openslide.so",
            "lib/impipe/impipe_codec_icc.so",
            "lib/impipe/impipe_codec_ocio.so",
            "lib/impipe/impipe_codec_gif.so", "lib/impipe/impipe_codec_heif.so",
            "lib/impipe/impipe_codec_jp2.so", "lib/impipe/impipe_codec_opencv.so",
            "lib/impipe/impipe_codec_jxl.so", "share/man/man1/impipe.1",
            "share/bash-completion/completions/impipe", "share/zsh/site-functions/_impipe",
            "share/fish/vendor_completions.d/impipe.fish", "share/doc/impipe/LICENSE",
            "include/impipe.h", "lib/libimpipe.so", "lib/libimpipe.so.0",
            f"lib/libimpipe.so.{self.version()}", "lib/pkgconfig/impipe.pc",
            *(f"lib/cmake/impipe/impipeConfig{end}.cmake" for end in self.ends_of_config()),
            *(f"lib/python3/dist-packages/impipe/{name}"
              for name in ["__init__.py", "__main__.py", "_arrays.py", "_device.py", "_library.py",
                           "_pipeline.py", "_program.py", "py.typed"])]))

    def version(self):
        return self.impipe("--version").out.splitlines()[0].removeprefix("impipe ")

    def ends_of_config(self):
        """One part of the CMake package has the name of the build's configuration."""
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
            kind = re.search(r"(?m)^CMAKE_BUILD_TYPE:STRING=(.*)$", cache.read()).group(1)
        return ["", "Version", "-" + (kind or "noconfig").lower()]

    @unittest.skipIf(SANITIZED, "the library needs the sanitizer's, which has to come first")
    def test_a_c_program_builds_against_the_moved_tree(self):
        example = os.path.join(ROOT, "tests/api/example.c")
        library = self.path("moved/lib")
        if shutil.which("pkg-config"):
            flags = subprocess.run(["pkg-config", "--cflags", "--libs", "impipe"],
                                   env={**os.environ, "PKG_CONFIG_PATH": library + "/pkgconfig"},
                                   check=True, capture_output=True, text=True).stdout.split()
            subprocess.run(["cc", example, *flags, "-o", self.path("by_pc")], check=True)
            self.runs_with(library, "by_pc")
        self.write("c/CMakeLists.txt", f"""
            cmake_minimum_required(VERSION 3.25)
            project(c LANGUAGES C)
            find_package(impipe {self.version()} REQUIRED)
            add_executable(by_cmake {example})
            target_link_libraries(by_cmake PRIVATE impipe::impipe)
        """)
        for step in [["-S", self.path("c"), "-B", self.path("c/build"),
                      "-DCMAKE_PREFIX_PATH=" + self.path("moved")],
                     ["--build", self.path("c/build")]]:
            subprocess.run(["cmake", *step], check=True, stdout=subprocess.DEVNULL)
        self.runs_with(library, "c/build/by_cmake")

    @unittest.skipIf(SANITIZED, "python itself has no sanitizer")
    def test_python_finds_the_moved_library(self):
        code = "import impipe, numpy; print(impipe.run('mean2', numpy.ones((2, 3), numpy.uint8)))"
        done = subprocess.run(
            [sys.executable, "-Bc", code], capture_output=True, text=True,
            env={"PYTHONPATH": self.path("moved/lib/python3/dist-packages")})
        self.assertEqual((done.stdout, done.stderr), ("{'mean2': 1.0}\n", ""))

    def runs_with(self, library, program):
        done = subprocess.run([self.path(program)], env={"LD_LIBRARY_PATH": library},
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_it_works_from_another_place(self):
        self.picture("in/a.jpg", ramp())
        os.makedirs(self.path("bin"))
        os.symlink(self.path("moved/bin/impipe"), self.path("bin/impipe"))
        for program in ["moved/bin/impipe", "bin/impipe"]:
            out = program.replace("/", "-")
            subprocess.run([self.path(program), "imadjust | conv2 k7 | edge prewitt", "in", "-o",
                            out], cwd=self.folder, env={"PATH": "/usr/bin:/bin"}, check=True)
            self.assertEqual(self.tree(out), ["a.png"])

    def test_the_man_page_is_well_formed(self):
        page = self.path("moved/share/man/man1/impipe.1")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for heading in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "IN PROCESS"]:
            self.assertRegex(text, rf'(?m)^\.SH "?{heading}')
        if shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_completions_parse_and_complete(self):
        share = self.path("moved/share")
        scripts = {"bash": f"{share}/bash-completion/completions/impipe",
                   "zsh": f"{share}/zsh/site-functions/_impipe",
                   "fish": f"{share}/fish/vendor_completions.d/impipe.fish"}
        for shell, script in scripts.items():
            if shutil.which(shell):
                subprocess.run([shell, "-n", script], check=True)
        complete = f"""
            source {scripts['bash']}
            COMP_WORDS=(impipe --fail) COMP_CWORD=1 COMP_LINE='impipe --fail' COMP_POINT=13
            $(complete -p impipe | sed -n 's/.* -F \\([^ ]*\\) .*/\\1/p') impipe --fail impipe
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", complete], capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), ["--fail-fast"], done.stderr)


if __name__ == "__main__":
    unittest.main()
