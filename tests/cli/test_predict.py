#!/usr/bin/env python3
"""Predictions of files and splits, and evaluation of any split: what is written is what evaluation measures, and files
that cannot be predicted are named."""

import csv
import json
import math
import os
import random
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz, read_safetensors, write_npz, write_safetensors
from commands import CommandTest


def png(height, width, rows, channels=1):
    """A PNG file of 8-bit samples, row by row, channels last."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = width * channels
    raw = b"".join(b"\0" + bytes(rows[i * row:(i + 1) * row]) for i in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def job(dataset, layers, training, shape="[1, 6, 5]"):
    return f"""kind: job
name: made
model: {{kind: model, name: made, input: {{shape: {shape}}}, layers: {layers}}}
dataset: {{kind: dataset, name: made, {dataset}}}
training: {{kind: training, name: short, optimizer: sgd, batch_size: 8, epochs: 1, {training}}}
"""


class Predict(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(4)

    def train(self, spec, *arguments):
        plan = self.compile(*arguments, spec=spec)
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        return plan

    def predict(self, plan, *arguments, code=0, weights="run/weights.safetensors"):
        return self.expect(self.dtnn_run("predict", plan, "--weights", weights, *arguments), code)

    def rows(self, plan, *arguments):
        """JSON Lines of standard output."""
        return [json.loads(line) for line in self.predict(plan, *arguments, "--format", "jsonl").stdout.splitlines()]

    def evaluate(self, plan, split):
        process = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--split", split,
                                            "--format", "json"), 0)
        return json.loads(process.stdout)

    def bytes_of(self, count):
        return [self.random.randrange(256) for _ in range(count)]

    def test_every_split_is_predicted_as_it_is_evaluated(self):
        plan = self.train("tiny.yaml")
        for split, samples in (("train", 270), ("validation", 30), ("test", 70)):
            told = self.evaluate(plan, split)
            self.assertEqual(told["samples"], samples)
            rows = self.rows(plan, "--input", split)
            self.assertEqual([row["index"] for row in rows], list(range(samples)))
            right = sum(row["class"] == row["label"] for row in rows)
            self.assertAlmostEqual(right / samples, told[split]["categorical_accuracy"], places=12)
            loss = -sum(math.log(row["probabilities"][row["label"]]) for row in rows) / samples
            self.assertAlmostEqual(loss, told[split]["loss"], places=5)
            for row in rows:
                self.assertAlmostEqual(sum(row["probabilities"]), 1, places=5)
                self.assertEqual(row["probability"], max(row["probabilities"]))
                self.assertEqual(row["class"], row["probabilities"].index(row["probability"]))
        names = [row["sample"] for row in self.rows(plan, "--input", "validation")]
        self.assertTrue(names[0].startswith("train sample "), names[0])
        self.assertEqual(len(set(names)), 30)
        text = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--split", "train"),
                           0)
        self.assertTrue(text.stdout.startswith("train: loss "), text.stdout)
        self.compile("--set", "training.validation_split=0", plan="whole.json")
        for command in (("evaluate", "whole.json", "--split", "validation"),
                        ("predict", "whole.json", "--input", "validation")):
            self.expect(self.dtnn_run(*command, "--weights", "run/weights.safetensors"), 2, "no validation samples",
                        "validation_split")

    def test_the_three_formats_say_the_same(self):
        plan = self.train("tiny.yaml")
        lines = self.rows(plan, "--input", "test")
        self.predict(plan, "--input", "test", "-o", "p.csv")
        with open(self.path("p.csv"), encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), len(lines))
        for row, line in zip(table, lines):
            self.assertEqual((int(row["index"]), row["sample"], int(row["label"]), int(row["class"])),
                             (line["index"], line["sample"], line["label"], line["class"]))
            self.assertEqual(float(row["probability"]), line["probability"])
            self.assertEqual([float(row[f"probability_{i}"]) for i in range(10)], line["probabilities"])
        self.predict(plan, "--input", "test", "-o", "p.npz")
        arrays = read_npz(self.path("p.npz"))
        self.assertEqual(list(arrays), ["index", "sample", "label", "class", "probability", "probabilities",
                                        "class_names"])
        self.assertEqual(arrays["class_names"].data, [str(digit) for digit in range(10)])
        self.assertEqual(arrays["probabilities"].shape, (70, 10))
        self.assertEqual(arrays["sample"].data, [line["sample"] for line in lines])
        self.assertEqual(arrays["class"].data, [line["class"] for line in lines])
        single = struct.Struct("<f")
        self.assertEqual(arrays["probabilities"].data,
                         [single.unpack(single.pack(p))[0] for line in lines for p in line["probabilities"]])
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test", "-o",
                                  "p.txt"), 2, "p.txt", "--format")
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test",
                                  "--format", "npz"), 2, "standard output")
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test", "-o",
                                  "no/such/folder/p.csv"), 1, "no/such/folder/p.csv")

    def archive(self, samples, classes=3):
        """An .npz dataset of bytes; its test images also as PNG files and as arrays of both kinds."""
        pixels, labels = self.bytes_of(30 * samples), [i % classes for i in range(samples)]
        images = Array("|u1", (samples, 1, 6, 5), pixels)
        write_npz(self.path("data.npz"), {"x_train": images, "y_train": Array("<i8", (samples,), labels),
                                          "x_test": images, "y_test": Array("<i8", (samples,), labels)})
        os.mkdir(self.path("images"))
        for i in range(samples):
            with open(self.path(f"images/{i:03}.png"), "wb") as file:
                file.write(png(6, 5, pixels[30 * i:30 * i + 30]))
        with open(self.path("x.npy"), "wb") as file:
            file.write(npy_bytes(images))
        single = struct.Struct("<f")
        floats = [single.unpack(single.pack(pixel / 255))[0] for pixel in pixels]
        write_npz(self.path("x.npz"), {"x": Array("<f4", (samples, 6, 5), floats), "other": Array("<f4", (1,), [0])})
        return f"type: archive, path: data.npz, shape: [1, 6, 5], classes: {classes}, train_samples: {samples}, " \
               f"test_samples: {samples}"

    def test_images_and_arrays_are_predicted_like_the_dataset(self):
        dataset = self.archive(21)
        self.write("job.yaml", job(dataset + ", transforms: [{normalize: {mean: [0.4], deviation: [0.2]}}]",
                                   "[flatten, {dense: {units: 3}}, softmax]", "metrics: [categorical_accuracy]"))
        plan = self.train("job.yaml")
        wanted = [row["probabilities"] for row in self.rows(plan, "--input", "test")]
        files = [f"images/{i:03}.png" for i in range(21)]
        for given in (files, ["images"], ["x.npy"], ["x.npz"], ["images/000.png", *files[1:]]):
            rows = self.rows(plan, "--input", *given)
            self.assertEqual([row["probabilities"] for row in rows], wanted, given)
            self.assertNotIn("label", rows[0])
        self.assertEqual([row["sample"] for row in self.rows(plan, "--input", "images")], files)
        self.assertEqual(self.rows(plan, "--input", "x.npy")[20]["sample"], "x.npy[20]")
        # In another order, and a sample alone: what stands beside a sample in its batch does not matter.
        rows = self.rows(plan, "--input", "images/005.png", "x.npy", "images/005.png")
        self.assertEqual([row["probabilities"] for row in rows], [wanted[5], *wanted, wanted[5]])
        self.assertEqual(self.rows(plan, "--input", "images/017.png")[0]["probabilities"], wanted[17])

    def test_transforms_of_the_plan_are_applied_to_files(self):
        sizes = [(7, 9), (12, 6), (6, 5), (20, 30)]
        for split in ("train", "test"):
            for number, name in enumerate("ab"):
                os.makedirs(self.path(f"data/{split}/{name}"))
                for i, (height, width) in enumerate(sizes):
                    with open(self.path(f"data/{split}/{name}/{number}{i}.png"), "wb") as file:
                        file.write(png(height, width, self.bytes_of(3 * height * width), channels=3))
        self.write("job.yaml", job("type: folder, path: data, shape: [3, 0, 0], classes: 2, train_samples: 8, "
                                   "test_samples: 8, transforms: [{resize: {size: [6, 5]}}, to_gray]",
                                   "[flatten, {dense: {units: 2}}, softmax]", "metrics: [categorical_accuracy]"))
        plan = self.train("job.yaml")
        wanted = self.rows(plan, "--input", "test")
        self.assertEqual(wanted[0]["class_name"], "ab"[wanted[0]["class"]])
        given = self.rows(plan, "--input", "data/test/a", *(f"data/test/b/1{i}.png" for i in range(4)))
        self.assertEqual([row["probabilities"] for row in given], [row["probabilities"] for row in wanted])

    def test_what_cannot_be_predicted_is_named_with_its_remedy(self):
        dataset = self.archive(9)
        self.write("job.yaml", job(dataset, "[flatten, {dense: {units: 3}}, softmax]", ""))
        plan = self.train("job.yaml")

        def refused(name, data, *said, code=1):
            if data is not None:
                with open(self.path(name), "wb") as file:
                    file.write(data)
            process = self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input",
                                    "images/000.png", name, "-o", "p.csv")
            self.expect(process, code, name, *said)
            self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("p.csv")], [])

        good = png(6, 5, self.bytes_of(30))
        refused("text.png", b"no picture", "help:")
        refused("cut.png", good[:-20], "help:")
        refused("large.png", png(7, 5, self.bytes_of(35)), "1x7x5", "1x6x5", "resize")
        refused("absent.png", None, "No such file")
        refused("a.npy", npy_bytes(Array("<f4", (4, 5, 6), [0.0] * 120)), "(4,5,6)", "[1,6,5]")
        refused("last.npy", npy_bytes(Array("<f4", (2, 6, 5, 3), [0.0] * 180)), "transpose")
        refused("nan.npy", npy_bytes(Array("<f4", (1, 6, 5), [0.0] * 29 + [float("nan")])), "nan")
        refused("cut.npy", npy_bytes(Array("<f4", (1, 6, 5), [0.0] * 30))[:-1], "cut off")
        write_npz(self.path("two.npz"), {"a": Array("<f4", (6, 5), [0.0] * 30), "b": Array("<f4", (6, 5), [0.0] * 30)})
        refused("two.npz", None, "a, b", "`x`")
        os.mkdir(self.path("empty"))
        refused("empty", None, "no images")
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors"), 2, "--input")
        self.expect(self.dtnn_run("predict", plan, "--input", "test"), 2, "--weights")
        # Weights that give no numbers give no predictions.
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        own["dense_1.bias"] = Array("<f4", (3,), [3e38] * 3)
        own["dense_1.weights"] = Array("<f4", own["dense_1.weights"].shape, [3e38] * len(own["dense_1.weights"].data))
        write_safetensors(self.path("huge.safetensors"), own)
        process = self.predict(plan, "--input", "images/000.png", code=6, weights="huge.safetensors")
        self.assertIn("images/000.png", process.stderr)

    def test_numbers_of_64_bits_reach_a_network_of_64_bits(self):
        """A network that gives what it is given: tables, arrays of a dataset, and arrays to predict."""
        numbers = [0.1, 1 / 3]
        self.write("t.csv", "a,b\n" + "".join(f"{number!r},1\n" for number in numbers))
        array = Array("<f8", (2, 2, 1, 1), numbers + numbers)
        label = Array("<f8", (2, 1), [1.0, 1.0])
        write_npz(self.path("a.npz"), {"x_train": array, "y_train": label, "x_test": array, "y_test": label})
        write_npz(self.path("x.npz"), {"x": array})
        tables = "type: csv, path: t.csv, test_path: t.csv, shape: [1, 1, 1], label_columns: [2]"
        arrays = "type: archive, path: a.npz, shape: [2, 1, 1]"
        for channels, dataset, given in ((1, tables, "test"), (2, arrays, "test"), (2, arrays, "x.npz")):
            plan = self.compile(spec=self.write("wide.yaml", f"""kind: job
