#!/usr/bin/env python3
"""libdtnn from R: the example, whose functions R itself compiles, and what becomes of errors."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, ROOT, SANITIZED, run

if not shutil.which("R"):
    print("skipped: R is not installed (Debian: r-base-dev)")
    sys.exit(77)
if SANITIZED:
    print("skipped: a sanitizer's library is not loaded by R")
    sys.exit(77)

ERRORS = """
dyn.load(commandArgs(trailingOnly = TRUE)[1])
tryCatch(.Call("compile", "digits_simplecnn", "training.epoch=2"), error = function(e) cat(conditionMessage(e)))
network <- .Call("network_of", .Call("compile", "digits_simplecnn", "dataset.train_samples=200"))
invisible(.Call("train", network, function(epoch, loss) { cat("epoch", epoch, "\\n"); stop("no more") }))
for (i in 1:20) { network <- .Call("network_of", .Call("compile", "digits_simplecnn", character())); gc() }
cat("done\\n")
"""


class FromR(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        shutil.copy(os.path.join(ROOT, "examples", "dtnn_r.c"), cls.folder.name)
        flags = {"PKG_CPPFLAGS": f"-I{ROOT}/include", "PKG_LIBS": f"-L{BIN} -ldtnn -Wl,-rpath,{BIN}"}
        run("R", "CMD", "SHLIB", "-o", "dtnn_r.so", "dtnn_r.c", cwd=cls.folder.name, env=flags, check=True)

    def program(self, path):
        return run("Rscript", "--vanilla", path, os.path.join(self.folder.name, "dtnn_r.so"), check=True).stdout

    def test_the_example_runs(self):
        self.assertIn("a stroke is a 1 ", self.program(os.path.join(ROOT, "examples", "digits.R")))

    def test_errors_are_those_of_r(self):
        path = os.path.join(self.folder.name, "errors.R")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ERRORS)
        said = self.program(path)
        self.assertIn("did you mean `epochs`?", said)
        self.assertIn("epoch 1 \n", said)
        self.assertNotIn("epoch 2", said)  # the error stopped the training
        self.assertTrue(said.endswith("done\n"), said)


if __name__ == "__main__":
    unittest.main()
