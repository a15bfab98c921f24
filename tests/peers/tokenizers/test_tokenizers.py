#!/usr/bin/env python3
"""Tokens that `dtnnc tokens` makes, beside those of Hugging Face's tokenizers and of tiktoken: the same numbers; and the
pairs that `dtnnc vocabulary` learns.

    python3 tests/peers/tokenizers/test_tokenizers.py                       # 20,000 random strings: half a minute
    python3 tests/peers/tokenizers/test_tokenizers.py --strings 1000000     # a million
    python3 tests/peers/tokenizers/test_tokenizers.py --speed TEXT          # megabytes a second, by turns

Vocabularies are trained here, on the project's documents, in the forms of GPT-2, of one that begins with a space, of Llama 3 and
as ranks with the expressions of cl100k and o200k. It needs tokenizers and tiktoken, says so and ends with 77 where they are not.
The program is that of DTNN_BIN, else of build/release/bin."""

import argparse
import array
import base64
import glob
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import tiktoken
    import tokenizers
    from tokenizers import models, pre_tokenizers, trainers
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
END = "<|endoftext|>"
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s")
O200K = "|".join([r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                  r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])


def trained(pieces, size, ignore_merges=False):
    """A vocabulary of Hugging Face's library."""
    made = tokenizers.Tokenizer(models.BPE(ignore_merges=ignore_merges))
    made.pre_tokenizer = pieces
    files = sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
    made.train(files, trainers.BpeTrainer(vocab_size=size, special_tokens=[END, "<|pad|>", "<|"], show_progress=False,
                                          initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return made


def split(expression, behavior="isolated", invert=False):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(tokenizers.Regex(expression), behavior, invert),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


class HuggingFace:
    def __init__(self, pieces, folder, name, size=8000, **more):
        self.made, self.options = trained(pieces, size, **more), []
        self.file = os.path.join(folder, name + ".json")
        self.made.save(self.file)

    def encode(self, text):
        return self.made.encode(text, add_special_tokens=False).ids


class Ranks:
    """tiktoken's form of a vocabulary that Hugging Face's library has trained."""

    def __init__(self, expression, folder, name, size=8000):
        letters = dict(zip((pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(chr(b))[0][0]
                            for b in range(128)), (bytes([b]) for b in range(128))))
        shown = [b for b in range(256) if 33 <= b <= 126 or (b >= 0xA1 and b != 0xAD)]
        hidden = [b for b in range(256) if b not in shown]
        letters.update({chr(b): bytes([b]) for b in shown})
        letters.update({chr(256 + i): bytes([b]) for i, b in enumerate(hidden)})
        vocabulary = trained(split(LLAMA), size).get_vocab()
        tokens = sorted((number, b"".join(letters[c] for c in text)) for text, number in vocabulary.items() if number > 2)
        self.ranks = {token: rank for rank, (_, token) in enumerate(tokens)}
        self.file, self.options = os.path.join(folder, name + ".tiktoken"), ["--pattern", name]
        with open(self.file, "wb") as file:
            for token, rank in self.ranks.items():
                file.write(base64.b64encode(token) + b" " + str(rank).encode() + b"\n")
        self.made = tiktoken.Encoding(name, pat_str=expression, mergeable_ranks=self.ranks, special_tokens={})

    def encode(self, text):
        return self.made.encode_ordinary(text)


def ours(vocabulary, text, folder):
    path, output = os.path.join(folder, "text"), os.path.join(folder, "tokens")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    began = time.monotonic()
    done = subprocess.run([os.path.join(BIN, "dtnnc"), "tokens", path, "--vocabulary", vocabulary.file, "-o", output]
                          + vocabulary.options, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    numbers = array.array("H")
    with open(output, "rb") as file:
        numbers.frombytes(file.read())
    return numbers.tolist(), time.monotonic() - began


# Characters that patterns tell apart, and some of every plane. What Unicode has given no meaning yet, or lately, is a letter to one
# library and none to another: those that are here Unicode 14 had.
SPACES = " \t\n\r\x0b\x0c\x85\xa0\u1680\u180e\u2003\u2028\u2029\u200b\u202f\u3000\ufeff\x1c\x1f"
OTHERS = "'’.,;:!?-_/\\|<>()[]{}#$%&*+=@^`~\"\x00\x01\x7f\u00ad\u0301\u20e3\ufe0f\u200d"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZſßéñøĳǅǈʰªº"
DIGITS = "0123456789²½٣४Ⅷ①〇"
RANGES = [(0xA0, 0x377), (0x3A3, 0x481), (0x561, 0x586), (0x5D0, 0x5EA), (0x620, 0x6D3), (0x904, 0x939), (0xE01, 0xE30), (0x1100, 0x1248),
          (0x1E00, 0x1F15), (0x2000, 0x2064), (0x2070, 0x2071), (0x2100, 0x218B), (0x2190, 0x2426), (0x2460, 0x2B73), (0x3001, 0x303F),
          (0x3041, 0x3096), (0x30A1, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xE100), (0xFB00, 0xFB06), (0xFF01, 0xFFBE),
          (0x10000, 0x1000B), (0x10400, 0x1049D), (0x1D400, 0x1D454), (0x1D7CE, 0x1D7FF), (0x1F300, 0x1F5FF), (0x1F600, 0x1F64F),
          (0x20000, 0x2A6DF), (0xE0100, 0xE01EF), (0xF0000, 0xF0010)]


def random_string(rng):
    """Runs of characters of a kind, words that pairs were made of, contractions, and added tokens, whole and in part."""
    parts = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.randrange(9)
        if kind == 0:
            parts.append("".join(rng.choices(SPACES, k=rng.randint(1, 5))))
        elif kind == 1:
            parts.append("".join(rng.choices(OTHERS, k=rng.randint(1, 4))))
        elif kind == 2:
            parts.append("".join(rng.choices(LETTERS, k=rng.randint(1, 9))))
        elif kind == 3:
            parts.append("".join(rng.choices(DIGITS, k=rng.randint(1, 7))))
        elif kind == 4:
            first, last = rng.choice(RANGES)
            parts.append("".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 4))))
        elif kind == 5:
            parts.append(rng.choice([" the", " network", "Training", " layers", "1234", "\n\n", "    ", " batch_size", "```yaml"]))
        elif kind == 6:
            parts.append(rng.choice(["'s", "'S", "'ll", "'RE", "'ſ", "’s", " 've", "'d", "'T"]))
        elif kind == 7:
            parts.append(rng.choice(["<|endoftext|>", "<|pad|>", "<|", "<|endof", "|>", "<|pad"]))
        else:
            parts.append(" " * rng.randint(1, 3) + "".join(rng.choices(LETTERS, k=3)))
    return "".join(parts)


