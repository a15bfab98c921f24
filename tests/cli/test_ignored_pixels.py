#!/usr/bin/env python3
"""Pixels that belong to no class (`ignored_value`): losses, gradients and metrics against sums over those that count, in
plain Python; the same for batches, accumulation and ranks; PNG masks, arrays, augmentations."""

import json
import math
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tutorial", "data"))
from arrays import Array, read_npz, write_npz
from commands import DTNN_RUN, MPIEXEC, CommandTest, run, why_no_ranks
from png import write_png

MPI_MISSING = why_no_ranks()

SIDE, CLASSES, SAMPLES, TEST = 5, 3, 8, 4
IGNORED = 255
# A product for each pixel, from weights of 0: all probabilities are a third.
JOB = """kind: job
name: seg
%s
model:
  input: {shape: [2, 5, 5]}
  layers: [conv2d: {filters: 3, kernel: 1, weights_initializer: zeros, bias: false}, softmax]
dataset: {kind: dataset, name: seg, type: archive, path: seg.npz, labels: pixel, ignored_value: 255%s}
training: {optimizer: {sgd: {learning_rate: 1}}, shuffle: false, batch_size: %d, epochs: 1, %s
           metrics: [categorical_accuracy, confusion_matrix, recall, roc_auc, top_k_accuracy: {k: 2}, mean_iou,
                     mean_iou: {average: per_class}, mean_iou: {average: micro}, cross_entropy, perplexity]}
"""


