"""Every pixel of a result was written: pictures of every format give the same bytes whatever was in
memory before."""
import os
import sys
import unittest

from program import ROOT, UNDER_OCLGRIND, ProgramTest

sys.path.insert(0, os.path.join(ROOT, "scripts", "campaign"))
from mutate_pictures import FORMATS, all_pictures, ending  # noqa: E402

FILLS = (0x5a, 0xa5)


@unittest.skipIf(UNDER_OCLGRIND, "it looks at decoders")
class Unwritten(ProgramTest):
    def results(self, kind, fill):
        """Content by name, read and written in memory that begins as bytes `fill`."""
        out = f"out{fill}"
        self.impipe("rot90 0", "in", "-o", out + "/{stem}" + ending(f"a.{kind}"), "--device", "cpu", "-j", 1,
                    env={"IMPIPE_TEST_FILL": str(fill), "MALLOC_PERTURB_": str(fill)}, code=None)
        found = {}
        for name in self.tree(out):
            with open(self.path(out, name), "rb") as file:
                found[name] = file.read()
        return found

    def test_pictures_of_every_format(self):
        pictures = all_pictures(None)
        self.assertGreater(len(pictures), len(FORMATS) - 6)  # some need a tool
        for kind, files in pictures.items():
            with self.subTest(kind):
                for number, data in enumerate(files):
                    self.write(f"in/{number:03}.{kind}", data)
                one, other = (self.results(kind, fill) for fill in FILLS)
                self.assertGreater(len(one), len(files) // 2)
                self.assertEqual([name for name in one if one[name] != other.get(name)], [])
                for name in self.tree("in"):
                    os.remove(self.path("in", name))
                for fill in FILLS:
                    for name in self.tree(f"out{fill}"):
                        os.remove(self.path(f"out{fill}", name))


if __name__ == "__main__":
    unittest.main()
