"""The completion scripts in the shells themselves: what is offered, and that zsh takes them up."""
import shutil
import subprocess
import unittest

from program import ProgramTest

# What is typed, word by word, and what must be among the offers.
TYPED = [
    (["pla"], "plan"),
    (["med"], "medfilt2"),
    (["run", "--recu"], "--recursive"),
    (["run", "edge", "--progress", "js"], "json"),
    (["edge", "x", "--format"], "--format"),
    (["ops", "imfil"], "imfilter"),
    (["cache", "li"], "list"),
    (["cache", "wa"], "warm"),
]


class Completions(ProgramTest):
    def script(self, shell):
        self.write("script", self.impipe("completions", shell).out)
        return self.path("script")

    def run_shell(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")

    def test_bash(self):
        driver = (f"source {self.script('bash')}; compopt() {{ :; }}\n"
                  "COMP_WORDS=(impipe \"$@\"); COMP_CWORD=$#; _impipe\n"
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        for words, offer in TYPED + [(["'imadjust | ed"], "imadjust | edge")]:
            with self.subTest(words):
                self.assertIn(offer, self.run_shell("bash", "-c", driver, "bash", *words))

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        script = self.script("fish")
        for words, offer in TYPED + [(["'imadjust | ed"], "imadjust | edge")]:
            with self.subTest(words):
                line = " ".join(["impipe"] + words).replace("\\", "\\\\").replace('"', '\\"')
                offers = self.run_shell("fish", "--no-config", "-c",
                                        f'source {script}; complete -C "{line}"')
                self.assertIn(offer, [one.split("\t")[0] for one in offers])

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        script = self.script("zsh")
        self.run_shell("zsh", "-n", script)
        said = self.run_shell("zsh", "-fc", "autoload -Uz compinit; compinit -D -u; "
                              f"source {script}; echo ${{_comps[impipe]}} $+functions[_impipe]")
        self.assertEqual(said[0], "_impipe 1")


if __name__ == "__main__":
    unittest.main()