name: wide
model: {{kind: model, name: same, input: {{shape: [{channels}, 1, 1]}}, layers: [flatten, {{dense: {{units: 1}}}}]}}
dataset: {{kind: dataset, name: d, {dataset}, classes: 1, label_kind: values, train_samples: 2, test_samples: 2}}
training: {{kind: training, name: t, optimizer: sgd, loss: mean_squared_error, metrics: [], batch_size: 2, epochs: 1, dtype: f64}}
"""), plan="wide.json")
            write_npz(self.path("w.npz"), {"dense_1.weights": Array("<f8", (channels, 1), [1.0, 0.0][:channels]),
                                           "dense_1.bias": Array("<f8", (1,), [0.0])})
            process = self.expect(self.dtnn_run("predict", plan, "--weights", "w.npz", "--input", given, "--format",
                                                "jsonl"), 0)
            found = [json.loads(line)["values"][0] for line in process.stdout.splitlines()]
            self.assertEqual(found, numbers if channels == 1 else [numbers[0]] * 2, dataset)

    def test_a_folder_is_taken_with_the_folders_below(self):
        self.write("job.yaml", job(self.archive(9), "[flatten, {dense: {units: 3}}, softmax]", ""))
        plan = self.train("job.yaml")
        images = {}
        for name in ("b.png", "a/2.png", "a/1.png", "a/deep/3.png", ".hidden/4.png", "a/.5.png"):
            images[name] = self.path(f"pictures/{name}")
            os.makedirs(os.path.dirname(images[name]), exist_ok=True)
            with open(images[name], "wb") as file:
                file.write(png(6, 5, self.bytes_of(30)))
        self.write("pictures/a/README.txt", "about these")
        process = self.predict(plan, "--input", "pictures", "--format", "jsonl")
        self.assertEqual([json.loads(line)["sample"] for line in process.stdout.splitlines()],
                         ["pictures/a/1.png", "pictures/a/2.png", "pictures/a/deep/3.png", "pictures/b.png"])
        self.assertIn("pictures: passed over a file that is no image: a/README.txt", process.stderr)
        self.write("pictures/a/notes.txt", "not one of them")
        self.assertIn("pictures/a/notes.txt: it is no image", self.predict(plan, "--input", "pictures", code=1).stderr)

    def test_predictions_replace_nothing_that_they_are_made_of(self):
        self.write("job.yaml", job(self.archive(9), "[flatten, {dense: {units: 3}}, softmax]", ""))
        plan = self.train("job.yaml")
        write_npz(self.path("x.npz"), {"x": Array("<f4", (1, 1, 6, 5), [0.0] * 30)})
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "w.npz"), 0)
        os.symlink("x.npz", self.path("same.npz"))
        kept = {}
        for name in ("x.npz", "w.npz"):
            with open(self.path(name), "rb") as file:
                kept[name] = file.read()
        for output, given, what in (("x.npz", "x.npz", "one of the inputs"), ("./same.npz", "x.npz", "one of the inputs"),
                                    ("w.npz", "x.npz", "the file of weights"), ("data.npz", "test", "the dataset")):
            process = self.predict(plan, "--input", given, "-o", output, code=2, weights="w.npz")
            self.assertIn(f"{output} is {what}; the predictions would replace it", process.stderr)
        for name, content in kept.items():
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), content)

    def test_any_number_of_labels(self):
        rows = [[self.random.randrange(2) for _ in range(4)] for _ in range(19)]
        pixels = Array("|u1", (19, 1, 6, 5), self.bytes_of(30 * 19))
        labels = Array("<f4", (19, 4), [value for row in rows for value in row])
        write_npz(self.path("data.npz"), {"x_train": pixels, "y_train": labels, "x_test": pixels, "y_test": labels})
        dataset = "type: archive, path: data.npz, shape: [1, 6, 5], classes: 4, label_kind: multiple, " \
                  "train_samples: 19, test_samples: 19"
        self.write("job.yaml", job(dataset, "[flatten, {dense: {units: 4}}, sigmoid]",
                                   "loss: binary_cross_entropy, metrics: [binary_accuracy]"))
        plan = self.train("job.yaml")
        predicted = self.rows(plan, "--input", "test")
        self.assertEqual([row["labels"] for row in predicted],
                         [[i for i, value in enumerate(row) if value] for row in rows])
        right = 0
        for row, answers in zip(predicted, rows):
            self.assertEqual(row["classes"], [i for i, p in enumerate(row["probabilities"]) if p >= 0.5])
            right += sum((p > 0.5) == bool(answer) for p, answer in zip(row["probabilities"], answers))
        self.assertAlmostEqual(right / 76, self.evaluate(plan, "test")["test"]["binary_accuracy"], places=12)
        for row in self.rows(plan, "--input", "test", "--threshold", "0.55"):
            self.assertEqual(row["classes"], [i for i, p in enumerate(row["probabilities"]) if p >= 0.55])
        # The same network without its last layer, and a loss that takes logits: the same probabilities.
        self.write("logits.yaml", job(dataset, "[flatten, {dense: {units: 4}}]",
                                      "loss: {binary_cross_entropy: {from_logits: true}}, metrics: [binary_accuracy]"))
        logits = self.rows(self.compile(spec="logits.yaml", plan="logits.json"), "--input", "test")
        for one, other in zip(logits, predicted):
            for a, b in zip(one["probabilities"], other["probabilities"]):
                self.assertAlmostEqual(a, b, places=6)
        self.predict(plan, "--input", "test", "-o", "p.npz")
        arrays = read_npz(self.path("p.npz"))
        self.assertEqual(arrays["labels"].data, [value for row in rows for value in row])
        self.assertEqual(arrays["classes"].data, [int(i in row["classes"]) for row in predicted for i in range(4)])
        self.predict(plan, "--input", "test", "-o", "p.csv")
        with open(self.path("p.csv"), encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual([[int(i) for i in row["classes"].split()] for row in table],
                         [row["classes"] for row in predicted])

    def test_values(self):
        pixels = Array("|u1", (19, 1, 6, 5), self.bytes_of(30 * 19))
        targets = Array("<f8", (19, 2), [self.random.uniform(-1, 1) for _ in range(38)])
        write_npz(self.path("data.npz"), {"x_train": pixels, "y_train": targets, "x_test": pixels, "y_test": targets})
        self.write("job.yaml", job("type: archive, path: data.npz, shape: [1, 6, 5], classes: 2, label_kind: values, "
                                   "train_samples: 19, test_samples: 19", "[flatten, {dense: {units: 2}}]",
                                   "loss: mean_squared_error, metrics: [mean_absolute_error]"))
        plan = self.train("job.yaml")
        rows = self.rows(plan, "--input", "test")
        loss = sum((a - b) ** 2 for row in rows for a, b in zip(row["values"], row["targets"])) / 38
        self.assertAlmostEqual(loss, self.evaluate(plan, "test")["test"]["loss"], places=6)
        self.predict(plan, "--input", "test", "-o", "p.csv")
        with open(self.path("p.csv"), encoding="utf-8", newline="") as file:
            self.assertEqual([[float(row["value_0"]), float(row["value_1"])] for row in csv.DictReader(file)],
                             [row["values"] for row in rows])

    def test_a_class_for_every_pixel(self):
        self.write("job.yaml", job("type: synthetic, shape: [2, 6, 5], classes: 3, labels: pixel, train_samples: 16, "
                                   "test_samples: 11", "[{conv2d: {filters: 3, kernel: 3, padding: 1}}, softmax]",
                                   "metrics: [categorical_accuracy]", shape="[2, 6, 5]"))
        plan = self.train("job.yaml")
        self.predict(plan, "--input", "test", "-o", "p.npz")
        arrays = read_npz(self.path("p.npz"))
        self.assertEqual(arrays["probabilities"].shape, (11, 3, 6, 5))
        self.assertEqual(arrays["class"].shape, (11, 6, 5))
        by_pixel = arrays["probabilities"].transpose(0, 2, 3, 1).data
        for i, best in enumerate(arrays["class"].data):
            numbers = by_pixel[3 * i:3 * i + 3]
            self.assertAlmostEqual(sum(numbers), 1, places=5)
            self.assertEqual(numbers.index(max(numbers)), best)
        right = sum(a == b for a, b in zip(arrays["class"].data, arrays["label"].data))
        self.assertAlmostEqual(right / 330, self.evaluate(plan, "test")["test"]["categorical_accuracy"], places=12)
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test"), 2,
                    "images [3,6,5]", ".npz")


class Mean(CommandTest):
    """The mean of what several runs predict."""

    def runs(self, layers, dataset, rest, shape="[1, 6, 5]"):
        for seed in (1, 2, 3):
            self.write("made.yaml", job(dataset, layers, rest, shape))
            plan = self.compile("--set", f"training.seed={seed}", spec="made.yaml", plan=f"plan_{seed}.json")
            self.expect(self.dtnn_run(plan, "--output", f"run_{seed}", "--progress", "none"), 0)

    def answers(self, runs, *arguments):
        process = self.expect(self.dtnn_run("predict", *runs, "--format", "jsonl", *arguments), 0)
        return [json.loads(line) for line in process.stdout.splitlines()]

    def check_mean(self, field, *arguments):
        single = [self.answers([f"run_{seed}"], *arguments) for seed in (1, 2, 3)]
        mean = self.answers(["run_1", "run_2", "run_3"], *arguments)
        self.assertEqual(len(mean), len(single[0]))
        for index, answer in enumerate(mean):
            self.assertEqual(answer["sample"], single[0][index]["sample"])
            for place, value in enumerate(answer[field]):
                expected = sum(one[index][field][place] for one in single) / 3
                self.assertAlmostEqual(value, expected, delta=1e-6 * max(1, abs(expected)))
        return mean, single

    def test_the_mean_of_classes_and_of_values(self):
        self.runs("[flatten, dense: {units: 4}, softmax]", "type: synthetic, shape: [1, 6, 5], classes: 4, "
                  "train_samples: 64, test_samples: 21", "loss: categorical_cross_entropy")
        mean, single = self.check_mean("probabilities", "--input", "test")
        for index, answer in enumerate(mean):
            self.assertEqual(answer["label"], single[0][index]["label"])
            self.assertEqual(answer["class"], max(range(4), key=answer["probabilities"].__getitem__))
        self.expect(self.dtnn_run("predict", "run_1", "run_2", "--input", "test", "-o", "mean.npz"), 0,
                    "the mean of what 2 networks predict", "wrote mean.npz")
        # What is not of the same question is refused, and nothing is written.
        self.write("made.yaml", job("type: synthetic, shape: [1, 6, 5], classes: 3, train_samples: 64, test_samples: 21",
                                    "[flatten, dense: {units: 3}, softmax]", "shuffle: true"))
        plan = self.compile(spec="made.yaml")
        self.expect(self.dtnn_run(plan, "--output", "other", "--progress", "none"), 0)
        self.expect(self.dtnn_run("predict", "run_1", "other", "--input", "test", "-o", "none.csv"), 5,
                    "other gives [3] numbers for a sample, run_1 [4]")
        self.assertFalse(os.path.exists(self.path("none.csv")))
        # Of validation, each seed keeps samples of its own.
        for arguments, code, text in (
                (("run_1", "run_2", "--weights", "run_1/weights.safetensors"), 2, "--weights is of one plan"),
                (("run_1", "nowhere"), 1, "nowhere is not there"), (("plan_1.json",), 2, "give --weights FILE"),
                (("run_1", "plan_2.json"), 2, "which weights plan_2.json has")):
            self.expect(self.dtnn_run("predict", *arguments, "--input", "test"), code, text)
        os.remove(self.path("run_2/weights.safetensors"))
        self.expect(self.dtnn_run("predict", "run_1", "run_2", "--input", "test"), 1, "run_2/weights.safetensors is not",
                    "dtnn-run --resume run_2")

    def test_the_mean_of_values_of_given_files(self):
        draw = random.Random(1)
        lines = [",".join(f"{draw.random():.3f}" for _ in range(4)) + "\n" for _ in range(60)]
        self.write("table.csv", "a,b,y,z\n" + "".join(lines))
        self.write("new.csv", "b,a\n0.5,0.25\n0.1,0.9\n")
        self.runs("[flatten, dense: {units: 2}]", "type: csv, path: table.csv, test_share: 0.2, label_kind: values, "
                  "label_names: [y, z], target_scaling: standard", "loss: mean_squared_error, validation_split: 0.25",
                  shape="[2, 1, 1]")
        self.check_mean("values", "--input", "new.csv")
        self.expect(self.dtnn_run("predict", "run_1", "run_2", "--input", "validation"), 5,
                    "run_2 has other samples in this split than run_1")
        evaluated = self.expect(self.dtnn_run("evaluate", "run_1"), 0, "test: loss")
        self.assertEqual(evaluated.stdout, self.expect(self.dtnn_run("evaluate", "plan_1.json", "--weights",
                                                                     "run_1/weights.safetensors"), 0).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