def vocabularies(folder):
    level = pre_tokenizers.ByteLevel
    yield "gpt2", HuggingFace(level(add_prefix_space=False), folder, "gpt2")
    yield "begins with a space", HuggingFace(level(add_prefix_space=True), folder, "space", 2000)
    yield "llama3", HuggingFace(split(LLAMA), folder, "llama3", ignore_merges=True)
    yield "matches alone", HuggingFace(split(LLAMA, "removed", True), folder, "matches")
    yield "cl100k", Ranks(CL100K, folder, "cl100k")
    yield "o200k", Ranks(O200K, folder, "o200k")


def differs(vocabulary, text, folder):
    return ours(vocabulary, text, folder)[0] != vocabulary.encode(text)


def smallest(vocabulary, text, folder):
    """A part of the text that differs still."""
    step = len(text) // 2
    while step:
        for at in range(0, len(text), step):
            shorter = text[:at] + text[at + step:]
            if shorter and differs(vocabulary, shorter, folder):
                text = shorter
                break
        else:
            step //= 2
    return text


def compare(strings, seed):
    rng, failed = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for name, vocabulary in vocabularies(folder):
            done = tokens = 0
            while done < strings:
                # As one text: what stands between strings is taken apart, too.
                text = "".join(random_string(rng) for _ in range(min(2000, strings - done)))
                done += 2000
                made = vocabulary.encode(text)
                tokens += len(made)
                if ours(vocabulary, text, folder)[0] == made:
                    continue
                failed += 1
                part = smallest(vocabulary, text, folder)
                print(f"{name}: {part!r} is {ours(vocabulary, part, folder)[0]}, and {vocabulary.encode(part)} there")
                break
            else:
                print(f"{name:<20} {strings} strings, {tokens} tokens: the same", flush=True)
    return failed


def learns_the_same():
    """`dtnnc vocabulary` learns the pairs that Hugging Face's library learns, in their order."""
    text = "".join(open(file, encoding="utf-8", newline="").read()
                   for file in sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)))
    text = text.replace(END, "")  # which is text to their trainer
    rng = random.Random(1)
    runs = "".join(rng.choice(["a", "b", "c", "aa", "aaa", "abab", " ", "\n", "é", "the ", "日本"]) for _ in range(60000))
    failed = 0
    for name, text, size in (("documents", text, 6000), ("runs", runs, 2000)):
        with tempfile.TemporaryDirectory() as folder:
            file, made = os.path.join(folder, "text"), os.path.join(folder, "made.json")
            with open(file, "w", encoding="utf-8", newline="") as to:
                to.write(text)
            subprocess.run([os.path.join(BIN, "dtnnc"), "vocabulary", file, "--size", str(size), "--least", "1", "-o", made],
                           check=True, stderr=subprocess.DEVNULL)
            theirs = tokenizers.Tokenizer(models.BPE())
            theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            theirs.train_from_iterator([text], trainers.BpeTrainer(
                vocab_size=size, special_tokens=[END], show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
            mine = [tuple(merge.split(" ")) for merge in json.load(open(made, encoding="utf-8"))["model"]["merges"]]
            same = mine == [tuple(merge) for merge in json.loads(theirs.to_str())["model"]["merges"]]
            reads = tokenizers.Tokenizer.from_file(made).get_vocab_size() == size
        print(f"learnt from {name:<8} {len(mine)} pairs: {'the same' if same and reads else 'NOT the same'}", flush=True)
        failed += not (same and reads)
    return failed


def speed(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    size = len(text.encode()) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        for name, vocabulary in vocabularies(folder):
            times = [[], []]
            for _ in range(3):
                times[0].append(ours(vocabulary, text, folder)[1])
                began = time.monotonic()
                vocabulary.encode(text)
                times[1].append(time.monotonic() - began)
            mine, theirs = (size / statistics.median(t) for t in times)
            print(f"{name:<20} {mine:7.1f} MB/s here, {theirs:6.1f} there: {mine / theirs:.1f} times", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strings", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", metavar="TEXT")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if options.speed:
        return speed(options.speed)
    return 1 if compare(options.strings, options.seed) + learns_the_same() else 0


if __name__ == "__main__":
    sys.exit(main())
