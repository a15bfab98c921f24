#!/usr/bin/env python3
"""`dtnnc tokens`: text becomes what a dataset of type `tokens` is trained on; `dtnnc vocabulary` learns by what."""

import array
import base64
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNN_RUN, DTNNC, CommandTest, run

WORDS = [b"th", b"the", b" the", b" cat", b"ca", b"at", b"cat"]
JOB = """kind: job
model:
  inputs: {tokens: {shape: [8], axes: [step], dtype: i32, values: 263}}
  layers: [embedding: {entries: 263, units: 8}, lstm: {units: 8}, dense: {units: 263}, softmax: {axis: features}]
dataset: {type: tokens, path: books.bin, item: u16, classes: 263, steps: 8, test_share: 0.25}
training: {epochs: 1, batch_size: 8, optimizer: sgd}
"""


class Tokens(CommandTest):
    def setUp(self):
        super().setUp()
        if "without PCRE2" in self.tokens(self.ranks(), self.write("empty", "x"), output="probe").stderr:
            self.skipTest("built without PCRE2")

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def ranks(self):
        tokens = [bytes([b]) for b in range(256)] + WORDS
        return self.write("ranks", "".join(f"{base64.b64encode(t).decode()} {i}\n" for i, t in enumerate(tokens)))

    def tokens(self, vocabulary, *texts, more=("--pattern", "gpt2"), output="books.bin"):
        return run(DTNNC, "tokens", *texts, "--vocabulary", vocabulary, "-o", self.path(output), *more, cwd=self.folder)

    def numbers(self, name="books.bin"):
        numbers = array.array("H")
        with open(self.path(name), "rb") as file:
            numbers.frombytes(file.read())
        return numbers.tolist()

    def test_text_becomes_tokens_that_a_job_trains_on(self):
        self.write("books/b.txt", "the cat" * 40)
        self.write("books/a.txt", "the cat")
        self.write("books/.hidden", "no")
        self.write("books/more/c.txt", "\n")
        done = self.tokens(self.ranks(), self.path("books"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("`type: tokens, item: u16, classes: 263`", done.stderr)
        self.assertEqual(self.numbers()[:6], [257, 259] * 3)
        self.assertEqual(self.numbers()[-1], 10)
        self.write("job.yaml", JOB)
        for command in ((DTNNC, "compile", "job.yaml", "-o", "plan.json"), (DTNN_RUN, "plan.json", "--output", "out")):
            done = run(*command, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_vocabulary_is_learnt_that_tokens_are_made_by(self):
        text = self.write("text", "abab abab abab xyxyxy\n" * 10 + "<|endoftext|>")
        learn = [DTNNC, "vocabulary", text, "-o", self.path("tokenizer.json")]
        done = run(*learn, "--size", "261", "--add", "<pad>")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("tokenizer.json"), encoding="utf-8") as file:
            made = json.load(file)
        self.assertEqual([token["content"] for token in made["added_tokens"]], ["<|endoftext|>", "<pad>"])
        # Of two pairs that stand as often, that of the lower numbers first.
        self.assertEqual(made["model"]["merges"], ["a b", "x y", "ab ab"])
        done = self.tokens(self.path("tokenizer.json"), text, more=("--end", "<pad>"))
        self.assertEqual(done.returncode, 0, done.stderr)
        vocabulary = made["model"]["vocab"]
        self.assertEqual(self.numbers()[0], vocabulary["abab"])
        self.assertEqual(self.numbers()[-2:], [259, 260])
        done = run(*learn, "--size", "1000")
        self.assertIn("no more pairs stand together often enough", done.stderr)
        for more, code, word in ((("--size", "256"), 2, "--size 257 or more"), (("--size", "9", ), 2, "--size"),
                                 (("--add", ""), 2, "cannot be an added token"),
                                 (("--add", "<|endoftext|>"), 2, "cannot be an added token")):
            done = run(*learn, *more)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(word, done.stderr)

    def test_what_cannot_be_done_leaves_no_file(self):
        ranks, text = self.ranks(), self.write("text", "the cat")
        bad = self.write("bad", b"the \xff")
        for arguments, code, words in (
                ((ranks, self.path("none")), 1, ("none", "No such file")),
                ((ranks, bad), 1, ("bad: byte 4", "UTF-8")),
                ((ranks, self.write("nothing", "")), 1, ("there is no text",)),
                ((self.path("none"), text), 2, ("none",)),
                ((text, text), 5, ("line 1 is no token",))):
            done = self.tokens(*arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertFalse(os.path.exists(self.path("books.bin")))
        done = self.tokens(ranks, text, more=("--pattern", "gpt2", "--end", "<|x|>"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("adds no tokens", done.stderr)
        done = self.tokens(ranks, text, more=())
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("--pattern gpt2|cl100k|o200k", done.stderr)
        done = self.tokens(ranks, text, output="text")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("would be replaced", done.stderr)


if __name__ == "__main__":
    unittest.main()
