"""MATLAB scripts as pipelines: what Octave made of them (tests/data/matlab/make.m) is what comes out;
impipe.m calls the program from Octave."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

from program import PROGRAM, ROOT

SCRIPTS = os.path.join(ROOT, "tests", "data", "matlab")
INPUTS = os.path.join(ROOT, "tests", "data", "oracle-2", "inputs")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True)


def settings_of(path):
    """`# key=value` at the beginning of a pipeline file."""
    out = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                key, _, value = line[1:].strip().partition("=")
                out[key] = value
    return out


def rows(text):
    """The report on stdout as a dictionary of columns."""
    lines = [line.split("\t") for line in text.splitlines()]
    return {name: [float(line[i]) for line in lines[1:]]
            for i, name in enumerate(lines[0]) if i > 0}


class Scripts(unittest.TestCase):
    def check(self, name):
        pipeline = os.path.join(SCRIPTS, f"script_{name}.txt")
        settings = settings_of(pipeline)
        source = os.path.join(INPUTS, settings["input"] + ".npy")
        expected = np.load(os.path.join(SCRIPTS, f"script_{name}.npy"))
        if "columns" in settings:
            table = rows(run("-f", pipeline, source).stdout)
            got = np.array([table[column] for column in settings["columns"].split(",")]).T
            np.testing.assert_allclose(got, expected, rtol=1e-12)
            self.assertGreater(len(got), 5)
            return
        if "numbers" in settings:
            table = rows(run("-f", pipeline, source).stdout)
            got = np.array([[column[0] for column in table.values()]])
            np.testing.assert_allclose(got, expected, rtol=1e-6)
            return
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "result.npy")
            run("-f", pipeline, source, "-o", result)
            got = np.load(result)
        self.assertEqual(got.shape, expected.shape)
        self.assertEqual(got.dtype, expected.dtype)
        apart = np.abs(got.astype(float) - expected.astype(float))
        self.assertLessEqual(apart.max(), 1)
        # Roundings to uint8 by way of float32 sums.
        self.assertLessEqual(np.count_nonzero(apart), 0.01 * apart.size)
        if got.dtype == bool:
            self.assertEqual(np.count_nonzero(apart), 0)

    def test_cells_are_counted_into_a_table(self):
        self.check("cells")

    def test_a_document_is_cleaned_up(self):
        self.check("document")

    def test_a_background_is_taken_away(self):
        self.check("background")

    def test_vessels_are_thinned(self):
        self.check("vessels")

    def test_a_known_shift_is_taken_back(self):
        self.check("registration")

    def test_before_and_after_are_compared(self):
        self.check("comparison")


class Hints(unittest.TestCase):
    def test_the_expressions_that_are_named_run(self):
        with open(os.path.join(ROOT, "docs", "matlab.md"), encoding="utf-8") as lines:
            table = [line.replace("\\|", "|") for line in lines if line.startswith("| `")]
        mask = os.path.join(INPUTS, "objects60x70_bw.npy")
        tried = 0
        for line in table:
            for pipeline in re.findall(r"`(map '[^`]*)`", line):
                if "as a" in line:
                    continue
                other = ["--with", f"m={mask}"] if ":m" in line else []
                run(pipeline, mask, *other, "--hash")
                tried += 1
        self.assertGreater(tried, 15)


class FromOctave(unittest.TestCase):
    @unittest.skipUnless(shutil.which("octave-cli"), "no Octave")
    def test_arrays_and_folders_go_through(self):
        with tempfile.TemporaryDirectory() as folder:
            text = f"""
                addpath ("{ROOT}/scripts");
                A = uint8 (reshape (mod ((0:5*7*3-1) * 37, 256), 5, 7, 3));
                B = impipe ("imcomplement", A);
                assert (isequal (B, 255 - A));
                assert (isequal (impipe ("fliplr", A(:,:,1) > 100), fliplr (A(:,:,1) > 100)));
                assert (isequal (impipe ("map 'x'", single (A(:,:,2)) / 7), single (A(:,:,2)) / 7));
                assert (isequal (impipe ("transpose", uint16 (A(:,:,1)) * 200), (uint16 (A(:,:,1)) * 200)'));
                assert (isequal (impipe ("map 'x'", int16 ([-300 5; 7 9])), single ([-300 5; 7 9])));
                assert (abs (impipe ("mean2", A) - mean (double (A(:)))) < 1e-12);
                assert (isequal (impipe ("imabsdiff :b", A, "b", B), max (A - B, B - A)));
                bw = logical ([1 1 0 0; 0 0 0 1]);
                T = impipe ("regionprops", bw);
                assert (T(:,2)', [2 1]);
                failed = false;
                try
                  impipe ("imfilterr", A);
                catch problem
                  failed = ! isempty (strfind (problem.message, "did you mean"));
                end
                assert (failed);
                mkdir ("{folder}/in");
                imwrite_ = fopen ("{folder}/in/a.pgm", "w");
                fprintf (imwrite_, "P5\\n2 1\\n255\\n%c%c", 7, 9);
                fclose (imwrite_);
                impipe ("imadd 1", "{folder}/in", "{folder}/out");
                assert (exist ("{folder}/out/a.pgm", "file") == 2);
                printf ("all there\\n");
            """
            script = os.path.join(folder, "t.m")
            with open(script, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run(["octave-cli", "--no-init-file", script], capture_output=True,
                                  text=True, env={**os.environ, "IMPIPE": PROGRAM}, timeout=300)
            self.assertIn("all there", done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
