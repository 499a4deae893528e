"""Texts, names and folders that nobody should have to trust: what they may read, write, take and show."""
import os
import stat
import subprocess
import threading
import unittest

import numpy as np
import program
from program import PROGRAM, ProgramTest, ramp

import fits_writer


class NamedTexts(ProgramTest):
    """Files that a pipeline or a flag names."""

    def refused(self, *arguments, says, **options):
        result = self.impipe(*arguments, code=2, preexec_fn=program_memory, **options)
        self.assertEqual(result.err, says)

    def test_a_kernel_that_is_no_text_file_is_an_error_at_its_place(self):
        os.mkdir(self.path("k"))
        for path, reason in [(".", "is a folder"), ("k", "is a folder"),
                             ("/dev/zero", "is a device, not a text file"),
                             ("/dev/urandom", "is a device, not a text file"),
                             ("none", "No such file or directory")]:
            with self.subTest(path=path):
                self.refused("plan", f"conv2 @{path}",
                             says=f"impipe: pipeline:1:7: conv2: {path}: {reason}\n"
                                  f"  conv2 @{path}\n        {'^' * (len(path) + 1)}\n")

    def test_a_pipeline_that_is_no_text_file_is_an_error(self):
        for path, reason in [(".", "is a folder"), ("/dev/zero", "is a device, not a text file")]:
            with self.subTest(path=path):
                self.refused("plan", "-f", path, says=f"impipe: -f {path}: {reason}\n")

    def test_a_list_that_is_no_text_file_is_an_error(self):
        for path, reason in [(".", "is a folder"), ("/dev/zero", "is a device, not a text file")]:
            for flags in ([], ["-0"]):
                with self.subTest(path=path, flags=flags):
                    self.refused("mean2", "--files-from", path, *flags,
                                 says=f"impipe: --files-from {path}: {reason}\n")

    def test_stdin_without_end_is_an_error_too(self):
        with open("/dev/zero", "rb") as zero:
            self.refused("plan", "-f", "-", stdin_file=zero,
                         says="impipe: -f stdin: is a device, not a text file\n")

    def test_a_pipe_without_end_is_read_up_to_a_limit(self):
        endless = subprocess.Popen(["yes", "1 2 3"], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (endless.kill(), endless.wait(), endless.stdout.close()))
        self.refused("plan", "conv2 @/dev/stdin", stdin_file=endless.stdout,
                     says="impipe: pipeline:1:7: conv2: /dev/stdin: is longer than 64 MiB, which is "
                          "the most that is read of a text file\n"
                          "  conv2 @/dev/stdin\n        ^^^^^^^^^^^\n")

    def test_a_line_without_end_is_no_name(self):
        endless = subprocess.Popen(["sh", "-c", "yes a | tr -d '\\n'"], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (endless.kill(), endless.wait(), endless.stdout.close()))
        self.refused("mean2", "--files-from", "-", stdin_file=endless.stdout,
                     says="impipe: --files-from stdin: a line is longer than 65536 bytes: this is "
                          "no list of files\n")

    def test_pipes_and_dev_stdin_are_read(self):
        os.mkfifo(self.path("pipe"))

        def feed():
            with open(self.path("pipe"), "w") as pipe:
                pipe.write("1 2 1\n")
        writer = threading.Thread(target=feed)
        writer.start()
        self.assertIn("stencil 3x1", self.impipe("plan", "imfilter @pipe").out)
        writer.join()
        self.assertIn("stencil 3x1",
                      self.impipe("plan", "imfilter @/dev/stdin", stdin=b"1 2 1\n").out)
        self.assertIn("imcomplement",
                      self.impipe("plan", "-f", "/dev/stdin", stdin=b"imcomplement\n").out)

    def test_a_matrix_has_at_most_1001_rows_and_columns(self):
        self.write("wide.txt", " ".join(["1"] * 1002))
        self.refused("plan", "conv2 @wide.txt",
                     says="impipe: pipeline:1:7: conv2: wide.txt, line 1: a matrix has at most 1001 "
                          "rows and columns\n  conv2 @wide.txt\n        ^^^^^^^^^\n")
        text = "conv2 [" + ";".join(["1"] * 1002) + "]"
        result = self.impipe("plan", text, code=2)
        self.assertEqual(result.err.splitlines()[0],
                         "impipe: pipeline:1:7: conv2: a matrix has at most 1001 rows and columns, "
                         "not 1002 and 1")

    def impipe(self, *arguments, stdin_file=None, **options):
        if stdin_file is not None:
            options["wrap"] = lambda command: command
            process = self.start(command=[PROGRAM, *map(str, arguments)], stdin=stdin_file,
                                 preexec_fn=options.get("preexec_fn"))
            out, err = process.communicate(timeout=program.RUN_TIMEOUT)
            self.assertEqual(process.returncode, options.get("code", 0), err)
            return program.Result(process.returncode, out.decode(), err.decode(), 0)
        return super().impipe(*arguments, **options)


