#!/usr/bin/env python3
"""Learning: a shipped job must reach its accuracy on the test split.

    test_learning.py digits        embedded data, at least 97 %
    test_learning.py grammar       made-up sentences: the test's loss within 2 % of the least that there can be
    test_learning.py mnist         real MNIST, at least 98.0 %, twice the same bits; the folder is named by DTNN_MNIST (77: skipped without it)
"""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from commands import BIN, ROOT, SANITIZED

SKIPPED = 77
# Sanitizers look at every access: they see in a few steps what they see in all.
BRIEF = ["training.epochs=1", "dataset.sample_percentage=5"] if SANITIZED else []


def train(folder, job, settings, name):
    plan, output = os.path.join(folder, "plan.json"), os.path.join(folder, name)
    arguments = [argument for setting in settings + BRIEF for argument in ("--set", setting)]
    subprocess.run([os.path.join(BIN, "dtnnc"), "compile", os.path.join(ROOT, "specs", "jobs", job), "-o", plan] + arguments,
                   check=True)
    run = subprocess.run([os.path.join(BIN, "dtnn-run"), plan, "--output", output, "--progress", "plain"], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(run.stdout)
    with open(os.path.join(output, "history.jsonl"), encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    with open(os.path.join(output, "weights.safetensors"), "rb") as file:
        weights = file.read()
    return events, weights, run.stdout


def judged(reached):
    if SANITIZED:
        print("skipped: what is learnt; under sanitizers few steps are made")
        return 0
    return 0 if reached else 1


def learns_grammar(folder):
    """No network can come below the least loss, but for the luck of the test's words; a network that has learnt comes near."""
    near = True
    for job in ("grammar_gpt", "grammar_lstm"):
        events, _, said = train(folder, job + ".yaml", ["training.epochs=1"], job)
        least = float(re.search(r"the least loss .* is (\d+\.\d+),", said).group(1))
        reached = next(e for e in events if e["event"] == "evaluate")["test"]["loss"]
        print(f"{job}: a loss of {reached:.4f} on the test split; the least is {least:.4f}")
        near = near and 0.99 * least < reached < 1.02 * least
    return judged(near)


def accuracy(events):
    return next(e for e in events if e["event"] == "evaluate")["test"]["categorical_accuracy"]


def timeless(events):
    times = ("samples_per_second", "seconds", "time", "first_step_milliseconds", "output")
    return [{k: v for k, v in e.items() if k not in times} for e in events if e["event"] in ("epoch", "evaluate")]


def main():
    which = sys.argv[1] if len(sys.argv) > 1 else "digits"
    with tempfile.TemporaryDirectory() as folder:
        if which == "grammar":
            return learns_grammar(folder)
        if which == "digits":
            events, _, _ = train(folder, "digits_simplecnn.yaml", [], "run")
            bar = 0.97
        else:
            data = os.environ.get("DTNN_MNIST", "")
            if not data:
                print("skipped: DTNN_MNIST does not name the folder of MNIST's four files")
                return SKIPPED
            settings = ["dataset.path=" + data]
            events, weights, _ = train(folder, "mnist_simplecnn.yaml", settings, "one")
            again, weights_again, _ = train(folder, "mnist_simplecnn.yaml", settings, "two")
            bar = 0.98
            if weights != weights_again or timeless(events) != timeless(again):
                print("the second run differs from the first")
                return 1
        reached = accuracy(events)
        print(f"{which}: {100 * reached:.2f} % on the test split; the bar is {100 * bar:.1f} %")
        return judged(reached >= bar)


if __name__ == "__main__":
    sys.exit(main())
