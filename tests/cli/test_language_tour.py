"""What docs/language.md shows is so: its specs are sound, its commands run, its messages are the programs' own."""

import os
import re
import shutil
import unittest

from commands import BIN, DTNNC, ROOT, CommandTest, run

with open(os.path.join(ROOT, "docs", "language.md"), encoding="utf-8") as file:
    TOUR = file.read()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TOUR, re.S)


def specs():
    """name -> text of every fenced YAML block; the job has no name."""
    found = {}
    for block in blocks("yaml"):
        name = re.search(r"^name: (\w+)$", block, re.M)
        found[name.group(1) if name else "job"] = block
    return found


def messages():
    """name of the spec -> what is said about it."""
    return {text.split(".yaml:")[0]: text for text in blocks("text")}


class LanguageTour(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {"DTNN_SPEC_PATH": os.path.join(ROOT, "specs"),
                            "PATH": BIN + os.pathsep + os.environ.get("PATH", "")}

    def check(self, name, text):
        spec = self.write(f"{name}.yaml", text)
        return run(DTNNC, "check", "-q", os.path.basename(spec), cwd=self.folder, env=self.environment)

    def test_examples(self):
        found = specs()
        self.assertGreaterEqual(len(found), 9)
        for name, text in found.items():
            with self.subTest(name):
                self.assertTrue(text.startswith("kind: "), text)
                said = messages().get(name, "") if name != "first" else ""
                checked = self.check(name, text)
                self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (3 if said else 0, said))

    def test_misspelt_field(self):
        text = specs()["first"]
        self.assertIn("filters: 8", text)
        checked = self.check("first", text.replace("filters: 8", "filtres: 8"))
        self.assertEqual((checked.returncode, checked.stderr), (3, messages()["first"]))

    def test_commands(self):
        for name, text in specs().items():
            self.write(f"{name}.yaml", text)
        commands = [line for block in blocks("sh") for line in block.splitlines() if line.strip()]
        self.assertGreaterEqual(len(commands), 9)
        for command in commands:
            with self.subTest(command):
                if command.startswith("dtnnc graph") and not shutil.which("dot"):
                    continue  # Graphviz draws it
                done = run("sh", "-c", command, cwd=self.folder, env=self.environment)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_named_pages_and_words_exist(self):
        for target in re.findall(r"\]\(([^)#]+)\)", TOUR):
            self.assertTrue(os.path.exists(os.path.join(ROOT, "docs", target)), target)
        for word in re.findall(r"`dtnnc explain ([a-z_.-]+)`", TOUR):
            self.expect(self.dtnnc("explain", word), 0)


if __name__ == "__main__":
    unittest.main()