def program_memory():
    """A limit that a text without end would meet: 2 GB."""
    if not program.SANITIZED:
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


class Sizes(ProgramTest):
    """Images whose size the text chooses."""

    def setUp(self):
        super().setUp()
        self.picture("a.png", ramp(200, 300))

    def test_a_plan_computes_no_source(self):
        out = self.impipe("plan", "phantom 65536", "--max-pixels", "5G",
                          preexec_fn=program_memory).out
        self.assertIn("input: single x1, white 1", out)
        for source in ("noise", "gradient", "checkerboard", "constant 0.1,0.2,0.3"):
            self.assertIn("input: uint8", self.impipe(
                "plan", f"{source} size=65536", "--max-pixels", "5G",
                preexec_fn=program_memory).out)
        self.assertIn("input: single x1, no white", self.impipe("plan", "fspecial gaussian 9").out)

    def test_a_source_that_is_too_large_is_an_error_before_it_is_made(self):
        says = ("impipe: pipeline:1:1: noise: the image would have 65536x65536 pixels; --max-pixels "
                "allows 1073741824\n  noise 65536 | mean2\n  ^^^^^^^^^^^\n")
        for command in ("plan", "run", "bench"):
            with self.subTest(command=command):
                result = self.impipe(command, "noise 65536 | mean2", code=2,
                                     preexec_fn=program_memory)
                self.assertEqual(result.err, says)

    def test_results_that_are_too_large_are_errors_before_any_memory_is_taken(self):
        for stage, size in [("imresize 10000", "3000000x2000000"),
                            ("imresize size=1000000,1000000", "1000000x1000000"),
                            ("impad 1000000", "2000300x2000200"),
                            ("imwarp rotate=3 size=1000000", "1000000x1000000"),
                            ("iradon size=1000000", "1000000x1000000"),
                            ("imresize 100 | imresize 100", "3000000x2000000")]:
            text = f"imcomplement | {stage}"
            begin = text.rindex("|") + 3
            says = (f"pipeline:1:{begin}: {stage.split(' | ')[-1].split()[0]}: the image would have "
                    f"{size} pixels; --max-pixels allows 1073741824\n  {text}\n"
                    f"  {' ' * (begin - 1)}{'^' * (len(text) - begin + 1)}\n")
            for arguments in (["run", text, "a.png", "-o", "out"], ["plan", text, "a.png"],
                              ["bench", text, "--input", "a.png"]):
                with self.subTest(stage=stage, command=arguments[0]):
                    result = self.impipe(*arguments, code=2, preexec_fn=program_memory)
                    self.assertEqual(result.err, "impipe: " + says)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_a_picture_that_is_too_large_itself_is_refused_as_such(self):
        says = "too many pixels: 300x200 is more than the limit of 5000 (--max-pixels)\n"
        result = self.impipe("plan", "imcomplement", "a.png", "--max-pixels", 5000, code=1)
        self.assertEqual(result.err, "impipe: a.png: " + says)
        result = self.impipe("imcomplement", "a.png", "-o", "out", "--max-pixels", 5000, code=1)
        self.assertEqual(result.err, "impipe: a.png: decode: " + says)

    def test_a_long_list_of_angles_counts(self):
        result = self.impipe("radon 0:0.002:179", "a.png", "-o", "b.npy", "--max-pixels", "1M",
                             code=2)
        self.assertEqual(result.lines(), [])
        self.assertIn("radon: the image would have 89501x365 pixels; --max-pixels allows 1000000\n",
                      result.err)

    def test_a_side_has_a_limit_of_its_own(self):
        self.picture("row.png", ramp(1, 4000))
        result = self.impipe("imresize 1,10000", "row.png", "-o", "b.png", code=2)
        self.assertIn("imresize: the image would have 40000000x1 pixels; a side has at most 16777215",
                      result.err)

    def test_one_picture_that_becomes_too_large_fails_alone(self):
        self.picture("small.png", ramp(10, 10))
        result = self.impipe("imresize 10", "a.png", "small.png", "-o", "out", "--max-pixels", "100K",
                             code=1)
        self.assertIn("impipe: a.png: plan: pipeline:1:1: imresize: the image would have 3000x2000 "
                      "pixels; --max-pixels allows 100000\n", result.err)
        self.assertEqual(self.tree("out"), ["small.png"])


