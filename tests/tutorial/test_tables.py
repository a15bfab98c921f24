#!/usr/bin/env python3
"""The tables of docs/coming_from say "theirs | here": what stands in the second column as a word of the language is one,
and `dtnnc explain` explains it."""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import DTNNC, ROOT, run

# Values, programs of a plan, arrays of a file, and what ships by its name: no words of the language.
OTHERS = {"true", "false", "evaluate", "predict", "prelu", "resnet50", "torchvision", "x_train", "y_train", "x_test", "y_test", "n"}


def words(markdown):
    """The names in the second column: spans of one word, and the keys of fields."""
    found = set()
    for line in markdown.splitlines():
        cells = re.split(r"(?<!\\)\|", line.strip())[1:-1] if line.startswith("|") else []
        for span in re.findall(r"`([^`]+)`", cells[1]) if len(cells) > 1 else []:
            if re.match(r"dtnnc |dtnn-run |--|srun", span):
                continue
            span = re.sub(r'"[^"]*"', '""', span)
            found |= set(re.findall(r"(?<![\w./$\"*-])([a-z][a-z_0-9]*)(?=: |$)", span))
    return found - OTHERS


class Tables(unittest.TestCase):
    def test_words_of_tables_are_in_the_language(self):
        names = set()
        for path in glob.glob("docs/coming_from/*.md", root_dir=ROOT):
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                names |= words(file.read())
        self.assertGreater(len(names), 120)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = dict(zip(names, pool.map(lambda name: run(DTNNC, "explain", name, stdout=subprocess.DEVNULL), names)))
        self.assertEqual(sorted(name for name, process in done.items() if process.returncode != 0), [])

    def test_what_is_found(self):
        self.assertEqual(words("| a | b |\n|---|---|\n| `X` | `conv2d: {filters: f, kernel: [3, 5]}`, `relu` | `no` |\n"
                               "| y | `dtnnc graph`, `groups: [{parameters: \"*.bias\"}]`, `history.csv` |\n"),
                         {"conv2d", "filters", "kernel", "relu", "groups", "parameters"})


if __name__ == "__main__":
    unittest.main()
