"""`cmake --install` makes a tree that works from any place, with its man page and completions."""
import os
import shutil
import subprocess
import unittest

from program import ProgramTest, ramp

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
            "lib/impipe/impipe_codec_raw.so",
            "lib/impipe/impipe_codec_gif.so", "lib/impipe/impipe_codec_heif.so",
            "lib/impipe/impipe_codec_jp2.so", "lib/impipe/impipe_codec_opencv.so",
            "lib/impipe/impipe_codec_jxl.so", "share/man/man1/impipe.1",
            "share/bash-completion/completions/impipe", "share/zsh/site-functions/_impipe",
            "share/fish/vendor_completions.d/impipe.fish", "share/doc/impipe/LICENSE"]))

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
        for heading in ["NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT"]:
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