class Sandbox(ProgramTest):
    """A text that is not trusted."""

    def setUp(self):
        super().setUp()
        self.picture("in/a.png")
        self.write("kernels/k.txt", "1 2 1\n")
        self.write("secret.txt", "1 2 1\n")

    def refused(self, text, *flags, says, width=None, output=("-o", "out")):
        result = self.impipe(text, "in", *output, *flags, code=2)
        self.assertEqual(result.err.splitlines()[0], "impipe: " + says)
        self.assertIn("^", result.err.splitlines()[2])
        self.assertFalse(os.path.exists(self.path("out", "a.png")))

    def test_files_are_read_only_below_the_named_folders(self):
        os.symlink("../secret.txt", self.path("kernels/link.txt"))
        self.impipe("imfilter @secret.txt", "in", "-o", "out0")
        self.impipe("imfilter @kernels/k.txt", "in", "-o", "out0", "--sandbox=kernels")
        self.impipe("imfilter @kernels/k.txt", "in", "-o", "out0", "--sandbox=in,kernels")
        for path, flag in [("secret.txt", "--sandbox"), ("kernels/k.txt", "--sandbox"),
                           ("secret.txt", "--sandbox=kernels"),
                           ("kernels/../secret.txt", "--sandbox=kernels"),
                           ("kernels/link.txt", "--sandbox=kernels"),
                           (self.path("secret.txt"), "--sandbox=kernels"),
                           ("kernelsx/k.txt", "--sandbox=kernels"),
                           ("/etc/passwd", "--sandbox=kernels"), ("none", "--sandbox")]:
            with self.subTest(path=path, flag=flag):
                self.refused(f"imfilter @{path}", flag,
                             says=f"pipeline:1:10: imfilter: @{path} may not be read in a sandbox: "
                                  "it lies in no folder that --sandbox=DIR names")
        for command in ("plan", "bench"):
            self.impipe(command, "imfilter @secret.txt", "--sandbox", code=2)
        self.impipe("plan", "imfilter @secret.txt", env={"IMPIPE_SANDBOX": "on"}, code=2)

    def test_results_are_saved_only_below_the_output_folder(self):
        self.impipe("save out/steps/{stem}.png | imcomplement", "in", "-o", "out", "--sandbox")
        self.assertEqual(self.tree("out"), ["a.png", "steps/a.png"])
        os.remove(self.path("out/a.png"))
        os.makedirs(self.path("elsewhere"))
        os.symlink("../elsewhere", self.path("out/link"))
        os.symlink("../secret.txt", self.path("out/file.png"))
        outside = "may not be written in a sandbox: it does not lie below 'out', the folder of -o"
        for template, path, reason in [
                ("x_{stem}.png", "x_a.png", outside), ("/tmp/x_{stem}.png", "/tmp/x_a.png", outside),
                ("out/../x_{stem}.png", "out/../x_a.png", outside),
                ("out/n/../../x_{stem}.png", "out/n/../../x_a.png", outside),
                ("{dir}/{stem}_1.png", "in/a_1.png", outside),
                ("outside/{stem}.png", "outside/a.png", outside),
                ("out/link/{stem}.png", "out/link/a.png",
                 f"may not be written in a sandbox: '{self.path('out/link')}' is a symbolic link"),
                ("out/file.png", "out/file.png",
                 f"may not be written in a sandbox: '{self.path('out/file.png')}' is a symbolic link")]:
            with self.subTest(template=template):
                self.refused(f"save {template} | imcomplement", "--sandbox",
                             says=f"pipeline:1:1: save: '{path}' {reason}")
        self.assertEqual(self.tree("elsewhere"), [])
        for output in (["-o", "{dir}/{stem}_2.png"], ["-o", "-"], ["-n"]):
            with self.subTest(output=output):
                self.refused("save out/{stem}.png | imcomplement", "--sandbox", output=output,
                             says="pipeline:1:1: save: a sandbox allows it only where -o names the "
                                  "one folder that it writes to")
        self.impipe("save ../x/out/{stem}_s.png | imcomplement", "../in", "-o", "../x/out",
                    "--sandbox", cwd_below="x")

    def test_a_folder_of_the_sandbox_must_be_there(self):
        result = self.impipe("imcomplement", "in", "-o", "out", "--sandbox=nowhere", code=2)
        self.assertEqual(result.err, "impipe: --sandbox: 'nowhere' is no folder\n")

    def test_save_replaces_no_input_in_a_sandbox_or_out_of_it(self):
        before = self.pixels("in/a.png")
        for template in ("in/{stem}.png", "./in/../in/{name}", "in/a.png"):
            result = self.impipe(f"imcomplement | save {template}", "in", "-o", "out", code=2)
            path = template.replace("{stem}", "a").replace("{name}", "a.png")
            also = "" if os.path.normpath(path) == "in/a.png" else f", which is '{path}' too"
            self.assertEqual(result.err, "impipe: what `save` writes of 'in/a.png' would replace "
                             f"the input 'in/a.png'{also}; choose another name for `save`\n")
        self.assertTrue((self.pixels("in/a.png") == before).all())

    def impipe(self, *arguments, cwd_below=None, **options):
        if cwd_below is not None:
            os.makedirs(self.path(cwd_below), exist_ok=True)
            whole = self.folder
            self.folder = self.path(cwd_below)
            try:
                return super().impipe(*arguments, **options)
            finally:
                self.folder = whole
        return super().impipe(*arguments, **options)


