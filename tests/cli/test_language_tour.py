"""The examples of docs/language.md are sound, as they stand there."""

import os
import re
import unittest

from commands import DTNNC, ROOT, CommandTest, run


def specs():
    """(name, text) of every fenced YAML block of the tour."""
    with open(os.path.join(ROOT, "docs", "language.md"), encoding="utf-8") as tour:
        for block in re.findall(r"```yaml\n(.*?)```", tour.read(), re.S):
            name = re.search(r"^name: (\w+)$", block, re.M)
            yield (name.group(1) if name else "job"), block


class LanguageTour(CommandTest):
    def test_examples(self):
        found = list(specs())
        self.assertGreaterEqual(len(found), 7)
        for name, text in found:
            with self.subTest(name):
                self.assertTrue(text.startswith("kind: "), text)
                spec = self.write(f"{name}.yaml", text)
                checked = run(DTNNC, "check", "--spec-path", os.path.join(ROOT, "specs"), spec)
                self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
