"""docs/reference is what `dtnnc reference` writes, its examples are sound, and `dtnnc explain` knows every word.

DTNN_REWRITE_GOLDENS=1 python3 tests/cli/test_reference_pages.py, or build/release/bin/dtnnc reference -o docs/reference,
writes the pages anew.
"""

import json
import os
import re
import shutil
import unittest

from commands import DTNNC, ROOT, CommandTest, run

PAGES = os.path.join(ROOT, "docs", "reference")
REMEDY = "`dtnnc reference -o docs/reference` writes the pages anew; remove what it no longer writes"


def texts(folder):
    """Path below the folder -> text."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


class ReferencePages(CommandTest):
    def test_pages_are_current(self):
        self.expect(self.dtnnc("reference", "-o", "written"), 0)
        written = texts(self.path("written"))
        if os.environ.get("DTNN_REWRITE_GOLDENS"):
            shutil.rmtree(PAGES, ignore_errors=True)
            shutil.copytree(self.path("written"), PAGES)
        committed = texts(PAGES)
        self.assertEqual(sorted(written), sorted(committed), REMEDY)
        for path, text in written.items():
            self.assertEqual(text, committed[path], f"{path} is not current: {REMEDY}")

    def test_generated_pages_say_so(self):
        for path, text in texts(PAGES).items():
            self.assertRegex(text.split("\n")[0], "dtnnc reference", path)

    def test_examples_are_sound(self):
        examples = 0
        for path, text in sorted(texts(PAGES).items()):
            for i, block in enumerate(re.findall(r"```yaml\n(.*?)```", text, re.S)):
                if not block.startswith("kind: "):
                    continue  # a line of an example that stands whole below it, or a block's text
                examples += 1
                spec = self.write("example.yaml", block)
                # An example shows an operator, not a network: what stands before it has no activation.
                checked = run(DTNNC, "check", "--quiet", "--allow", "no-activation", "--allow", "bias-before-norm",
                              "--spec-path", os.path.join(ROOT, "specs"), spec)
                self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""),
                                 f"{path}, example {i + 1}")
        self.assertGreater(examples, 60)

    def test_lines_of_specs_in_remarks_are_sound(self):
        """What words of other tools are answered with is copied: every line of a spec in it is checked where it stands."""
        wide = "input: {shape: [3, 32, 32]}\n"
        layers = ("kind: model\n" + wide + "operators: [prelu, mish]\nlayers:\n"
                  "  - conv2d: {filters: 4, kernel: 3, padding: same}\n  - conv2d: {filters: 4, kernel: 3, padding: same}\n"
                  "  %s\n  - flatten\n  - dense: {units: 3}\n")
        steps = "kind: model\ninput: {shape: [9, 4], axes: [step, feature]}\nlayers:\n  %s\n  - dense: {units: 3}\n"
        homes = {"kind: job\nmodel: simplecnn\ndataset: digits\ntraining: adam\n%s\n": "parallel kernels",
                 "kind: training\nepochs: 100\nvalidation_split: 0.1\n%s\n":
                     "optimizer loss schedules clip average checkpoint groups metrics compute",
                 "kind: dataset\ntype: synthetic\nshape: [3, 32, 32]\nclasses: 3\ntrain_samples: 9\ntest_samples: 3\n%s\n":
                     "transforms augmentations",
                 "kind: model\n%s\nlayers: [flatten, dense: {units: 3}]\n": "input",
                 "kind: model\n" + wide + "%s\nlayers: [flatten, dense: {units: 3}]\n": "operators",
                 "kind: model\n" + wide + "layers: [conv2d: {filters: 3, %s}, flatten, dense: {units: 3}]\n": "kernel",
                 "kind: model\n" + wide + "layers: [conv2d: {filters: 3, kernel: 3, %s}, flatten, dense: {units: 3}]\n":
                     "stride padding",
                 "kind: machine\n%s\n": "memory"}
        form = {word: text for text, words in homes.items() for word in words.split()}
        lines = 0
        with open(os.path.join(ROOT, "compiler", "support", "other_words.txt"), encoding="utf-8") as file:
            words = file.read()
        for line in sorted(set(re.findall(r"`((?:- )?\w+: [^`\n]+|- \w+)`", words))):
            whole = line.replace("[...]", "[relu]").replace("...", "1")
            over_steps = re.search(r"1d:|axis: steps", whole)
            text = (steps if over_steps else layers) if whole.startswith("- ") else form.get(whole.split(":")[0])
            if text is None:
                continue  # a field of a map that the remark names
            lines += 1
            with self.subTest(line):
                self.write("remark.yaml", text % whole)
                self.expect(self.dtnnc("check", "--spec-path", os.path.join(ROOT, "specs"), "remark.yaml"), 0)
        self.assertGreater(lines, 60)

    def test_links_lead_somewhere(self):
        pages = texts(PAGES)
        for path, text in pages.items():
            for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.S)):
                file = os.path.join(PAGES, os.path.dirname(path), target)
                self.assertTrue(os.path.exists(file), f"{path}: {target}")


class Explain(CommandTest):
    def test_a_tool_is_explained_by_all_its_words(self):
        for name in ("Keras", "keras"):
            text = self.expect(self.dtnnc("explain", name), 0).stdout
            self.assertRegex(text, "(?m)^  Conv2DTranspose +conv2d_transpose$")
            self.assertRegex(text, "(?m)^  GlobalMaxPooling2D +global_max_pool2d: it gives an image of one pixel")
            self.assertNotIn("ConvTranspose2d", text)
        self.expect(self.dtnnc("explain", "Hugging Face"), 0, "num_train_epochs")

    def words(self):
        """Every word of the lists: (group, word)."""
        listed = json.loads(self.expect(self.dtnnc("explain", "--format", "json"), 0).stdout)
        self.assertEqual(listed["version"], 2)
        return [(group["title"], name) for group in listed["groups"] for name in group["names"]]

    def test_every_word_is_explained(self):
        words = self.words()
        self.assertGreater(len(words), 200)
        for group, word in words:
            explained = json.loads(self.expect(self.dtnnc("explain", word, "--format", "json"), 0).stdout)
            self.assertTrue(explained["sections"], word)
            for section in explained["sections"]:
                self.assertIn(section["name"], section["text"])
                self.assertIn(section["group"], section["text"])

    def test_the_list_names_groups_and_words(self):
        self.expect(self.dtnnc("explain"), 0, "operators:", "losses:", "unknown-field", "conv2d", "conv2d.filters")

    def test_words(self):
        for word, said in [
            ("conv2d.filters", "number of output channels"),
            ("training.batch_size", "samples of one batch"),
            ("batch_size", "training.batch_size - a field"),
            ("digits", "a type of dataset"),
            ("separable_conv2d", "padding"),
            ("squeeze_excite.channels", "default ${in.channels}"),
            ("repeat.times", "It may not depend on shapes"),
            ("blocks.parameters.minimum", "least value"),
            ("normal.deviation", "standard deviation"),
            ("categorical_cross_entropy", "a loss"),
            ("categorical_accuracy", "a metric"),
            ("bilinear", "a value of upsample2d.mode"),
            ("unknown_field", "unknown-field - a diagnostic, exit code 3"),
            ("too-many-layers", "what to do"),
            ("fuse-epilogues", "--disable fuse_epilogues"),
            ("dense.blis", "a kernel for cpu"),
            ("reference", "--reference-kernels"),
            ("expressions", "a if c else b"),
        ]:
            with self.subTest(word):
                self.expect(self.dtnnc("explain", word), 0, said)

    def test_every_setting_is_explained(self):
        settings = json.loads(self.expect(self.dtnnc("settings", "tiny.yaml", "--format", "json"), 0).stdout)
        paths = [setting["path"] for setting in settings["settings"]]
        self.assertIn("training.optimizer.adam.beta1", paths)
        for path in paths:
            with self.subTest(path):
                self.expect(self.dtnnc("explain", path), 0, f"{path.split('.')[-1]} ")

    def test_misspelt(self):
        for word, meant in [("covn2d", "conv2d"), ("digts", "digits"), ("reprat", "repeat"), ("bacth_size", "batch_size"),
                            ("squeeze_exite", "squeeze_excite"), ("unknwon-field", "unknown-field"),
                            ("conv2d.filtres", "conv2d.filters"), ("catgorical_accuracy", "categorical_accuracy"),
                            ("he_unifrom", "he_uniform"), ("fuse_eplogues", "fuse_epilogues")]:
            with self.subTest(word):
                self.expect(self.dtnnc("explain", word), 2, f"did you mean `{meant}`?")
        for word in ("xqzzy", "42", "quantum_foam"):
            with self.subTest(word):
                said = self.expect(self.dtnnc("explain", word), 2, f"nothing is named `{word}`")
                self.assertNotIn("did you mean", said.stderr)


if __name__ == "__main__":
    unittest.main()
