#!/usr/bin/env python3
"""Time series: what `dtnnc check` says of windows that do not fit, a training that is resumed, evaluation, and forecasts in
the table's own units."""

import csv
import io
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import read_safetensors
from commands import CommandTest

JOB = """kind: job
model: {layers: [gru: {units: 8}, last_step, dense: {units: "${classes}"}]}
dataset:
  type: series
  path: load.csv
  window: WINDOW
  horizon: 2
  ignored_names: [time]
  label_names: [load]
  group_name: place
  validation_share: 0.2
  test_share: 0.2
  feature_scaling: standard
  target_scaling: standard
training: {optimizer: {adam: {learning_rate: 0.01}}, loss: mean_squared_error, batch_size: 16, epochs: 4REST}
"""


class Series(CommandTest):
    def table(self, lines=120):
        """Two places, whose loads go by a period of 12 lines; the second is ten times the first."""
        text = "time,place,load,kind\n"
        for place, factor in (("a", 1), ("b", 10)):
            for i in range(lines):
                text += f"{i},{place},{factor * (1000 + 100 * (i % 12))},{factor}\n"
        self.write("load.csv", text)

    def job(self, window=12, rest=""):
        self.write("job.yaml", JOB.replace("WINDOW", str(window)).replace("REST", rest))
        return "job.yaml"

    def test_what_does_not_fit_is_said_at_its_line(self):
        self.table()
        said = self.expect(self.dtnnc("check", self.job(window=200)), 3)
        self.assertIn("job.yaml:6:11: error: `window` 200 and `horizon` 2 of dataset are longer", said.stderr)
        self.assertIn("load.csv has 240 lines", said.stderr)
        said = self.expect(self.dtnnc("check", self.job(rest=", validation_split: 0.1")), 3)
        self.assertIn("validation_share", said.stderr)

    def test_training_evaluation_and_forecasts(self):
        self.table()
        plan = self.compile(spec=self.job())
        dataset = json.loads(self.read("plan.json"))["dataset"]
        # 72 lines of each place are trained on, 24 kept for validation, 24 for the test.
        self.assertEqual(dataset["train_samples"], 2 * (72 - 12 - 2 + 1))
        self.assertEqual(dataset["validation_samples"], 2 * 23)
        self.assertEqual(dataset["test_samples"], 2 * 23)
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        said = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--format", "json"), 0)
        self.assertIn("test", json.loads(said.stdout))
        # A run that goes on has the same bits.
        shorter = self.compile("--set", "training.epochs=2", spec="job.yaml", plan="shorter.json")
        self.expect(self.dtnn_run(shorter, "--output", "half", "--progress", "none"), 0)
        self.expect(self.dtnn_run("--resume", "half", "--epochs", "4"), 0)
        self.assertEqual(read_safetensors(self.path("run/weights.safetensors"))[0],
                         read_safetensors(self.path("half/weights.safetensors"))[0])
        # What comes behind a table that has the window alone, its columns in another order and without a place.
        lines = "".join(f"1,{1000 + 100 * (i % 12)}\n" for i in range(12))
        self.write("now.csv", "kind,load\n" + lines)
        said = self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "now.csv"), 0)
        rows = list(csv.DictReader(io.StringIO(said.stdout)))
        self.assertEqual([row["sample"] for row in rows], ["now.csv, lines 2 to 13"])
        self.assertGreater(float(rows[0]["value_0"]), 100)
        # The training's own samples say what they are made of.
        said = self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test"), 0)
        rows = list(csv.DictReader(io.StringIO(said.stdout)))
        self.assertEqual(len(rows), 46)
        self.assertEqual(rows[0]["sample"], "load.csv, lines 86 to 97")
        self.assertEqual(float(rows[0]["target_0"]), 1000 + 100 * (96 % 12))


if __name__ == "__main__":
    unittest.main()
