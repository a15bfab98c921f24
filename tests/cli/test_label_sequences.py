#!/usr/bin/env python3
"""Sequences of labels: an .npz of samples and rows of labels, whose room and classes are found in it, trains a network; the rate of
wrong labels is that of what it predicts; labels that cannot be are refused by their place."""

import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, read_npz, write_npz
from commands import CommandTest

STEPS, CLASSES, ROOM = 8, 4, 5
JOB = """kind: job
name: labels
model:
  inputs: {ids: {shape: [8], axes: [step], dtype: i32, values: 4}}
  layers:
    - embedding: {entries: 4, units: 8}
    - gru: {units: 8}
    - dense: {units: 4}
    - log_softmax
dataset: {type: archive, path: data.npz, labels: sequence, lengths: n}
training: {loss: ctc, optimizer: {adam: {learning_rate: 0.02}}, batch_size: 8, epochs: 15, metrics: [label_error_rate]}
"""


def read_path(path):
    """The labels of a class for each step: equal neighbours once, then without the blank, 0."""
    return [c for i, c in enumerate(path) if c != 0 and (i == 0 or path[i - 1] != c)]


def changes(ours, theirs):
    least = list(range(len(theirs) + 1))
    for i, one in enumerate(ours):
        row = [i + 1]
        for j, other in enumerate(theirs):
            row.append(min(least[j] + (one != other), least[j + 1] + 1, row[j] + 1))
        least = row
    return least[-1]


class LabelSequences(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("job.yaml", JOB)
        self.arrays, self.labels = {}, {}
        for split, count in (("train", 40), ("test", 10)):
            draw = random.Random(split)
            lengths, ids, rows = [], [], []
            while len(rows) < count:
                length = draw.randrange(2, STEPS + 1)
                steps = [draw.randrange(CLASSES) for _ in range(length)]
                labels = read_path(steps)
                if len(labels) > ROOM:
                    continue
                lengths.append(length)
                ids += steps + [-9] * (STEPS - length)
                rows.append(labels)
            rows[0] = (rows[0] + [3])[:1]  # one label, and some that lie over it
            self.labels[split] = rows
            self.arrays[f"ids_{split}"] = Array("<i8", (count, STEPS), ids)
            self.arrays[f"n_{split}"] = Array("<i4", (count,), lengths)
            self.arrays[f"y_{split}"] = Array("<i4", (count, ROOM), [c for row in rows for c in row + [-1] * (ROOM - len(row))])
        write_npz(self.path("data.npz"), self.arrays)

    def test_trains_and_predicts(self):
        plan = self.compile(spec="job.yaml")
        (target,) = json.loads(self.read("plan.json"))["dataset"]["targets"]
        self.assertEqual((target["kind"], target["dims"], target["classes"]), ("sequence", [ROOM], CLASSES))
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "run"), 0)
        last = [line for line in self.history("run") if line["event"] == "epoch"]
        self.assertLess(last[-1]["train"]["loss"], last[0]["train"]["loss"])

        weights = ("--weights", "run/weights.safetensors")
        said = self.expect(self.dtnn_run("evaluate", plan, *weights, "--format", "json"), 0)
        self.expect(self.dtnn_run("predict", plan, *weights, "-o", "p.npz", "--input", "test"), 0)
        given = read_npz(self.path("p.npz"))
        self.assertEqual(given["lengths"], self.arrays["n_test"])
        self.assertNotIn("label", given)
        wrong = counted = 0
        for i, labels in enumerate(self.labels["test"]):
            path = given["class"].data[i * STEPS:i * STEPS + given["lengths"].data[i]]
            wrong += changes(read_path(path), labels)
            counted += len(labels)
        self.assertAlmostEqual(json.loads(said.stdout)["test"]["label_error_rate"], wrong / counted, places=12)

    def test_labels_that_cannot_be(self):
        plan = self.compile(spec="job.yaml")
        rows = self.arrays["y_train"].data
        for place, label, fact in ((0, 0, "y_train.npy[0,0]: it is 0, the blank, which is no label"),
                                   (0, 7, "y_train.npy[0,0]: it is 7; labels are 0 to 3, and -1 stands behind the last"),
                                   (4, 2, "y_train.npy[0,4]: it is 2, and the labels of the sample have ended at 1 with -1")):
            sound, rows[place] = rows[place], label
            write_npz(self.path("data.npz"), self.arrays)
            self.expect(self.dtnn_run(plan, "--progress", "none", "--output", f"run{label}"), 1, fact)
            rows[place] = sound
        # More labels than the sample has steps.
        rows[:ROOM] = [1, 1, 1, 1, 1]
        write_npz(self.path("data.npz"), self.arrays)
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "run"), 1, "y_train.npy[0]",
                    "it has 5 labels, which take 9 steps, as equal neighbours have a blank between them, and the sample has")

    def test_another_room(self):
        self.write("job.yaml", JOB.replace("lengths: n", "lengths: n, most_labels: 6, classes: 4, train_samples: 40, test_samples: 10"))
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "run"), 1, "it must be whole numbers of (40,6)")


if __name__ == "__main__":
    unittest.main()