class IgnoredPixels(CommandTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(11)
        self.x, self.y = {}, {}
        for split, count in (("train", SAMPLES), ("test", TEST)):
            self.x[split] = [draw.uniform(-1, 1) for _ in range(count * 2 * SIDE * SIDE)]
            # Samples with few pixels that count, and one with none.
            self.y[split] = [draw.randrange(CLASSES) if draw.random() < (i // (SIDE * SIDE) % 4) / 4 else IGNORED
                             for i in range(count * SIDE * SIDE)]
        self.save()

    def save(self):
        write_npz(self.path("seg.npz"), {f"{name}_{split}": array for split, count in (("train", SAMPLES), ("test", TEST))
                                         for name, array in (("x", Array("<f4", (count, 2, SIDE, SIDE), self.x[split])),
                                                             ("y", Array("|u1", (count, SIDE, SIDE), self.y[split])))})

    def pixels(self, split):
        """(two numbers, label) of every pixel."""
        area = SIDE * SIDE
        for i, label in enumerate(self.y[split]):
            sample, at = divmod(i, area)
            yield [self.x[split][(sample * 2 + c) * area + at] for c in range(2)], label

    def train(self, batch=SAMPLES, head="", dataset="", rest="", ranks=0):
        self.write("seg.yaml", JOB % (head, dataset, batch, rest))
        plan = self.compile(spec="seg.yaml")
        launcher = ["--ranks", str(ranks)] if ranks else []
        self.expect(self.dtnn_run(plan, "--output", "run", "--force", "--progress", "none", *launcher), 0)
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "w.npz"), 0)
        weights = list(read_npz(self.path("w.npz")).values())
        self.assertEqual([w.shape for w in weights], [(3, 2, 1, 1)])
        return weights[0].data

    def step(self, class_weights=(1, 1, 1)):
        """The weights after one step of a learning rate of 1 from 0: minus the gradient of the mean over what counts."""
        counted = [(x, label) for x, label in self.pixels("train") if label != IGNORED]
        total = sum(class_weights[label] for _, label in counted)
        weights = [0.0] * (CLASSES * 2)
        for x, label in counted:
            for c in range(CLASSES):
                for i in range(2):
                    weights[c * 2 + i] -= class_weights[label] * (1 / 3 - (c == label)) * x[i] / total
        return weights

    def close(self, found, wanted, places=6):
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted):
            self.assertAlmostEqual(a, b, places=places)

    def test_the_mean_is_over_pixels_that_count(self):
        weights = self.train()
        self.close(weights, self.step())
        start = self.history("run")
        first = next(line for line in start if line["event"] == "epoch")["train"]
        self.assertAlmostEqual(first["loss"], math.log(3), places=6)
        # Evaluation of the test split with these weights.
        loss, right, second, counted = 0.0, 0, 0, 0
        matrix = [[0] * CLASSES for _ in range(CLASSES)]
        for x, label in self.pixels("test"):
            if label == IGNORED:
                continue
            logits = [sum(weights[c * 2 + i] * x[i] for i in range(2)) for c in range(CLASSES)]
            total = sum(math.exp(z) for z in logits)
            loss -= math.log(math.exp(logits[label]) / total)
            best = logits.index(max(logits))
            matrix[label][best] += 1
            right += best == label
            second += sum(z > logits[label] for z in logits) < 2
            counted += 1
        self.assertLess(counted, TEST * SIDE * SIDE)
        said = json.loads(self.expect(self.dtnn_run("evaluate", "plan.json", "--weights", "run/weights.safetensors",
                                                    "--format", "json"), 0).stdout)["test"]
        self.assertAlmostEqual(said["loss"], loss / counted, places=5)
        self.assertAlmostEqual(said["cross_entropy"], loss / counted, places=5)
        self.assertAlmostEqual(said["perplexity"], math.exp(loss / counted), places=5)
        self.assertAlmostEqual(said["categorical_accuracy"], right / counted, places=6)
        self.assertAlmostEqual(said["top_2_accuracy"], second / counted, places=6)
        self.assertEqual(said["confusion_matrix"], matrix)
        recalls = [matrix[c][c] / sum(matrix[c]) for c in range(CLASSES)]
        self.assertAlmostEqual(said["recall"], sum(recalls) / CLASSES, places=6)
        # Pixels that are a class and were taken for it, of those that are either (Jaccard, 1901).
        each = []
        for c in range(CLASSES):
            found = sum(row[c] for row in matrix)
            each.append(matrix[c][c] / (sum(matrix[c]) + found - matrix[c][c]))
        self.close(said["mean_iou_per_class"], each, places=12)
        self.assertAlmostEqual(said["mean_iou"], sum(each) / CLASSES, places=12)
        self.assertAlmostEqual(said["mean_iou_micro"], right / (2 * counted - right), places=12)
        # The area by pairs: how often a pixel of the class has the larger number.
        areas = []
        scores = []
        for x, label in self.pixels("test"):
            if label != IGNORED:
                logits = [sum(weights[c * 2 + i] * x[i] for i in range(2)) for c in range(CLASSES)]
                total = sum(math.exp(z) for z in logits)
                scores.append(([math.exp(z) / total for z in logits], label))
        for c in range(CLASSES):
            mine = [p[c] for p, label in scores if label == c]
            others = [p[c] for p, label in scores if label != c]
            areas.append(sum((a > b) + (a == b) / 2 for a in mine for b in others) / (len(mine) * len(others)))
        self.assertAlmostEqual(said["roc_auc"], sum(areas) / CLASSES, places=5)

    def test_overlap_is_of_all_batches_and_ranks(self):
        """Counts are added up, so the number of batches and ranks changes no bit; a mean of batches' values would be another."""
        self.train()
        said = {}
        for batch in (1, 3, TEST):
            self.write("some.yaml", JOB % ("parallel: {data: auto}", "", batch, ""))
            plan = self.compile(spec="some.yaml")
            for ranks in (0, 2) if batch < TEST and not MPI_MISSING else (0,):
                launcher = [MPIEXEC, "-n", str(ranks)] if ranks else []
                done = self.expect(run(*launcher, DTNN_RUN, "evaluate", plan, "--weights", "run/weights.safetensors",
                                       "--format", "json", cwd=self.folder), 0)
                test = json.loads(done.stdout)["test"]
                said[batch, ranks] = [test[name] for name in ("mean_iou", "mean_iou_per_class", "mean_iou_micro")]
        self.assertGreater(len(said), 2)
        for one in said.values():
            self.assertEqual(one, said[TEST, 0])
        self.assertEqual(len(set(said[TEST, 0][1])), CLASSES)

    def test_weights_of_classes_count_besides(self):
        rest = "loss: {categorical_cross_entropy: {class_weights: [1, 2, 5]}},"
        self.close(self.train(rest=rest), self.step((1, 2, 5)))

    def test_numbers_of_ignored_pixels_change_nothing(self):
        weights = self.train()
        area = SIDE * SIDE
        for split in self.x:
            for i, label in enumerate(self.y[split]):
                if label == IGNORED:
                    for c in range(2):
                        self.x[split][(i // area * 2 + c) * area + i % area] = 0.5
        self.save()
        self.close(self.train(), weights, places=7)

    def test_batches_and_accumulation_are_one_step(self):
        self.close(self.train(batch=2, rest="accumulation: 4,"), self.step())
        self.close(self.train(batch=1, rest="accumulation: 8,"), self.step())

    @unittest.skipIf(MPI_MISSING, MPI_MISSING)
    def test_ranks_are_one_step(self):
        self.close(self.train(batch=4, head="parallel: {data: auto}", ranks=2), self.step())
        self.close(self.train(batch=1, head="parallel: {data: auto}", rest="accumulation: 2,", ranks=4), self.step())

    def test_where_nothing_counts_nothing_is_learnt(self):
        self.y["train"] = [IGNORED] * len(self.y["train"])
        self.y["test"][:3] = [0, 1, 2]
        self.save()
        self.close(self.train(dataset=", classes: 3"), [0.0] * 6)
        epoch = next(line for line in self.history("run") if line["event"] == "epoch")["train"]
        self.assertEqual(epoch["loss"], 0)
        self.assertEqual(epoch["categorical_accuracy"], 0)

    def test_masks_of_pngs(self):
        draw = random.Random(5)
        for split in ("train", "test"):
            for i in range(6):
                labels = [[draw.choice((0, 1, 2, IGNORED)) for _ in range(6)] for _ in range(6)]
                write_png(self.path(f"voc/{split}/images/{i}.png"),
                          [bytes(v for label in row for v in (label % 200, 40 * (label == 1), 9)) for row in labels])
                write_png(self.path(f"voc/{split}/masks/{i}.png"), [bytes(row) for row in labels], 1)
        self.expect(self.dtnnc("data", "voc", "--write", "voc.yaml"), 0, "ignored_value", "do not count")
        spec = self.read("voc.yaml")
        for line in ("ignored_value: 255", "classes: 3"):
            self.assertIn(line, spec)
        self.assertNotIn("mask_values", spec)
        job = ("kind: job\nmodel: {input: {shape: [3, 6, 6]}, layers: [conv2d: {filters: 3, kernel: 1}, softmax]}\n"
               "dataset: {extends: voc, augmentations: [flip, {rotation: {degrees: 30}}, {random_crop: {padding: 2}}]}\n"
               "training: {batch_size: 3, epochs: 2, metrics: [categorical_accuracy%s]%s}\n")
        self.write("job.yaml", job % ("", ""))
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0, "accuracy")
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        self.write("bad.yaml", job % (", mean_squared_error", ", loss: dice"))
        self.expect(self.dtnnc("check", "bad.yaml"), 3, "the loss `dice` counts every pixel",
                    "the metric `mean_squared_error` counts every pixel", "[labels-mismatch]")
        self.write("unsaid.yaml", spec.replace("ignored_value: 255\n", "") + "name: unsaid\n")
        self.expect(self.dtnnc("data", "unsaid.yaml"), 1, "is 255; classes are 0 to 2", "dataset.ignored_value")


if __name__ == "__main__":
    unittest.main(verbosity=2)
