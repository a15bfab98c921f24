#!/usr/bin/env python3
"""Losses and metrics through both programs: every loss trains, and what the history says of one pass agrees."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest

# Loss and the layer that a model ends with; whether mixup can give it shares of classes.
LOSSES = [
    ("categorical_cross_entropy", "softmax", True),
    ("{categorical_cross_entropy: {smoothing: 0.1, class_weights: [1, 2, 1, 2, 1, 2, 1, 2, 1, 2]}}", "softmax", True),
    ("negative_log_likelihood", "log_softmax", True),
    ("binary_cross_entropy", "sigmoid", True),
    ("{binary_cross_entropy: {from_logits: true, positive_weights: [3]}}", "", True),
    ("kl_divergence", "log_softmax", True),
    ("mean_squared_error", "softmax", True),
    ("mean_absolute_error", "", True),
    ("{huber: {delta: 0.5}}", "", True),
    ("hinge", "", False),
    ("{hinge: {form: all, margin: 0.5}}", "", False),
    ("dice", "softmax", True),
]


class Measures(CommandTest):
    def job(self, loss="categorical_cross_entropy", end="softmax", metrics="[categorical_accuracy]", mixup=False, more=""):
        text = self.read("tiny.yaml").replace("metrics: [categorical_accuracy]", f"loss: {loss}, metrics: {metrics}{more}")
        text = text.replace("    - softmax\n", f"    - {end}\n" if end else "")
        if mixup:
            text = text.replace("test_samples: 70", "test_samples: 70, augmentations: [mixup]")
        return self.write("job.yaml", text)

    def evaluated(self, **job):
        self.job(**job)
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run"), 0)
        (evaluation,) = [e for e in self.history("run") if e["event"] == "evaluate"]
        return evaluation

    def test_metrics_of_a_pass_agree_with_its_confusion_matrix(self):
        metrics = ("[categorical_accuracy, {top_k_accuracy: {k: 10}}, {top_k_accuracy: {k: 1}}, precision, {recall: {average: per_class}}, f1, "
                   "{f1: {average: micro}}, confusion_matrix, roc_auc, hinge, mean_squared_error, mean_absolute_error]")
        evaluation = self.evaluated(metrics=metrics)
        self.assertEqual(evaluation["samples"], 70)  # batches of 64 and 6
        test = evaluation["test"]
        matrix = test["confusion_matrix"]
        classes = range(10)
        self.assertEqual(sum(map(sum, matrix)), 70)
        right = [matrix[c][c] for c in classes]
        labels = [sum(matrix[c]) for c in classes]
        guesses = [sum(row[c] for row in matrix) for c in classes]
        self.assertAlmostEqual(test["categorical_accuracy"], sum(right) / 70, places=15)
        self.assertEqual(test["top_1_accuracy"], test["categorical_accuracy"])
        self.assertEqual(test["f1_micro"], test["categorical_accuracy"])
        self.assertEqual(test["top_10_accuracy"], 1)
        recall = [right[c] / labels[c] if labels[c] else 0 for c in classes]
        self.assertEqual(test["recall_per_class"], recall)
        occur = [c for c in classes if labels[c] + guesses[c] > 0]
        precision = [right[c] / guesses[c] if guesses[c] else 0 for c in classes]
        self.assertAlmostEqual(test["precision"], sum(precision[c] for c in occur) / len(occur), places=12)
        self.assertAlmostEqual(test["f1"], sum(2 * right[c] / (labels[c] + guesses[c]) for c in occur) / len(occur), places=12)
        self.assertGreater(test["roc_auc"], 0.5)
        self.assertLess(test["mean_squared_error"], test["mean_absolute_error"])
        # Training batches have all of them but the area, which is of scores that are kept.
        epoch = [e for e in self.history("run") if e["event"] == "epoch"][-1]
        self.assertEqual(sum(map(sum, epoch["train"]["confusion_matrix"])), 270)
        self.assertNotIn("roc_auc", epoch["train"])
        self.assertIn("roc_auc", epoch["validation"])

    def test_every_loss_trains_with_and_without_mixup(self):
        for loss, end, soft in LOSSES:
            for mixup in ([False, True] if soft else [False]):
                with self.subTest(loss=loss, mixup=mixup):
                    self.job(loss, end, mixup=mixup, more=", seed: 3")
                    plan = self.compile("--set", "training.epochs=4", spec="job.yaml", plan=f"{abs(hash((loss, mixup)))}.json")
                    folder = os.path.basename(plan) + ".run"
                    self.expect(self.dtnn_run(plan, "--output", folder), 0)
                    epochs = [e for e in self.history(folder) if e["event"] == "epoch"]
                    self.assertLess(epochs[-1]["validation"]["loss"], epochs[0]["validation"]["loss"])

    def test_equal_weights_change_nothing_and_batches_count_by_their_weights(self):
        plain = self.evaluated()["test"]
        os.rename(self.path("run"), self.path("plain"))
        weighted = self.evaluated(loss="{categorical_cross_entropy: {class_weights: [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]}}")["test"]
        self.assertAlmostEqual(plain["loss"], weighted["loss"], places=5)
        self.assertEqual(plain["categorical_accuracy"], weighted["categorical_accuracy"])

    def test_scores_that_are_kept_are_in_the_plans_memory(self):
        def staging(metrics):
            self.job(metrics=metrics)
            plan = self.compile(spec="job.yaml")
            with open(plan, encoding="utf-8") as file:
                return json.load(file)["memory"]["staging"]

        none = staging("[categorical_accuracy]")
        self.assertEqual(staging("[f1, confusion_matrix]") - none, (4 * 8 + 2 * 32) * 100)
        self.assertEqual(staging("[roc_auc]") - none, 70 * (10 * 4 + 4 + 16))


if __name__ == "__main__":
    unittest.main()
