#!/usr/bin/env python3
"""Samples of several lengths: an .npz whose array says them trains a network, what is behind the steps of a sample
changes nothing, and predictions are zeros there."""

import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, read_npz, write_npz
from commands import CommandTest

STEPS, CLASSES = 6, 3
JOB = """kind: job
name: lengths
model:
  inputs: {ids: {shape: [6], axes: [step], dtype: i32, values: 5}}
  layers:
    - embedding: {entries: 5, units: 8}
    - gru: {units: 8, reversed: true}
    - dense: {units: 24}
    - attention: {heads: 1}
    - dense: {units: 3}
    - softmax: {axis: features}
dataset: {type: archive, path: data.npz, labels: step, lengths: n, classes: 3, train_samples: 40, test_samples: 10}
training: {optimizer: {adam: {learning_rate: 0.02}}, batch_size: 8, epochs: 15, metrics: [categorical_accuracy]}
"""


class Lengths(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("job.yaml", JOB)
        self.arrays = {}
        for split, count in (("train", 40), ("test", 10)):
            draw = random.Random(split)
            lengths = [draw.randrange(2, STEPS + 1) for _ in range(count)]
            ids = [draw.randrange(5) for _ in range(count * STEPS)]
            # The class of a step is that of the sample's last.
            labels = [ids[i * STEPS + lengths[i] - 1] % CLASSES for i in range(count) for _ in range(STEPS)]
            self.arrays[f"ids_{split}"] = Array("<i8", (count, STEPS), ids)
            self.arrays[f"n_{split}"] = Array("<i4", (count,), lengths)
            self.arrays[f"y_{split}"] = Array("<i8", (count, STEPS), labels)
        write_npz(self.path("data.npz"), self.arrays)

    def behind(self, name, value):
        """The array with this number where samples have no steps."""
        split = name.split("_")[1]
        array, lengths = self.arrays[name], self.arrays[f"n_{split}"].data
        return Array(array.descr, array.shape, [number if i % STEPS < lengths[i // STEPS] else value
                                                for i, number in enumerate(array.data)])

    def test_trains_and_predicts(self):
        plan = self.compile(spec="job.yaml")
        inputs = json.loads(self.read("plan.json"))["dataset"]["inputs"]
        self.assertEqual([(i["name"], i["dtype"]) for i in inputs], [("ids", "i32"), ("n", "i32")])
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "run"), 0)
        last = [line for line in self.history("run") if line["event"] == "epoch"]
        self.assertLess(last[-1]["train"]["loss"], last[0]["train"]["loss"])
        # What is behind the steps is not read.
        for name in ("ids_train", "ids_test"):
            self.arrays[name] = self.behind(name, -9)
        for name in ("y_train", "y_test"):
            self.arrays[name] = self.behind(name, 77)
        write_npz(self.path("data.npz"), self.arrays)
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "again"), 0)
        weights = []
        for run in ("run", "again"):
            with open(self.path(f"{run}/weights.safetensors"), "rb") as file:
                weights.append(file.read())
        self.assertEqual(weights[0], weights[1])

        predict = ("predict", plan, "--weights", "run/weights.safetensors", "-o", "p.npz", "--input")
        self.expect(self.dtnn_run(*predict, "test"), 0)
        given = read_npz(self.path("p.npz"))
        lengths = self.arrays["n_test"].data
        self.assertEqual(given["lengths"], self.arrays["n_test"])
        for i in range(10 * STEPS):
            there = i % STEPS < lengths[i // STEPS]
            sums = sum(given["probabilities"].data[i * CLASSES:(i + 1) * CLASSES])
            self.assertAlmostEqual(sums, 1 if there else 0, places=5)
            for name in ("class", "label"):
                self.assertEqual(given[name].data[i] >= 0, there)
                self.assertGreaterEqual(given[name].data[i], -1)
        # A file has the array like that of any other input.
        write_npz(self.path("some.npz"), {name: self.arrays[f"{name}_test"] for name in ("ids", "n")})
        self.expect(self.dtnn_run(*predict, "some.npz"), 0)
        self.assertEqual(read_npz(self.path("p.npz"))["probabilities"], given["probabilities"])
        write_npz(self.path("some.npz"), {"ids": self.arrays["ids_test"]})
        self.expect(self.dtnn_run(*predict, "some.npz"), 1, "`n` is not in it")
        self.expect(self.dtnnc("export", plan, "--weights", "run/weights.safetensors", "-o", "net.onnx"), 2,
                    "have lengths (`n`)")

    def test_a_length_that_cannot_be(self):
        plan = self.compile(spec="job.yaml")
        self.arrays["n_train"].data[7] = STEPS + 1
        write_npz(self.path("data.npz"), self.arrays)
        self.expect(self.dtnn_run(plan, "--progress", "none", "--output", "run"), 1, "n_train.npy[7]",
                    "it is 7; a sample has 1 to 6 steps")

    def test_layers_that_mix_steps(self):
        self.write("job.yaml", JOB.replace("gru: {units: 8, reversed: true}", "batch_norm"))
        self.expect(self.dtnnc("compile", "job.yaml", "-o", "plan.json"), 3, "mixes-steps", "`layer_norm`")


if __name__ == "__main__":
    unittest.main()
