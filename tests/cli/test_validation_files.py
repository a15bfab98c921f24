#!/usr/bin/env python3
"""Samples of validation that are files of their own, or have a name in an archive: folders, tables, masks, arrays, tars."""

import json
import os
import random
import sys
import tarfile
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tutorial", "data"))
from arrays import Array, write_npz
from commands import CommandTest
from png import write_png

COLOURS = {"blue": (0, 0, 200), "green": (0, 200, 0), "red": (200, 0, 0)}
JOB = """kind: job
model: {input: {shape: %s}, layers: [%s, softmax]}
dataset: %s
training: {optimizer: {adam: {learning_rate: 0.05}}, batch_size: 5, epochs: %d,
           metrics: [categorical_accuracy, confusion_matrix]%s}
"""


class ValidationFiles(CommandTest):
    def images(self, splits):
        for split, counts in splits.items():
            for name, count in counts.items():
                for i in range(count):
                    colour = [max(0, v - 7 * i) for v in COLOURS[name]]
                    write_png(self.path(f"d/{split}/{name}/{i}.png"), [bytes(colour * 4)] * 4)

    def run_of(self, layers, shape, dataset="d.yaml", epochs=3, rest=""):
        self.write("job.yaml", JOB % (shape, layers, dataset, epochs, rest))
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run", "--force", "--progress", "none"), 0)
        return json.loads(self.read("plan.json"))["dataset"]

    def evaluated(self, split):
        said = self.expect(self.dtnn_run("evaluate", "plan.json", "--weights", "run/weights.safetensors", "--split",
                                         split, "--format", "json"), 0).stdout
        return json.loads(said)[split]

    def predicted(self, split):
        said = self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input",
                                         split, "--format", "jsonl"), 0).stdout
        return [json.loads(line) for line in said.splitlines()]

    def test_folders(self):
        # The first class by name is not among the samples of validation: numbers follow from names.
        self.images({"train": dict.fromkeys(COLOURS, 7), "val": {"green": 4, "red": 2},
                     "test": dict.fromkeys(COLOURS, 3)})
        self.expect(self.dtnnc("data", "d", "--write", "d.yaml"), 0, "validation  6 samples of their own",
                    "training    21 samples")
        spec = self.read("d.yaml")
        for line in ("validation_folder: val", "validation_samples: 6", "train_samples: 21", "test_samples: 9"):
            self.assertIn(line + "\n", spec)
        dataset = self.run_of("flatten, dense: {units: 3}", "[3, 4, 4]", epochs=12,
                              rest=", schedules: [early_stopping: {patience: 11}]")
        self.assertEqual([dataset[k] for k in ("train_samples", "validation_samples", "test_samples",
                                               "source_train_samples")], [21, 6, 9, 27])
        validation = self.evaluated("validation")
        self.assertEqual([sum(row) for row in validation["confusion_matrix"]], [0, 4, 2])
        self.assertEqual([sum(row) for row in self.evaluated("train")["confusion_matrix"]], [7, 7, 7])
        self.assertEqual([sum(row) for row in self.evaluated("test")["confusion_matrix"]], [3, 3, 3])
        epochs = [line for line in self.history("run") if line["event"] == "epoch"]
        self.assertAlmostEqual(epochs[-1]["validation"]["loss"], validation["loss"], places=5)
        rows = self.predicted("validation")
        named = [("green", i, 1) for i in range(4)] + [("red", i, 2) for i in range(2)]
        self.assertEqual([(row["sample"], row["label"]) for row in rows],
                         [(f"d/val/{name}/{i}.png", label) for name, i, label in named])
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        # Found where the spec does not say.
        short = "{type: folder, path: d, validation_folder: val, transforms: [{normalize: {constants: imagenet}}]}"
        found = self.run_of("flatten, dense: {units: 3}", "[3, 4, 4]", dataset=short)
        self.assertEqual(found["validation_samples"], 6)
        os.remove(self.path("d/val/red/1.png"))
        self.expect(self.dtnn_run("plan.json", "--output", "again", "--progress", "none"), 5, "5 training and 0 test")
        self.images({"val": {"blue": 1}})
        os.rename(self.path("d/val/blue"), self.path("d/val/violet"))
        self.expect(self.dtnn_run("plan.json", "--output", "again", "--progress", "none"), 1,
                    "the samples of validation have the class `violet`")

    def test_tables(self):
        draw = random.Random(2)

        def table(name, count, kinds, header="a,b,kind"):
            lines = []
            for i in range(count):
                kind = kinds[i % len(kinds)]
                lines.append(f"{len(kind) + draw.random():.3f},{draw.random():.3f},{kind}\n")
            self.write(name, header + "\n" + "".join(lines))

        table("t_train.csv", 24, ("x", "yy", "zzz"))
        table("t_test.csv", 6, ("x", "yy", "zzz"))
        table("t_val.csv", 8, ("yy", "zzz"))
        self.expect(self.dtnnc("data", "t_train.csv", "--write", "d.yaml"), 0, "validation  8 samples of their own")
        self.run_of("flatten, dense: {units: 3}", "[2, 1, 1]")
        self.assertEqual([sum(row) for row in self.evaluated("validation")["confusion_matrix"]], [0, 4, 4])
        table("t_val.csv", 8, ("yy", "zzz"), "b,a,kind")
        self.expect(self.dtnn_run("plan.json", "--output", "again", "--progress", "none"), 1,
                    "its columns are not those of the training samples")

    def test_masks(self):
        for split, count in (("train", 6), ("val", 4), ("test", 3)):
            for i in range(count):
                rows = [[(x + i) % 2 for x in range(4)] for _ in range(4)]
                write_png(self.path(f"m/{split}/images/{i}.png"),
                          [bytes(200 * v for v in row for _ in range(3)) for row in rows])
                write_png(self.path(f"m/{split}/masks/{i}.png"), [bytes(row) for row in rows], 1)
        self.expect(self.dtnnc("data", "m", "--write", "m.yaml"), 0)
        self.run_of("conv2d: {filters: 2, kernel: 1}", "[3, 4, 4]", dataset="m.yaml", epochs=20)
        validation = self.evaluated("validation")
        self.assertEqual([sum(row) for row in validation["confusion_matrix"]], [32, 32])
        self.assertEqual(validation["categorical_accuracy"], 1)

    def arrays(self, parts, side=2):
        """x_PART, y_PART of these labels, whose pixels say them."""
        members = {}
        for part, labels in parts.items():
            pixels = [50.0 * label + i % 3 for label in labels for i in range(side * side)]
            members["x_" + part] = Array("<f4", (len(labels), 1, side, side), pixels)
            members["y_" + part] = Array("<i8", (len(labels),), labels)
        write_npz(self.path("a.npz"), members)

    def test_arrays(self):
        parts = {"train": [0, 1, 2] * 8, "test": [2, 1, 0], "val": [1, 1, 2, 1]}
        self.arrays(parts)
        self.expect(self.dtnnc("data", "a.npz", "--write", "d.yaml"), 0, "validation  4 samples of their own",
                    "training    24 samples")
        spec = self.read("d.yaml")
        for line in ("validation_name: val", "validation_samples: 4", "train_samples: 24", "test_samples: 3", "classes: 3"):
            self.assertIn(line + "\n", spec)
        dataset = self.run_of("flatten, dense: {units: 3}", "[1, 2, 2]", epochs=2,
                              rest=", schedules: [early_stopping: {metric: validation.loss, patience: 5}]")
        self.assertEqual([dataset[k] for k in ("train_samples", "validation_samples", "test_samples",
                                               "source_train_samples")], [24, 4, 3, 28])
        validation = self.evaluated("validation")
        self.assertEqual([sum(row) for row in validation["confusion_matrix"]], [0, 3, 1])
        self.assertEqual([sum(row) for row in self.evaluated("train")["confusion_matrix"]], [8, 8, 8])
        last = [line for line in self.history("run") if line["event"] == "epoch"][-1]
        self.assertAlmostEqual(last["validation"]["loss"], validation["loss"], places=5)
        self.assertEqual([(row["sample"], row["label"]) for row in self.predicted("validation")],
                         [(f"a.npz:x_val.npy[{i}]", label) for i, label in enumerate(parts["val"])])
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        # Counts of a plan are those of the file.
        self.arrays({**parts, "val": [1, 1]})
        self.expect(self.dtnn_run("plan.json", "--output", "again", "--progress", "none"), 5, "2 training and 0 test")
        # A class that is never trained; other shapes; labels that are not there.
        short = "{type: archive, path: a.npz, validation_name: val}"
        self.write("job.yaml", JOB % ("[1, 2, 2]", "flatten, dense: {units: 3}", short, 1, ""))
        self.arrays({**parts, "val": [1, 3]})
        self.expect(self.dtnnc("check", "job.yaml"), 3, "the samples of validation have the class `3`")
        self.arrays(parts)
        self.expect(self.dtnnc("check", "job.yaml"), 0)
        self.write("job.yaml", JOB % ("[1, 2, 2]", "flatten, dense: {units: 3}", short.replace("val}", "valid}"), 1, ""))
        self.expect(self.dtnnc("check", "job.yaml"), 3, "the array `x_valid` is not in it")
        whole = self.path("a.npz")
        self.arrays({"train": [0, 1, 2], "test": [0]})
        with zipfile.ZipFile(whole, "a") as archive:
            self.arrays_of_other_size(archive)
        self.write("job.yaml", JOB % ("[1, 2, 2]", "flatten, dense: {units: 3}", short, 1, ""))
        self.expect(self.dtnnc("check", "job.yaml"), 3, "x_val.npy: its shape is (1,1,3,3); samples of the dataset are [1,2,2]")

    def arrays_of_other_size(self, archive):
        write_npz(self.path("other.npz"), {"x_val": Array("<f4", (1, 1, 3, 3), [0.5] * 9), "y_val": Array("<i8", (1,), [0])})
        with zipfile.ZipFile(self.path("other.npz")) as other:
            for name in other.namelist():
                archive.writestr(name, other.read(name))

    def test_arrays_without_test_samples(self):
        self.arrays({"train": [0, 1] * 10, "val": [1, 0, 1]})
        self.expect(self.dtnnc("data", "a.npz", "--write", "d.yaml"), 0, "validation  3 samples of their own")
        self.assertIn("test_share: 0.2\n", self.read("d.yaml"))
        dataset = self.run_of("flatten, dense: {units: 2}", "[1, 2, 2]")
        self.assertEqual([dataset[k] for k in ("train_samples", "validation_samples", "test_samples")], [16, 3, 4])
        self.assertEqual([sum(row) for row in self.evaluated("validation")["confusion_matrix"]], [1, 2])

    def test_tar_of_images(self):
        # A class may be called as a split is.
        self.images({"train": dict.fromkeys(COLOURS, 4), "val": {"green": 3, "red": 1}, "test": dict.fromkeys(COLOURS, 2)})
        for split in ("train", "val"):
            os.rename(self.path(f"d/{split}/red"), self.path(f"d/{split}/test"))
        os.rename(self.path("d/test/red"), self.path("d/test/test"))
        with tarfile.open(self.path("d.tar.gz"), "w:gz") as tar:
            tar.add(self.path("d"), "flowers")
        self.expect(self.dtnnc("data", "d.tar.gz", "--write", "d.yaml"), 0, "validation  4 samples of their own")
        self.assertIn("validation_name: val\n", self.read("d.yaml"))
        self.run_of("flatten, dense: {units: 3}", "[3, 4, 4]")
        self.assertEqual([sum(row) for row in self.evaluated("validation")["confusion_matrix"]], [0, 3, 1])
        self.assertEqual([sum(row) for row in self.evaluated("test")["confusion_matrix"]], [2, 2, 2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
