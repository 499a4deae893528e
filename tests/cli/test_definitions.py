"""Random cases of the operators, expected results by scripts/definitions.py, through the program.

IMPIPE_CASES is how many an operator, IMPIPE_SEED which ones, IMPIPE_CASES_BACKEND where they run.
"""
import os
import subprocess
import sys
import tempfile
import unittest

from program import PROGRAM, ROOT, SANITIZED

COUNT = os.environ.get("IMPIPE_CASES", "2" if SANITIZED else "5")
SEED = os.environ.get("IMPIPE_SEED", "1")
BACKEND = os.environ.get("IMPIPE_CASES_BACKEND", "cpu")


def script(name, *arguments):
    return subprocess.run([sys.executable, os.path.join(ROOT, "scripts", name), *arguments],
                          capture_output=True, text=True)


class Definitions(unittest.TestCase):
    def test_random_cases(self):
        with tempfile.TemporaryDirectory() as folder:
            made = script("make_cases.py", folder, "--seed", SEED, "--count", COUNT)
            self.assertEqual(made.returncode, 0, made.stderr)
            done = script("run_cases.py", os.path.join(folder, "cases.tsv"), "--backend", BACKEND,
                          "--impipe", PROGRAM)
            failures = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
            self.assertEqual(failures, [], f"seed {SEED}: {done.stdout[-200:]}{done.stderr}")
            self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
