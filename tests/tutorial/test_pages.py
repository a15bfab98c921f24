#!/usr/bin/env python3
"""What the documents show is so: runs pages as page.py says, each in a folder of its own.

    test_pages.py                       all pages
    test_pages.py recipes               those of docs/recipes; likewise tutorial, others
    test_pages.py docs/recipes/csv.md   these
    test_pages.py --keep DIR PAGE       in DIR, which stays"""

import glob
import os
import re
import sys
import tempfile
import time
import unittest

from page import ROOT, SANITIZED, Page, PageError, PageTooSlow, pattern, steps

# Pages whose examples another test runs.
ELSEWHERE = {"docs/language.md": "tests/cli/test_language_tour.py"}


def pages(group):
    """Paths from the root of the pages of a group that show something to do."""
    recipes = set(glob.glob("docs/recipes/*.md", root_dir=ROOT))
    tutorial = {"docs/tutorial.md"}
    documents = {"README.md", *glob.glob("docs/*.md", root_dir=ROOT), *glob.glob("docs/coming_from/*.md", root_dir=ROOT)}
    groups = {"recipes": recipes, "tutorial": tutorial, "others": documents - tutorial - set(ELSEWHERE)}
    chosen = groups[group] if group in groups else set().union(*groups.values())
    return sorted(path for path in chosen if Page(path).steps)


class Forms(unittest.TestCase):
    """The runner itself: what it reads in a page, and that it fails where a page is wrong."""

    def of(self, markdown):
        with tempfile.TemporaryDirectory() as folder:
            page = Page.__new__(Page)
            page.path, page.steps, page.skipped = "page.md", steps(markdown), []
            os.mkdir(os.path.join(folder, "page"))
            page.run(os.path.join(folder, "page"))

    def test_outputs(self):
        shown = "a 12 b\n...\nlast  0.5 ... end\n"
        for printed, varies, same in (("a 12 b\nlast 0.5 x end\n", False, True),
                                      ("a 13 b\nmore\nlast 7e-05 x end\n", True, True),
                                      ("a 13 b\nlast 0.5 x end\n", False, False),
                                      ("a 12 b\nlast 0.5 x end\nmore\n", False, False),
                                      ("a 2 s b\nlast 0.5 x end\n", True, False),
                                      ("a x b\nlast 0.5 x end\n", True, False)):
            self.assertEqual(bool(re.fullmatch(pattern(shown, varies), printed)), same, printed)

    def test_times(self):
        for printed in ("0.38 s", "12 ms", "1 min 20 s", "2 h 3 min"):
            self.assertTrue(re.fullmatch(pattern("3/3  0.38 s  end\n", True), f"3/3  {printed}  end\n"), printed)
            self.assertFalse(re.fullmatch(pattern("3/3  0.38  end\n", True), f"3/3  {printed}  end\n"), printed)

    def test_pages_that_are_right(self):
        self.of("```csv file=a/t.csv\n1\n```\n```sh\ncat a/t.csv\n```\n```text output\n1\n```\n"
                "<!-- check: exists('a/t.csv') and output == '1\\n' -->\n")
        self.of("```sh exit=3\nexit 3\n```\n```sh needs=no-such-program\nfalse\n```\n"
                "<!-- run needs=no-such-program: false -->\n")
        self.of("```yaml part=training\nepochs: 3\n```\n1. In a list:\n\n   ```sh\n   true\n   ```\n")

    def test_pages_that_are_wrong(self):
        for markdown, said in (("```sh\ntrue\nfalse\ntrue\n```\n", "exit code 1"),
                               ("```sh\necho 1\n```\n```text output\n2\n```\n", "another"),
                               ("```sh exit=2\ntrue\n```\n", "exit code 0, not 2"),
                               ("```yaml\nepochs: 3\n```\n", "say what the block is"),
                               ("```yaml part=training\nepoch: 3\n```\n", "epochs"),
                               ("```yaml\nkind: training\nepoch: 3\n```\n", "epochs"),
                               ("```sh\necho 1\n```\n<!-- check: output == '2' -->\n", "does not hold"),
                               ("```sh runs=no\ntrue\n```\n", "says nothing"),
                               ("<!-- run: false -->\n", "exit code 1"),
                               ("<!-- check: True\n", "another form")):
            with self.subTest(markdown), self.assertRaisesRegex(PageError, said):
                self.of(markdown)


def run_pages(paths, keep=None, seconds=None):
    """Runs pages, and prints what is wrong with each; begins none after so many seconds."""
    failed, first = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        for i, path in enumerate(paths):
            page, begun = Page(path), time.monotonic()
            if seconds and begun > first + seconds:
                print(f"skipped: under sanitizers, after {seconds} seconds of others: {', '.join(paths[i:])}", flush=True)
                break
            folder = os.path.join(keep or temporary, path.replace("/", "_").removesuffix(".md"))
            os.makedirs(folder)
            try:
                page.run(folder)
                print(f"{path}: {len(page.steps)} steps, {time.monotonic() - begun:.1f} s", flush=True)
            except PageTooSlow as error:
                print(f"skipped: {error}", flush=True)
            except PageError as error:
                failed += 1
                print(f"FAILED {error}", flush=True)
            for reason in page.skipped:
                print(f"skipped: {reason}", flush=True)
    return failed


if __name__ == "__main__":
    words = sys.argv[1:]
    kept = words[1] if words[:1] == ["--keep"] else None
    words = words[2:] if kept else words
    chosen = words if words and words[0].endswith(".md") else pages(words[0] if words else "all")
    if not chosen:
        sys.exit("test_pages.py: no such pages")
    forms = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Forms))
    # What pages train takes hours under sanitizers; the commands that they show have tests of their own.
    seconds = 600 if SANITIZED and chosen != words else None
    sys.exit(1 if run_pages(chosen, kept, seconds) or not forms.wasSuccessful() else 0)
