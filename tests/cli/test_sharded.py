"""An optimizer that ranks share, started by mpiexec: the same losses, less memory, runs that go on by other ranks."""

import json
import os
import shutil
import unittest

from commands import DTNNC, DTNN_RUN, MPIEXEC, CommandTest, run, why_no_ranks

MISSING = why_no_ranks()

# The first dense layer's 600 KB go round the ring, the others by MPI's own calls.
JOB = """kind: job
name: shared
threads: 1
parallel: {data: auto, optimizer: sharded, bucket_size: 64KiB}
model:
  kind: model
  name: small
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 4, kernel: 3, stride: 2, padding: 1}
    - relu
    - flatten
    - dense: {units: 200}
    - relu
    - dense: {units: 10}
    - softmax
dataset: {kind: dataset, name: few, type: digits, train_samples: 330, test_samples: 70}
training: {kind: training, name: short, optimizer: {adamw: {learning_rate: 0.002, weight_decay: 0.01}}, batch_size: 4, epochs: 4,
           groups: [{parameters: "*.bias", weight_decay: 0}], validation_split: 0.1, metrics: [categorical_accuracy],
           clip: {norm: 2.0}, checkpoint: {every_epochs: 1, keep: 10}}
"""


class SharedOptimizer(CommandTest):
    def setUp(self):
        super().setUp()
        self.job = self.write("shared.yaml", JOB)

    def compile_job(self, plan, ranks, *settings):
        arguments = [word for setting in settings for word in ("--set", setting)]
        done = run(DTNNC, "compile", self.job, "--ranks", str(ranks), *arguments, "-o", self.path(plan))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(plan)

    def bytes(self, output):
        with open(os.path.join(self.path(output), "weights.safetensors"), "rb") as file:
            return file.read()


