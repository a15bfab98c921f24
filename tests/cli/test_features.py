#!/usr/bin/env python3
"""Networks of several inputs with names, of real numbers and of integers: an .npz trains them, on ranks too, a killed
run goes on to the same bits, and predictions are of files that have an array for each input."""

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz, write_npz
from commands import DTNN_RUN, CommandTest, limit, why_no_ranks

MISSING = why_no_ranks()

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

    @unittest.skipIf(MISSING, MISSING)
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

    def sequences(self, axes, shape, layers, dataset="", training="", labels=None):
        """A job over arrays of the shape: its plan."""
        size = math.prod(shape)
        draw = random.Random(1)
        arrays = {}
        for split, count in (("train", 40), ("test", 12)):
            values = [draw.gauss(0, 1) for _ in range(count * size)]
            arrays[f"x_{split}"] = Array("<f4", (count, *shape), values)
            if labels is None:
                arrays[f"y_{split}"] = Array("<i8", (count,), [int(values[i * size] > 0) for i in range(count)])
            else:
                count_all = count * math.prod(labels)
                arrays[f"y_{split}"] = Array("<i8", (count, *labels), [draw.randrange(2) for _ in range(count_all)])
        write_npz(self.path("data.npz"), arrays)
        with open(self.path("given.npy"), "wb") as file:
            file.write(npy_bytes(arrays["x_test"]))
        self.write("mixed.yaml", f"kind: model\nname: mixed\ninput: {{shape: {list(shape)}, axes: [{axes}]}}\nlayers:\n"
                   + "".join(f"  - {layer}\n" for layer in layers))
        self.write("job.yaml", "kind: job\nname: mixed\nmodel: mixed.yaml\n"
                   f"dataset: {{type: archive, path: data.npz{dataset}}}\n"
                   f"training: {{optimizer: adam, batch_size: 10, epochs: 1{training}}}\n")

    def predicted(self, plan, source):
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", source, "-o", "p.npz"), 0)
        return read_npz(self.path("p.npz"))

    def test_any_number_of_extents(self):
        end = ["flatten", "dense: {units: 2}", "softmax"]
        for axes, shape, layers in (
                ("feature", (5,), ["dense: {units: 4}", "relu", "batch_norm"]),
                ("channel, step", (3, 4), ["batch_norm", "softmax: {axis: steps}", "dropout: {rate: 0.1}"]),
                ("channel, step", (3, 4), ["batch_norm: {name: a}", "mean", "sigmoid: {name: b}", "multiply: {from: [a, b]}"]),
                ("step, channel", (3, 4), ["dense: {units: 4}", "group_norm: {groups: 2}"]),
                ("step, step, feature", (3, 4, 5), ["dense: {units: 4}", "layer_norm"]),
                ("channel, step, step", (3, 8, 8), ["batch_norm", "slice: {axis: channels, begin: 1}", "relu"]),
                ("space, channel, step, space", (2, 3, 2, 3), ["layer_norm: {axis: channels}", "mean"])):
            with self.subTest(axes=axes, shape=shape, layers=layers):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                self.sequences(axes, shape, layers + end)
                plan = self.compile(spec="job.yaml")
                feature = json.loads(self.read(plan))["dataset"]["inputs"][0]
                kinds = axes.replace("step, channel", "step, feature") if axes.endswith("channel") else axes
                self.assertEqual((feature["dims"], feature["axes"]), (list(shape), kinds.split(", ")))
                self.train(plan, "--output", "run")
                self.train("--resume", self.path("run"), "--epochs", "+1")
                given = {source: self.predicted(plan, source)["probabilities"] for source in ("test", "data.npz", "given.npy")}
                self.assertEqual(given["test"], given["data.npz"])
                self.assertEqual(given["test"], given["given.npy"])
                self.expect(self.dtnn_run("report", "run"), 0)
                said = self.expect(self.dtnnc("data", "job.yaml", "--no-step"), 0).stdout
                self.assertIn("x".join(map(str, shape)) + " for the network", said)
                self.assertNotIn("pixels", said)
                self.expect(self.dtnnc("data", "job.yaml", "--no-step", "--contact-sheet", "s.png"), 2, "no images")
                self.expect(self.dtnnc("graph", "job.yaml", "-o", "g.svg"), 0)
                self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "a.png"), 1,
                            "no image", "give .npz or .npy files")

    def test_an_array_alone_is_of_the_only_input(self):
        draw = random.Random(2)
        arrays = {f"{name}_{split}": Array("<i8", (count, 6) if name == "words" else (count,),
                                           [draw.randrange(2) for _ in range(count * (6 if name == "words" else 1))])
                  for split, count in (("train", 40), ("test", 12)) for name in ("words", "y")}
        write_npz(self.path("data.npz"), arrays)
        with open(self.path("words.npy"), "wb") as file:
            file.write(npy_bytes(arrays["words_test"]))
        self.write("job.yaml", "kind: job\nname: words\nmodel:\n  name: words\n"
                   "  inputs: {words: {shape: [6], axes: [step], dtype: i32, values: 2}}\n"
                   "  layers: [embedding: {entries: 2, units: 3}, flatten, dense: {units: 2}, softmax]\n"
                   "dataset: {type: archive, path: data.npz}\ntraining: {epochs: 1, batch_size: 10}\n")
        plan = self.compile(spec="job.yaml")
        self.train(plan, "--output", "run")
        self.assertEqual(self.predicted(plan, "test")["probabilities"], self.predicted(plan, "words.npy")["probabilities"])

    def test_a_class_for_every_step(self):
        for axes, shape, labels, end in (
                ("step, feature", (6, 4), (6,), ["dense: {units: 2}", "softmax"]),
                ("step, step, feature", (2, 6, 4), (2, 6), ["dense: {units: 2}", "softmax"]),
                ("channel, step", (4, 6), (6,), ["slice: {axis: channels, end: 2}", "softmax"]),
                ("step, channel, step", (2, 4, 6), (2, 6), ["slice: {axis: channels, end: 2}", "softmax"])):
            with self.subTest(axes=axes):
                shutil.rmtree(self.path("run"), ignore_errors=True)
                self.sequences(axes, shape, end, ", labels: step", ", metrics: [categorical_accuracy, confusion_matrix]", labels)
                plan = self.compile(spec="job.yaml")
                target = json.loads(self.read(plan))["dataset"]["targets"][0]
                self.assertEqual((target["dims"], set(target["axes"])), (list(labels), {"step"}))
                self.train(plan, "--output", "run")
                self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors"), 0)
                self.expect(self.dtnn_run("report", "run"), 0)
                told = self.predicted(plan, "test")
                along = axes.split(", ").index("channel") if "channel" in axes else len(shape) - 1
                chances = told["probabilities"]
                wanted = list(shape)
                wanted[along] = 2
                self.assertEqual(chances.shape, (12, *wanted))
                self.assertEqual(told["class"].shape, (12, *labels))
                behind = math.prod(wanted[along + 1:])
                pairs = [(i // behind * behind * 2 + i % behind) for i in range(len(chances.data) // 2)]
                self.assertEqual(told["class"].data, [int(chances.data[p + behind] > chances.data[p]) for p in pairs])
                self.assertTrue(all(abs(chances.data[p] + chances.data[p + behind] - 1) < 1e-5 for p in pairs))
                for args in (("--format", "csv"), ("--format", "png", "-o", "masks")):
                    self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test", *args),
                                2, "predictions are [", "name a file that ends in .npz with -o")

    def test_sequences_that_are_their_own_labels(self):
        for axes, shape, layers in (("step, feature", (6, 4), ["dense: {units: 2}", "relu", "dense: {units: 4}"]),
                                    ("step, feature", (6, 4), ["flatten", "dense: {units: 24}"]),
                                    ("channel, step", (4, 6), ["batch_norm"]), ("feature", (5,), ["dense: {units: 5}"])):
            with self.subTest(layers=layers):
                self.sequences(axes, shape, layers, ", target: input", ", loss: mean_squared_error, metrics: [mean_absolute_error]")
                self.train(self.compile(spec="job.yaml"), "--output", "run", "--force")

    def test_mistakes_of_sequences(self):
        def refused(axes, shape, layers, *facts, dataset="", training="", labels=None):
            self.sequences(axes, shape, layers, dataset, training, labels)
            self.expect(self.dtnnc("check", "job.yaml"), 3, *facts)
        end = ["flatten", "dense: {units: 2}", "softmax"]
        refused("space, step, feature", (2, 3, 4), ["layer_norm"] + end, "are no neighbours", "`axis: channels`")
        refused("step, feature", (6, 4), ["dense: {units: 2}", "softmax: {axis: steps}"], "do not lie along steps",
                dataset=", labels: step", labels=(6,))
        refused("step, feature", (6, 4), end, "samples have no pixels", "`labels: step` is for", dataset=", labels: pixel")
        refused("feature", (6,), end[1:], "samples have no steps", dataset=", labels: step")
        refused("channel, space, space", (3, 4, 4), end, "samples are images", dataset=", labels: step")
        refused("step, feature", (6, 4), ["dense: {units: 3}", "softmax"], "each of 6 steps", "[6 steps, 2 features]",
                dataset=", labels: step, classes: 2", labels=(6,))
        refused("step, feature", (6, 4), end, "[6, 5]", "first input is [6, 4]", dataset=", shape: [6, 5]")

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
