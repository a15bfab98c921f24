#!/usr/bin/env python3
"""Products of factors rounded to bfloat16 on processors: which they are, that they train, to the same bits."""

import hashlib
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest

JOB = """kind: job
name: precision
model:
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 32, kernel: 3, stride: 2, padding: 1}
    - relu
    - conv2d: {filters: 48, kernel: 3, padding: same, bias: false}
    - batch_norm
    - silu
    - conv2d: {filters: 40, kernel: 3, stride: 2, padding: 1}
    - relu
    - conv2d: {filters: 40, kernel: 3, padding: same, groups: 4}
    - flatten
    - dense: {units: 64}
    - relu
    - dense: {units: 10}
    - softmax
dataset: {type: digits, train_samples: 400, test_samples: 200}
training: {optimizer: adam, batch_size: 32, epochs: 2, compute: bf16_products, metrics: [categorical_accuracy]}
"""
WIDE = 3  # layers of 32 channels and filters and more, in one group


class Precision(CommandTest):
    def planned(self, *arguments, plan="plan.json"):
        path = self.compile(*arguments, spec="job.yaml", plan=plan)
        with open(path, encoding="utf-8") as file:
            return path, json.load(file)

    def weights(self, folder):
        with open(self.path(folder + "/weights.safetensors"), "rb") as file:
            content = file.read()
        header = int.from_bytes(content[:8], "little")  # which names the plan
        return hashlib.sha256(content[8 + header:]).hexdigest()

    def loss(self, folder):
        return [event for event in self.history(folder) if event["event"] == "epoch"][-1]["train"]["loss"]

    def setUp(self):
        super().setUp()
        self.write("job.yaml", JOB)

    def test_wide_products_are_rounded_and_the_others_are_not(self):
        path, plan = self.planned()
        train = next(program for program in plan["programs"] if program["name"] == "train")
        kernels = {step["name"]: step["kernel"] for step in train["steps"]}
        rounded = [name for name, kernel in kernels.items() if kernel == "bf16"]
        # Forward and both gradients.
        self.assertEqual(len(rounded), 3 * WIDE, rounded)
        self.expect(self.dtnnc("summary", path), 0, "products in bf16")
        self.expect(self.dtnnc("explain", path, "bf16"), 0, "bf16")

    def test_it_trains_to_the_same_bits(self):
        for threads in ("1", "2"):
            path, _ = self.planned("--threads", threads)
            self.expect(self.dtnn_run(path, "--output", "a", "--force"), 0)
            self.expect(self.dtnn_run(path, "--output", "b", "--force"), 0)
            self.assertEqual(self.weights("a"), self.weights("b"))
            full, _ = self.planned("--threads", threads, "--set", "training.compute=full", plan="full.json")
            self.expect(self.dtnn_run(full, "--output", "full", "--force"), 0)
            self.assertNotEqual(self.weights("a"), self.weights("full"))
            self.assertLess(abs(self.loss("a") - self.loss("full")), 0.05 * self.loss("full"))

    def test_every_instruction_set(self):
        path, best = self.planned()
        self.expect(self.dtnn_run(path, "--output", "best", "--force"), 0)
        of_host = best["target"]["isa"]
        for isa in ("baseline", "avx2", "avx512", "avx512_bf16", "amx"):
            path, plan = self.planned("--isa", isa)
            self.assertEqual(plan["target"]["isa"], isa)
            done = self.dtnn_run(path, "--output", isa, "--force")
            if done.returncode != 0:  # a set that this machine or this build lacks
                self.expect(done, 5, isa)
                continue
            self.assertLess(abs(self.loss(isa) - self.loss("best")), 0.03 * self.loss("best"))
        self.assertIn(of_host, ("baseline", "avx2", "avx512", "avx512_bf16", "amx"))

    def test_a_plan_asks_for_what_it_uses(self):
        for settings in (["training.compute=full"], ["training.numerics=strict"]):
            words = [word for setting in settings for word in ("--set", setting)]
            _, plan = self.planned("--isa", "amx", *words)
            self.assertEqual(plan["target"]["isa"], "avx512")


if __name__ == "__main__":
    unittest.main()