class Names(ProgramTest):
    """Names of files with characters that a terminal obeys."""
    EVIL = b"e\x1b[31m\xc2\x9b2J\xe2\x80\xaeg\xff\x07.png"
    SHOWN = "e\\x1b[31m\\u009b2J\\u202eg\\xff\\x07.png"

    def test_messages_show_them_escaped(self):
        name = os.path.join(self.folder.encode(), self.EVIL)
        with open(name, "wb") as out:
            out.write(b"no picture")
        for arguments in (["mean2", self.EVIL], ["info", self.EVIL], ["diff", self.EVIL, "x"],
                          ["--progress", "lines", "mean2", self.EVIL],
                          ["plan", "mean2", self.EVIL]):
            with self.subTest(arguments=arguments):
                err = self.raw(arguments, code=2 if arguments[0] == "diff" else 1)[1]
                self.assertIn(self.SHOWN.encode(), err)
                self.assertNotIn(b"\x1b", err)

    def test_no_name_forges_a_message(self):
        err = self.raw(["mean2", b"a\nimpipe: b.png: all is well"], code=1)[1]
        self.assertEqual(err, b"impipe: a\\nimpipe: b.png: all is well: decode: no such file\n")
        err = self.raw(["imcomplement", b"a", b"--with", b"b=x\nimpipe: done"], code=2)[1]
        self.assertNotIn(b"\nimpipe: done", err)

    def test_rows_keep_their_columns_and_their_names(self):
        self.picture("a.png")
        for name, cell in [(b"a\tb.png", b"a\\tb.png"), (b"a\nb.png", b"a\\nb.png"),
                           (b"a\\tb.png", b"a\\\\tb.png"), (self.EVIL, self.SHOWN.encode()),
                           ("größe é.png".encode(), "größe é.png".encode())]:
            target = os.path.join(self.folder.encode(), name)
            os.rename(self.path("a.png"), target)
            out = self.raw(["mean2", "--no-header", "--files-from", "-", "-0"], stdin=name + b"\0")[0]
            self.assertEqual(len(out.splitlines()), 1)
            self.assertEqual(out.split(b"\t")[0], cell)
            json_line = self.raw(["info", "--json", name])[0]
            import json
            self.assertEqual(json.loads(json_line)["width"], 60)
            os.rename(target, self.path("a.png"))

    def test_carets_stand_right_under_a_text_that_turns(self):
        result = self.impipe("plan", "imcomplement 'a\u202eb\u009bc' 1", code=2)
        self.assertNotIn("\u202e", result.err)
        self.assertNotIn("\u009b", result.err)
        line, carets = result.err.splitlines()[1:3]
        self.assertEqual(line[carets.index("^")], "'")
        plan = self.impipe("plan", "save 'a\u202eb\u009bc.png'").out
        self.assertIn("a\\u202eb\\u009bc.png", plan)

    def raw(self, arguments, code=0, stdin=b""):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, input=stdin,
                              capture_output=True, env=self.environment(),
                              timeout=program.RUN_TIMEOUT)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr


