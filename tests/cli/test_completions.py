"""The completion scripts in the shells themselves: what is offered, and that zsh takes them up."""
import os
import pty
import select
import shutil
import subprocess
import unittest

from program import ProgramTest

# What is typed, word by word, and what must be among the offers.
TYPED = [
    (["pla"], "plan"),
    (["wien"], "wiener2"),
    (["run", "--recu"], "--recursive"),
    (["run", "edge", "--progress", "js"], "json"),
    (["edge", "x", "--format"], "--format"),
    (["ops", "imfil"], "imfilter"),
    (["cache", "li"], "list"),
    (["cache", "wa"], "warm"),
    # After flags without a value, and after the values of others.
    (["run", "--strict", "wien"], "wiener2"),
    (["--recursive", "wien"], "wiener2"),
    (["--device", "cpu", "-r", "wien"], "wiener2"),
    (["run", "--device", "c"], "cpu"),
    (["bench", "--backend", "au"], "auto"),
    (["run", "--format", "ji"], None),
    (["run", "--format", "jx"], "jxl"),
    (["run", "edge", "--strict", "wien"], None),
    (["run", "--watch", "fol"], "folder"),
    (["run", "--watch", "fil"], None),
]
# In a pipeline that is not closed yet.
QUOTED = [
    (["'imadjust | ed"], "imadjust | edge"),
    (["'edge ca"], "edge canny"),
    (["'edge method=ca"], "edge method=canny"),
    (["--strict", "'imadjust | imdilate di"], "imadjust | imdilate disk,"),
    (["plan", "'imfilter fspecial:gaussian,5 sym"], "imfilter fspecial:gaussian,5 symmetric"),
    (["'conv2 ga"], "conv2 gaussian,"),
    (["'imgaussfilt sig"], "imgaussfilt sigma="),
    (["'edge canny | imd"], "edge canny | imdilate"),
]


class Completions(ProgramTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("folder"))
        self.write("file", "")

    def script(self, shell):
        self.write("script", self.impipe("completions", shell).out)
        return self.path("script")

    def run_shell(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                              cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")

    def check(self, words, offer, offers):
        if offer is None:
            self.assertEqual([one for one in offers if one], [])
        else:
            self.assertIn(offer, offers)

    def test_bash(self):
        driver = (f"source {self.script('bash')}; compopt() {{ :; }}\n"
                  "COMP_WORDS=(impipe \"$@\"); COMP_CWORD=$#; _impipe\n"
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        equals = [(["run", "--format", "=", "jx"], "jxl"), (["run", "--format", "="], "jxl"),
                  (["--output", "=", "a.png", "wien"], "wiener2")]
        for words, offer in TYPED + QUOTED + equals:
            with self.subTest(words):
                self.check(words, offer, self.run_shell("bash", "-c", driver, "bash", *words))

    def test_bash_at_its_prompt(self):
        """A line is typed and Tab pressed; what becomes of the line."""
        terminal = Shell(
            ["bash", "--norc", "-i"], self.folder, f"source {self.script('bash')}; "
            "show() { printf '[%s%s]]' '[' \"$READLINE_LINE\"; READLINE_LINE=; }; "
            "bind -x '\"\\C-t\": show'")
        self.becomes(terminal, "impipe 'imadjust | wien", "impipe 'imadjust | wiener2")
        self.becomes(terminal, "impipe 'edge method=ca", "impipe 'edge method=canny")
        self.becomes(terminal, "impipe --strict 'imdilate dia",
                     "impipe --strict 'imdilate diamond,")
        self.becomes(terminal, "impipe --recursive wien", "impipe --recursive wiener2 ")
        self.becomes(terminal, "impipe run --device=cu", "impipe run --device=cuda ")

    def becomes(self, terminal, typed, line):
        self.addCleanup(terminal.close)
        with self.subTest(typed):
            self.assertEqual(terminal.complete(typed), line)

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        script = self.script("fish")
        for words, offer in TYPED + QUOTED:
            with self.subTest(words):
                line = " ".join(["impipe"] + words).replace("\\", "\\\\").replace('"', '\\"')
                offers = self.run_shell("fish", "--no-config", "-c",
                                        f'source {script}; complete -C "{line}"')
                # A folder ends in a slash here.
                self.check(words, offer, [one.split("\t")[0].rstrip("/") for one in offers])

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        script = self.script("zsh")
        self.run_shell("zsh", "-n", script)
        said = self.run_shell("zsh", "-fc", "autoload -Uz compinit; compinit -D -u; "
                              f"source {script}; echo ${{_comps[impipe]}} $+functions[_impipe]")
        self.assertEqual(said[0], "_impipe 1")

    def test_zsh_at_its_prompt(self):
        """A line is typed and Tab pressed; what becomes of the line."""
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        terminal = Shell(
            ["zsh", "-f", "-i"], self.folder, "autoload -Uz compinit; compinit -D -u; "
            "show() { print -rn -- \"[\"\"[$BUFFER]]\"; BUFFER= }; zle -N show; "
            f"bindkey '^T' show; source {self.script('zsh')}")
        self.becomes(terminal, "impipe 'imadjust | wien", "impipe 'imadjust | wiener2")
        self.becomes(terminal, "impipe 'edge ca", "impipe 'edge canny")
        self.becomes(terminal, "impipe 'edge method=ca", "impipe 'edge method=canny")
        self.becomes(terminal, "impipe --strict 'imdilate dia",
                     "impipe --strict 'imdilate diamond,")
        self.becomes(terminal, "impipe --recursive wien", "impipe --recursive wiener2 ")
        self.becomes(terminal, "impipe run --device cu", "impipe run --device cuda ")
        self.becomes(terminal, "impipe run --format jx", "impipe run --format jxl ")


class Shell:
    """A shell in a terminal of its own, in which Control-T shows the line and empties it."""

    def __init__(self, command, folder, setting_up):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.environ["TERM"] = "dumb"
            os.execvp(command[0], command)
        self.send(f"{setting_up}; echo REA''DY\n")
        self.read_until("READY")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, end):
        """What is shown up to `end`; what there is after a long silence."""
        shown = ""
        while end not in shown:
            if not select.select([self.terminal], [], [], 20)[0]:
                break
            shown += os.read(self.terminal, 4096).decode(errors="replace")
        return shown

    def complete(self, line):
        self.send(line + "\t\x14")
        return self.read_until("]]").split("[[")[-1].split("]]")[0]

    def close(self):
        if self.terminal < 0:
            return
        os.close(self.terminal)
        self.terminal = -1
        os.waitpid(self.process, 0)


if __name__ == "__main__":
    unittest.main()