class Sharded(SharedOptimizer):
    def memory(self, plan):
        done = run(DTNNC, "summary", plan, "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["memory"]

    def refused(self, *settings):
        return run(DTNNC, "check", self.job, *[word for setting in settings for word in ("--set", setting)])

    def test_what_cannot_be_shared_is_refused(self):
        done = self.refused()
        self.assertEqual(done.returncode, 3)
        self.assertIn("the number of ranks, each of which has a part of the state, is not known", done.stderr)
        self.assertIn("write `data: N`, or say for how many with --ranks N", done.stderr)
        for optimizer in ("lars", "lamb"):
            done = self.refused("parallel.data=2", f"training.optimizer={optimizer}")
            self.assertEqual(done.returncode, 3, optimizer)
            self.assertIn(f"{optimizer} takes the norm of every whole tensor", done.stderr)
        self.assertEqual(self.refused("parallel.data=2").returncode, 0)

    def test_the_plan_says_what_a_rank_keeps(self):
        whole = self.memory(self.compile_job("w.json", 2, "parallel.optimizer=replicated"))
        for ranks in (2, 4):
            plan = self.compile_job(f"p{ranks}.json", ranks)
            part = self.memory(plan)
            self.assertLess(abs(part["optimizer"] * ranks / whole["optimizer"] - 1), 0.01)
            done = run(DTNNC, "summary", plan)
            self.assertIn(f"each rank has 1/{ranks} of the optimizer's state", " ".join(done.stdout.split()))
            done = run(DTNN_RUN, "--dry-run", "--ranks", str(ranks), plan)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run(DTNNC, "diff", self.path("w.json"), self.path("p2.json"), "--format", "json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(json.loads(done.stdout)["changes_the_mathematics"])

    def test_other_ranks_than_the_plan_s_are_refused(self):
        done = run(DTNN_RUN, self.compile_job("p.json", 3), "--output", self.path("r"))
        self.assertEqual(done.returncode, 5)
        self.assertIn("it is for 3 ranks, and there is 1", done.stderr)


@unittest.skipIf(MISSING, MISSING)
class SharedRuns(SharedOptimizer):
    def train(self, ranks, output, *words, expected=0):
        done = run(MPIEXEC, "-n", str(ranks), DTNN_RUN, *words, *(["--output", self.path(output)] if output else []),
                   "--progress", "plain", cwd=self.folder)
        self.assertEqual(done.returncode, expected, done.stderr)
        return done

    def losses(self, output):
        with open(os.path.join(self.path(output), "history.jsonl"), encoding="utf-8") as file:
            epochs = {event["epoch"]: event for event in map(json.loads, file) if event["event"] == "epoch"}
        return [epochs[epoch][part]["loss"] for epoch in sorted(epochs) for part in ("train", "validation")]

    def check_near(self, expected, found, bound):
        self.assertEqual(len(expected), len(found))
        for a, b in zip(expected, found):
            self.assertLessEqual(abs(a - b), bound * abs(a))

    def back_to_epoch(self, output, copy, epoch):
        """A copy of the run as it was when that epoch's checkpoint had been written."""
        shutil.copytree(self.path(output), self.path(copy))
        folder = os.path.join(self.path(copy), "checkpoints")
        names = sorted(name for name in os.listdir(folder) if name.isdigit())
        self.assertEqual(len(names), 4)
        for name in names[epoch:]:
            shutil.rmtree(os.path.join(folder, name))
        os.remove(os.path.join(self.path(copy), "weights.safetensors"))
        return self.path(copy)

    def test_losses_are_those_of_one_rank(self):
        for bound, dtype in ((1e-5, "f32"), (1e-12, "f64")):
            self.train(1, f"one-{dtype}", self.compile_job("one.json", 1, "parallel.optimizer=replicated", "training.batch_size=12",
                                                           f"training.dtype={dtype}"))
            expected = self.losses(f"one-{dtype}")
            for ranks in (2, 3):
                plan = self.compile_job("p.json", ranks, f"training.batch_size={12 // ranks}", f"training.dtype={dtype}")
                self.train(ranks, f"r{ranks}-{dtype}", plan)
                self.check_near(expected, self.losses(f"r{ranks}-{dtype}"), bound)

    def test_a_run_goes_on_with_the_same_bits_and_by_other_ranks(self):
        plan = self.compile_job("p3.json", 3)
        self.train(3, "whole", plan)
        self.train(3, "again", plan)
        self.assertEqual(self.bytes("again"), self.bytes("whole"))
        # The same ranks.
        self.train(3, "", "--resume", self.back_to_epoch("whole", "same", 2))
        self.assertEqual(self.bytes("same"), self.bytes("whole"))
        # Its own plan is for three.
        done = self.train(2, "", "--resume", self.back_to_epoch("whole", "fewer", 2), expected=5)
        self.assertIn("it is for 3 ranks, and there are 2", done.stderr)
        # Two, which share the optimizer or do not: alike.
        shared = self.compile_job("p2.json", 2)
        replicated = self.compile_job("w2.json", 2, "parallel.optimizer=replicated")
        self.train(2, "", shared, "--resume", self.path("fewer"))
        self.train(2, "", replicated, "--resume", self.back_to_epoch("whole", "replicated", 2))
        self.check_near(self.losses("replicated"), self.losses("fewer"), 1e-5)
        with open(os.path.join(self.path("fewer"), "plan.json"), "rb") as kept, open(shared, "rb") as given:
            self.assertEqual(kept.read(), given.read())
        # And back: what is the run's plan now needs not be said.
        self.train(2, "", "--resume", self.back_to_epoch("fewer", "on", 3))
        self.assertEqual(self.bytes("on"), self.bytes("fewer"))
        # Another training is none to go on with.
        other = self.compile_job("o.json", 3, "training.optimizer.adamw.learning_rate=0.1")
        done = self.train(3, "", other, "--resume", self.back_to_epoch("whole", "other", 2), expected=5)
        self.assertIn("is not the plan that", done.stderr)


if __name__ == "__main__":
    unittest.main()