class Modules(ProgramTest):
    """Code is never taken from a place that depends on the current folder."""

    def test_a_relative_folder_of_codecs_is_refused(self):
        self.picture("a.jpg")
        result = self.impipe("mean2", "a.jpg", env={"IMPIPE_CODEC": "lib"}, code=1)
        self.assertEqual(result.err,
                         "impipe: a.jpg: decode: IMPIPE_CODEC: 'lib' is not an absolute path: code "
                         "is not loaded from wherever impipe is run\n")

    def without_proc(self):
        """A command in front of another one, which then sees no /proc."""
        hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
        if os.geteuid() != 0 or subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
            self.skipTest("needs the right to hide /proc")
        return hidden

    def test_without_proc_fits_is_read(self):
        values = np.arange(20 * 30, dtype=np.int16).reshape(20, 30)
        self.write("a.fits", fits_writer.hdu(values))
        done = subprocess.run([*self.without_proc(), PROGRAM, "mean2", "--no-header", "a.fits"],
                              cwd=self.folder, capture_output=True, env=self.environment())
        self.assertEqual(done.stdout, b"a.fits\t299.5\n")
        if not program.SANITIZED:
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_without_proc_the_program_finds_its_own_modules(self):
        self.picture("a.jpg")
        os.makedirs(self.path("x/here"))
        # What was taken before: ../lib/impipe of the current folder. It is no library: to open it
        # would fail.
        self.write("x/lib/impipe/impipe_codec.so", "no library")
        self.write("x/here/impipe_codec.so", "no library")
        hidden = self.without_proc()
        command = [*hidden, PROGRAM, "mean2", "--no-header", self.path("a.jpg")]
        for path in (PROGRAM, os.path.relpath(PROGRAM, self.path("x/here"))):
            command[len(hidden)] = path
            done = subprocess.run(command, cwd=self.path("x/here"), capture_output=True,
                                  env=self.environment())
            self.assertRegex(done.stdout, rb"^\S+a\.jpg\t\d")
            # A sanitizer asks /proc for its options, for leaks and for names.
            if not program.SANITIZED:
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_kernel_cache_is_made_for_its_user_alone(self):
        if "opencl" not in self.impipe("devices").out:
            self.skipTest("no OpenCL device")
        cache = self.path("deep/cache")
        self.impipe("cache", "warm", "imcomplement", "--backend", "opencl", "--class", "uint8",
                    "--channels", 1, env={"IMPIPE_CACHE_DIR": cache}, code=None)
        if os.path.isdir(cache):
            self.assertEqual(stat.S_IMODE(os.stat(cache).st_mode), 0o700)


if __name__ == "__main__":
    unittest.main()
