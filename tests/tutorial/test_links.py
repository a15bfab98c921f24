#!/usr/bin/env python3
"""Links of all pages lead somewhere, anchors included; prose is at most 120 columns wide; the index of words has the
words that people look for, in order, each with a link."""

import glob
import os
import re
import unittest
import urllib.parse

from page import ROOT

WIDTH = 120
# Words that people type into a search box. An index without one of these is not done.
WORDS = ["accuracy", "Adam", "augmentation", "batch norm", "batch size", "checkpoint", "class imbalance", "CSV", "CUDA",
         "dropout", "early stopping", "epochs", "error message", "exit code", "fine-tuning", "freeze", "GPU",
         "gradient clipping", "image size", "inference", "Keras", "learning rate", "loss", "masks", "memory",
         "mixed precision", "MPI", "NaN", "NumPy", "ONNX", "out of memory", "overfitting", "predict", "PyTorch",
         "random seed", "resume", "segmentation", "Slurm", "speed", "summary", "TensorBoard", "threads", "transfer",
         "validation", "weights"]


def pages():
    """Every page of the repository, by its path from the root."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in ("build", "runs", "shared")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files if name.endswith(".md")]
    return sorted(found)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def prose(text):
    """The lines of a page, those of fenced blocks and of comments left empty."""
    fence, text = None, re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    for line in text.splitlines():
        mark = re.match(r" *(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
            yield ""
        elif fence is not None:
            if mark and line.strip() == fence:
                fence = None
            yield ""
        else:
            yield line


def anchors(text):
    """What a link may name behind `#`: headings, as GitHub forms them, and ids that are written out."""
    found, counts = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text)), {}
    for line in prose(text):
        if heading := re.match(r"#{1,6} +(.+?) *#*$", line):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            number = counts.get(slug, 0)
            counts[slug] = number + 1
            found.add(f"{slug}-{number}" if number else slug)
    return found


def links(text):
    """(line, target) of every link and picture; code is no link."""
    for number, line in enumerate(prose(text), 1):
        line = re.sub(r"`[^`]*`", lambda code: "x" * len(code[0]), line)
        for target in re.findall(r"\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"|<source [^>]*srcset=\"([^\"]+)\"", line):
            yield number, next(filter(None, target))


class Links(unittest.TestCase):
    maxDiff = None

    def test_links_lead_somewhere(self):
        wrong, known, count = [], {}, 0
        for path in pages():
            for line, target in links(text_of(path)):
                if re.match(r"[a-z]+:", target):
                    continue  # another site; this test opens no connection
                count += 1
                file, _, anchor = urllib.parse.unquote(target).partition("#")
                aim = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                if not os.path.exists(os.path.join(ROOT, aim)):
                    wrong.append(f"{path}:{line}: there is no {target}")
                elif anchor and aim.endswith(".md"):
                    if aim not in known:
                        known[aim] = anchors(text_of(aim))
                    if anchor not in known[aim]:
                        wrong.append(f"{path}:{line}: {aim} has no heading #{anchor}")
        self.assertEqual(wrong, [])
        self.assertGreater(count, 200)

    def test_forms_of_links(self):
        self.assertEqual(anchors("# A `b_c` (d), e\n## A\n## A\n```\n# no\n```\n<a id=\"own\"></a>\n"),
                         {"a-b_c-d-e", "a", "a-1", "own"})
        self.assertEqual(list(links("[a](b.md#c) `[x](y)`\n```\n[n](o)\n```\n![p](q.svg)\n")),
                         [(1, "b.md#c"), (5, "q.svg")])

    def test_prose_is_wrapped(self):
        wide = [f"{path}:{number}" for path in pages() if not path.startswith("docs/reference/")
                for number, line in enumerate(prose(text_of(path)), 1)
                if len(line) > WIDTH and not line.lstrip().startswith("|")]
        self.assertEqual(wide, [])

    def test_entry_pages_name_every_page(self):
        for folder in ("docs", "docs/recipes", "docs/coming_from"):
            entry = text_of(f"{folder}/README.md")
            for path in glob.glob("*.md", root_dir=os.path.join(ROOT, folder)):
                if path != "README.md":
                    self.assertIn(f"]({path})", entry, folder)


class Words(unittest.TestCase):
    def setUp(self):
        self.rows = re.findall(r"^\| ([^|]+?) \| (.+) \|$", text_of("docs/words.md"), re.M)[1:]

    def test_every_word_leads_somewhere(self):
        for word, where in self.rows:
            self.assertTrue(list(links(where)), word)

    def test_words_are_in_order(self):
        words = [word.replace("`", "").lower() for word, _ in self.rows]
        self.assertEqual(words, sorted(words))

    def test_words_that_people_look_for(self):
        words = {part.strip().replace("`", "").lower() for word, _ in self.rows for part in word.split(",")}
        self.assertEqual([word for word in WORDS if word.lower() not in words], [])


if __name__ == "__main__":
    unittest.main()
