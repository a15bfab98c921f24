#!/usr/bin/env python3
"""Networks of several inputs with names, of real numbers and of integers: an .npz trains them, on ranks too, a killed
run goes on to the same bits, and predictions are of files that have an array for each input."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, read_npz, write_npz
from commands import DTNN_RUN, CommandTest, limit

MODEL = """kind: model
name: mixed
inputs:
  image: {shape: [1, 4, 4]}
  table: {shape: [3]}
  word: {shape: [2], dtype: i32, values: 5}
layers:
  - conv2d: {filters: 2, kernel: 3, padding: same}
  - flatten: {name: seen}
  - dense: {name: read, from: table, units: 4}
  - one_hot: {name: known, from: word, classes: 5}
  - concat: {from: [seen, read, known]}
  - dense: {units: 4}
  - softmax
"""
JOB = """kind: job
name: mixed
model: mixed.yaml
dataset: {type: archive, path: data.npz, classes: 4, train_samples: 60, test_samples: 20}
training: {optimizer: {adam: {learning_rate: 0.05}}, batch_size: 8, epochs: 30, metrics: [categorical_accuracy],
           checkpoint: {every_epochs: 1}}
parallel: {data: auto}
"""


class Features(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("mixed.yaml", MODEL)
        self.write("job.yaml", JOB)
        self.arrays = {}
        self.make("train", 60)
        self.make("test", 20)
        write_npz(self.path("data.npz"), self.arrays)

    def make(self, split, count):
        draw = random.Random(split)
        table = [draw.uniform(-1, 1) for _ in range(3 * count)]
        words = [draw.randrange(5) for _ in range(2 * count)]
        # The class needs the integer and the table, each.
        labels = [2 * (words[2 * i] % 2) + (table[3 * i] > 0) for i in range(count)]
        self.arrays[f"image_{split}"] = Array("|u1", (count, 1, 4, 4), [draw.randrange(256) for _ in range(16 * count)])
        self.arrays[f"table_{split}"] = Array("<f4", (count, 3), table)
        self.arrays[f"word_{split}"] = Array("<i8", (count, 2), words)
        self.arrays[f"y_{split}"] = Array("<i8", (count,), labels)

    def train(self, *args):
        return self.expect(self.dtnn_run(*args, "--progress", "none"), 0)

    def bytes(self, name):
        with open(self.path(f"{name}/weights.safetensors"), "rb") as file:
            return file.read()

    def test_trains_and_predicts(self):
        plan = self.compile(spec="job.yaml")
        inputs = json.loads(self.read("plan.json"))["dataset"]["inputs"]
        self.assertEqual([(i["name"], i["dtype"], i["dims"]) for i in inputs],
                         [("image", "f32", [1, 4, 4]), ("table", "f32", [3]), ("word", "i32", [2])])
        self.train(plan, "--output", "run")
        with open(self.path("run/history.jsonl"), encoding="utf-8") as file:
            last = [line for line in map(json.loads, file) if line["event"] == "epoch"][-1]
        self.assertGreater(last["train"]["categorical_accuracy"], 0.95)
        said = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--format", "json"), 0)
        self.assertGreater(json.loads(said.stdout)["test"]["categorical_accuracy"], 0.8)
        # Files with an array for each input give what the dataset gives.
        for ending in ("", "_test"):
            write_npz(self.path("some.npz"), {name + ending: self.arrays[f"{name}_test"]
                                              for name in ("image", "table", "word")})
            given = {}
            for source in ("test", "some.npz"):
                self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", source,
                                          "-o", "p.npz"), 0)
                given[source] = read_npz(self.path("p.npz"))["probabilities"]
            self.assertEqual(given["test"], given["some.npz"])
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "a.png"), 1,
                    "`image`, `table`, `word`", "an .npz file that has an array for each")

    def test_several_inputs_in_drawings_and_summaries(self):
        for args in (("summary", "mixed.yaml"), ("graph", "mixed.yaml", "-o", "g.svg"), ("check", "job.yaml")):
            self.expect(self.dtnnc(*args), 0)
        self.assertIn("word", self.read("g.svg"))

    @unittest.skipUnless(shutil.which("mpiexec"), "MPICH is not installed")
    def test_ranks(self):
        plan = self.compile(spec="job.yaml")
        self.train(plan, "--output", "one")
        two = self.compile("--set", "training.batch_size=4", "--ranks", "2", spec="job.yaml")
        self.train("--ranks", "2", two, "--output", "two")
        for name in ("one", "two"):
            with open(self.path(f"{name}/history.jsonl"), encoding="utf-8") as file:
                losses = [line["train"]["loss"] for line in map(json.loads, file) if line["event"] == "epoch"]
            if name == "one":
                expected = losses
        for a, b in zip(expected, losses, strict=True):
            self.assertLessEqual(abs(a - b), 1e-3 * abs(a))

    def test_a_killed_run_goes_on_to_the_same_bits(self):
        plan = self.compile("--set", "training.epochs=400", spec="job.yaml")
        self.train(plan, "--output", "whole")
        job = subprocess.Popen([DTNN_RUN, plan, "--output", self.path("killed"), "--progress", "none"], cwd=self.folder,
                               stderr=subprocess.PIPE, text=True)
        for _ in range(int(limit(600))):
            if os.path.exists(self.path("killed/checkpoints/latest")):
                break
            time.sleep(0.02)
        job.send_signal(signal.SIGKILL)
        job.communicate(timeout=limit(60))
        self.train("--resume", self.path("killed"))
        self.assertEqual(self.bytes("killed"), self.bytes("whole"))

    def refused(self, text, *facts, job=JOB):
        self.write("mixed.yaml", text)
        self.write("job.yaml", job)
        self.expect(self.dtnnc("check", "job.yaml"), 3, *facts)

    def test_mistakes_of_models(self):
        for old, new, facts in (
                ("dense: {name: read, from: table, units: 4}", "dense: {name: read, from: word, units: 4}",
                 ("dense takes real numbers, and the input `word` is of integers", "`one_hot: {classes: 5}`")),
                (", values: 5", "", ("an input of integers has no `values`",)),
                (", dtype: i32", "", ("`values` of input is of integers, and its elements are real numbers",)),
                ("shape: [2], dtype", "shape: [2, 2], dtype", ("an input of integers has one",)),
                ("  table:", "  labels:", ("an input cannot be called `labels`",)),
                ("from: table", "from: tabel", ("did you mean `table`?",)),
                ("inputs:\n", "input: {shape: [1, 4, 4]}\ninputs:\n", ("both `input` and `inputs`",)),
                ("from: [seen, read, known]", "from: [seen, known]", ("no layer reads",))):
            self.assertIn(old, MODEL)
            self.refused(MODEL.replace(old, new), *facts)

    def test_mistakes_of_datasets(self):
        self.refused(MODEL, "has no arrays for inputs that have names", "`{type: archive, path: data.npz}`",
                     job=JOB.replace("type: archive, path: data.npz, classes: 4, ", "type: digits, "))
        self.refused(MODEL, "mixup mixes samples, and the model has an input of integers",
                     job=JOB.replace("classes: 4", "classes: 4, augmentations: [{mixup: {alpha: 0.2}}]"))

    def test_sequences(self):
        model = ("kind: model\nname: mixed\ninput: {shape: [4, 3], axes: [step, feature]}\nlayers:\n  - dense: {units: 8}\n"
                 "  - softmax: {axis: steps}\n  - mean\n  - dense: {units: 4}\n  - softmax\n")
        self.write("mixed.yaml", model)
        self.write("job.yaml", JOB)
        write_npz(self.path("data.npz"), {
            **{f"x_{split}": Array("<f4", (count, 4, 3), [i % 7 / 7 for i in range(12 * count)])
               for split, count in (("train", 60), ("test", 20))},
            **{name: self.arrays[name] for name in ("y_train", "y_test")}})
        self.train(self.compile("--set", "training.epochs=1", spec="job.yaml"), "--output", "run")
        self.assertIn("4x3", self.expect(self.dtnnc("summary", "mixed.yaml"), 0).stdout)
        # The spec that a plan holds compiles to the same steps.
        self.write("mixed.yaml", model.replace("[step, feature]", "[feature, step]").replace("  - dense: {units: 8}\n", ""))
        turned = self.compile(spec="job.yaml", plan="turned.json")
        self.write("again.yaml", json.loads(self.read(turned))["resolved_spec"])
        self.assertIn("axes: [feature, step]", self.read("again.yaml"))
        again = self.compile(spec="again.yaml", plan="again.json")
        self.assertEqual(*([(step["op"], step["attributes"]) for program in json.loads(self.read(plan))["programs"]
                            for step in program["steps"]] for plan in (turned, again)))
        made_up = self.compile(spec="mixed.yaml")
        self.train(made_up, "--output", "made_up")
        self.refused(model, "transforms and augmentations change images, and the model's first input is none",
                     job=JOB.replace("classes: 4", "classes: 4, transforms: [{resize: {size: [8, 8]}}]"))
        self.refused(model, "has no arrays for inputs that have names, are of integers or are no images",
                     job=JOB.replace("type: archive, path: data.npz, classes: 4, ", "type: digits, "))

    def test_mistakes_of_files(self):
        plan = self.compile(spec="job.yaml")
        for name, array, facts in (
                ("word_train", Array("<i8", (60, 2), [5] * 120), ("it holds 5; the input `word` may have 0 to 4",)),
                ("word_train", Array("<f4", (60, 2), [1.0] * 120), ("its elements are float32", "astype(numpy.int32)")),
                ("table_train", Array("<f4", (60, 4), [1.0] * 240), ("its shape is (60,4); samples of the dataset are [3]",)),
                ("table_train", Array("<f4", (59, 3), [1.0] * 177), ("it has 59 samples",)),
                ("table_train", None, ("the array `table_train` is not in it",))):
            arrays = dict(self.arrays)
            if array is None:
                del arrays[name]
            else:
                arrays[name] = array
            write_npz(self.path("data.npz"), arrays)
            self.expect(self.dtnn_run(plan, "--output", "bad", "--force", "--progress", "none"), 1, *facts)


if __name__ == "__main__":
    unittest.main()
