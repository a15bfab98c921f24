#!/usr/bin/env python3
"""Data as it lies: `dtnnc data PATH --write`, specs that leave out what the files say, autoencoders, tables of values."""

import json
import os
import random
import re
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, read_npz, write_npz
from commands import CommandTest

COLOURS = {"blue": (0, 0, 200), "green": (0, 200, 0), "red": (200, 0, 0)}
NETWORK = "[conv2d: {filters: 4, kernel: 1}, relu, global_avg_pool2d, flatten, dense: {units: 3}, softmax]"
JOB = """kind: job
model:
  kind: model
  name: small
  input: {shape: %s}
  layers: %s
dataset: %s
training: {kind: training, optimizer: {adam: {learning_rate: 0.05}}, batch_size: 6, epochs: %d, %s}
"""
ACCURACY = "metrics: [categorical_accuracy]"
MATRIX = "metrics: [categorical_accuracy, confusion_matrix]"


def png(height, width, colour, shade):
    """A PNG of one colour, a little darker for every shade."""
    row = b"\0" + bytes(max(0, value - shade) for value in colour) * width

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b""))


class FoundData(CommandTest):
    def image(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)

    def images(self, splits=(("train", 12), ("test", 4)), size=lambda i: (8, 8)):
        for split, count in splits:
            for name, colour in COLOURS.items():
                for i in range(count):
                    self.image(os.path.join("flowers", split, name, f"{i}.png"), png(*size(i), colour, i))

    def job(self, dataset, layers=NETWORK, shape="[3, 8, 8]", epochs=8, rest=ACCURACY):
        self.write("job.yaml", JOB % (shape, layers, dataset, epochs, rest))
        return "job.yaml"

    def learn(self, dataset, metric="categorical_accuracy", **job):
        """Trains; what it has learnt of the test split."""
        plan = self.compile(spec=self.job(dataset, **job))
        self.expect(self.dtnn_run(plan, "--output", "run", "--force", "--progress", "none"), 0)
        evaluated = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--format",
                                              "json"), 0)
        return json.loads(evaluated.stdout)["test"][metric]

    def wrote(self, path, *arguments, name="own.yaml"):
        """The spec that is written of data, which compiles."""
        self.expect(self.dtnnc("data", path, "--write", name, *arguments), 0, f"wrote {name}")
        self.expect(self.dtnnc("check", name), 0)
        return self.read(name)

    def test_a_folder_with_splits_is_written_and_trains(self):
        self.images()
        spec = self.wrote("flowers")
        for line in ("type: folder", "path: flowers", "shape: [3, 8, 8]", "classes: 3", "train_samples: 36",
                     "test_samples: 12", "class_names: [blue, green, red]"):
            self.assertIn(line + "\n", spec)
        self.assertRegex(spec, r"(?m)^content_hash: \"xxh3:[0-9a-f]{16}\"$")
        mean = [sum(200 - i for i in range(12)) / 36 / 255] * 3
        deviation = (sum((200 - i) ** 2 for i in range(12)) / 36 / 255 ** 2 - mean[0] ** 2) ** 0.5
        self.assertIn(f"  - normalize: {{mean: [{', '.join(f'{x:.6g}' for x in mean)}], "
                      f"deviation: [{', '.join([f'{deviation:.6g}'] * 3)}]}}\n", spec)
        self.assertEqual(self.learn("own"), 1.0)
        said = json.loads(self.expect(self.dtnnc("data", "own.yaml", "--format", "json"), 0).stdout)
        self.assertIn(said["content"], spec)

    def test_a_folder_without_splits_keeps_a_share_for_the_test(self):
        self.images([("", 15)])
        spec = self.wrote("flowers")
        for line in ("test_share: 0.2", "train_samples: 36", "test_samples: 9"):
            self.assertIn(line + "\n", spec)
        self.assertEqual(self.learn("own"), 1.0)
        # Another share by the command line, counts and all.
        self.write("half.yaml", "kind: dataset\ntype: folder\npath: flowers\ntest_share: 0.4\n")
        plan = json.loads(self.read(self.compile(spec=self.job("half"))))
        self.assertIn('"train_samples":27', json.dumps(plan, separators=(",", ":")))

    def test_images_of_several_sizes_get_one(self):
        self.images(size=lambda i: (40 + i, 70 - i))
        spec = self.wrote("flowers")
        self.assertIn("shape: [3, 0, 0]\n", spec)
        self.assertIn("  - resize: {size: [32, 32]}\n", spec)
        self.assertIn("# images are from 40 x 59 to 51 x 70 pixels", spec)
        self.assertEqual(self.learn("own", shape="[3, 32, 32]"), 1.0)
        self.job("{kind: dataset, type: folder, path: flowers}")
        self.expect(self.dtnnc("check", "job.yaml"), 3, "the dataset's files say that images have several sizes",
                    "resize: {size: [64, 64]}")

    def test_channels_that_are_the_same_everywhere_are_not_divided(self):
        for name, shade in (("dark", 10), ("light", 200)):
            for i in range(5):
                self.image(f"shades/{name}/{i}.png", png(8, 8, (200, shade, 0), 0))
        self.assertRegex(self.wrote("shades"), r"deviation: \[1, 0\.\d+, 1\]")

    def test_an_image_beyond_the_usual_has_memory(self):
        self.images(size=lambda i: (3000, 1500) if i == 0 else (8, 8))
        spec = self.wrote("flowers")
        self.assertIn("most_pixels: 4500000\n", spec)

    def table(self, name, count, seed=1, header="length,width,kind\n"):
        draw = random.Random(seed)
        lines = []
        for i in range(count):
            label = i % 3
            lines.append(f"{label * 10 + draw.random():.4f},{100 - label * 20 + draw.random():.4f},{'abc'[label]}\n")
        self.write(name, header + "".join(lines))

    def test_tables_are_written_and_train(self):
        self.table("iris_train.csv", 60)
        self.table("iris_test.csv", 15, seed=2)
        spec = self.wrote("iris_train.csv")
        for line in ("type: csv", "test_path: iris_test.csv", "shape: [2, 1, 1]", "classes: 3",
                     "class_names: [a, b, c]", "train_samples: 60", "test_samples: 15"):
            self.assertIn(line + "\n", spec)
        self.assertIn("# the last column, `kind`, is taken for the label, and holds classes", spec)
        layers = "[flatten, dense: {units: 8}, relu, dense: {units: 3}, softmax]"
        self.assertEqual(self.learn("own", layers=layers, shape="[2, 1, 1]", epochs=20), 1.0)
        os.remove(self.path("iris_test.csv"))
        self.assertIn("test_share: 0.2\n", self.wrote("iris_train.csv", name="alone.yaml"))

    def test_arrays_are_written_and_train(self):
        x = [200 - i if channel == label else 0 for label in range(3) for i in range(12)
             for channel in range(3) for _ in range(4)]
        y = [label for label in range(3) for _ in range(12)]
        write_npz(self.path("a.npz"), {"x": Array("|u1", (36, 3, 2, 2), x), "y": Array("<i8", (36,), y)})
        spec = self.wrote("a.npz")
        for line in ("type: archive", "test_share: 0.2", "shape: [3, 2, 2]", "classes: 3", "train_samples: 29",
                     "test_samples: 7"):
            self.assertIn(line + "\n", spec)
        self.assertEqual(self.learn("own", shape="[3, 2, 2]"), 1.0)

    def test_what_is_left_out_is_found_and_held_against_the_files(self):
        self.images()
        bare = "{kind: dataset, type: folder, path: flowers}"
        self.assertEqual(self.learn(bare), 1.0)
        plan = self.path("plan.json")
        names = json.loads(self.read("plan.json"))
        self.assertIn('"names":["blue","green","red"]', json.dumps(names, separators=(",", ":")))
        resolved = self.expect(self.dtnnc("resolve", "job.yaml"), 0).stdout
        self.assertRegex(resolved, r"train_samples: 36 +# found in the data")
        self.assertRegex(resolved, r"class_names: \[blue, green, red\] +# found in the data")
        # A spec that a run has resolved compiles where the data are not.
        os.rename(self.path("flowers"), self.path("away"))
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        said = self.expect(self.dtnnc("check", "job.yaml"), 3, "[missing-field]", "the dataset's folder flowers is not "
                           "there", "dtnnc data flowers --write")
        self.assertIn("no `shape` and no `classes` and no `train_samples` and no `test_samples`", said.stderr)
        os.rename(self.path("away"), self.path("flowers"))
        # One image more, a class by another name: another dataset.
        self.image("flowers/train/red/99.png", png(8, 8, COLOURS["red"], 3))
        self.expect(self.dtnn_run(plan, "--output", "other"), 5, "37 training")
        os.remove(self.path("flowers/train/red/99.png"))
        for split in ("train", "test"):
            os.rename(self.path(f"flowers/{split}/green"), self.path(f"flowers/{split}/grey"))
        self.expect(self.dtnn_run(plan, "--output", "other"), 5, "class 1", "`grey` in its files, and `green` in the plan")
        self.assertFalse(os.path.exists(self.path("other/weights.safetensors")))

    def test_a_hash_holds_the_content(self):
        self.images()
        self.wrote("flowers")
        plan = self.compile(spec=self.job("own"))
        self.image("flowers/test/red/0.png", png(8, 8, COLOURS["red"], 77))
        self.expect(self.dtnn_run(plan, "--output", "run"), 5, "the content of the dataset `own` is xxh3:")

    def test_a_text_is_learned_by_a_model_that_says_no_input(self):
        self.write("book.txt", "The cat sees a dog, and the dog sees a cat.\n" * 300)
        self.expect(self.dtnnc("data", "book.txt", "--write", "book.yaml"), 0)
        self.assertIn("class_names: ", self.read("book.yaml"))
        layers = "[embedding: {entries: \"${classes}\", units: 8}, dense: {units: \"${classes}\"}, softmax: {axis: features}]"
        for name, dataset in (("found", "book"), ("written", "{type: text, path: book.txt, steps: 128, test_share: 0.2}")):
            self.write(f"{name}.yaml", f"kind: job\nname: {name}\nmodel: {{layers: {layers}}}\ndataset: {dataset}\n"
                                       "training: {epochs: 2, batch_size: 8, optimizer: {adam: {learning_rate: 0.03}}}\n")
            self.expect(self.dtnnc("compile", f"{name}.yaml", "-o", f"{name}.json"), 0)
            self.expect(self.dtnn_run(f"{name}.json", "--output", name), 0)
        test = [next(e for e in self.history(name) if e["event"] == "evaluate")["test"] for name in ("found", "written")]
        self.assertEqual(test[0], test[1])
        self.assertGreater(test[0]["categorical_accuracy"], 0.5)
        self.write("book.txt", "the Cat sees a dog, and the dog sees a cat!\n" * 300)
        self.expect(self.dtnn_run("written.json", "--output", "other"), 1, "the character `!` (U+0021)")

    def test_what_cannot_be_written_is_said(self):
        self.images()
        self.write("there.yaml", "kind: dataset\n")
        self.expect(self.dtnnc("data", "flowers", "--write", "there.yaml"), 2, "there.yaml is there already")
        self.assertEqual(self.read("there.yaml"), "kind: dataset\n")
        self.expect(self.dtnnc("data", "tiny.yaml", "--write", "own.yaml"), 2, "no folder, table, archive or text")
        os.makedirs(self.path("empty"))
        self.expect(self.dtnnc("data", "empty", "--write", "own.yaml"), 1, "no data of a known form")
        self.image("flowers/train/red/0.png", b"a text, whatever it is called")
        self.expect(self.dtnnc("data", "flowers", "--write", "own.yaml"), 1, "flowers/train/red/0.png",
                    "neither JPEG nor PNG")
        self.assertFalse(os.path.exists(self.path("own.yaml")))

    def test_an_autoencoder_gives_what_it_reads(self):
        draw = random.Random(3)
        columns = 6
        lines = []
        for _ in range(80):
            a, b = draw.random(), draw.random()
            lines.append(",".join(f"{value:.5f}" for value in (a, b, a + b, a - b, 1 - a, 1 - b)) + "\n")
        self.write("points.csv", "a,b,c,d,e,f\n" + "".join(lines))
        dataset = ("{kind: dataset, name: points, type: csv, path: points.csv, label_columns: [], test_share: 0.25, "
                   "target: input}")
        layers = f"[flatten, dense: {{units: 3}}, dense: {{units: {columns}}}]"
        rest = "loss: mean_squared_error, metrics: [mean_squared_error, mean_absolute_error]"
        error = self.learn(dataset, "mean_squared_error", layers=layers, shape=f"[{columns}, 1, 1]", epochs=60, rest=rest)
        self.assertLess(error, 0.005)
        plan = self.path("plan.json")
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "test", "-o",
                                  "p.npz"), 0)
        given = read_npz(self.path("p.npz"))
        self.assertEqual(given["values"].shape, (20, columns))
        self.assertNotIn("targets", given)
        # The measured error is the distance of the predictions from the table.
        test = [[float(x) for x in lines[int(name.rsplit(" ", 1)[1])].split(",")] for name in given["sample"].data]
        away = [(p - t) ** 2 for p, t in zip(given["values"].data, [x for row in test for x in row])]
        self.assertAlmostEqual(sum(away) / len(away), error, places=5)

    def test_an_autoencoder_of_images(self):
        self.images(size=lambda i: (9, 8))
        dataset = ("{kind: dataset, name: images, type: folder, path: flowers, target: input, "
                   "transforms: [{crop: {size: [8, 8]}}], augmentations: [flip]}")
        layers = "[conv2d: {filters: 8, kernel: 3, padding: same}, relu, conv2d: {filters: 3, kernel: 1}]"
        rest = "loss: mean_squared_error, metrics: [mean_squared_error]"
        error = self.learn(dataset, "mean_squared_error", layers=layers, epochs=30, rest=rest)
        self.assertLess(error, 0.01)
        self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input", "test",
                                  "-o", "p.npz"), 0)
        given = read_npz(self.path("p.npz"))
        self.assertEqual(given["values"].shape, (12, 3, 8, 8))
        pixels = []
        for colour in COLOURS.values():
            for i in range(4):
                pixels += [max(0, value - i) / 255 for value in colour for _ in range(64)]
        away = [(p - t) ** 2 for p, t in zip(given["values"].data, pixels)]
        self.assertAlmostEqual(sum(away) / len(away), error, places=5)
        # Probabilities of pixels, and a row of all numbers, are targets likewise.
        row = "[flatten, dense: {units: 192}, sigmoid, reshape: {shape: [3, 8, 8]}]"
        cross = "loss: binary_cross_entropy, metrics: [mean_absolute_error]"
        for layers in (row, row.replace(", reshape: {shape: [3, 8, 8]}", "")):
            self.assertLess(self.learn(dataset, "mean_absolute_error", layers=layers, epochs=20, rest=cross), 0.2)
        self.job(dataset, layers="[conv2d: {filters: 4, kernel: 1}]", rest=rest)
        self.expect(self.dtnnc("check", "job.yaml"), 3, "[classes-mismatch]", "must give what it reads, 3x8x8",
                    "3 filters")
        self.job(dataset, layers="[flatten, dense: {units: 5}]", rest=rest)
        self.expect(self.dtnnc("check", "job.yaml"), 3, "[classes-mismatch]", "units: 192")
        self.job(dataset, layers=layers)
        self.expect(self.dtnnc("check", "job.yaml"), 3, "[labels-mismatch]", "themselves (`target: input`)")

    def test_values_of_several_columns_by_their_names(self):
        draw = random.Random(5)
        lines = []
        for _ in range(120):
            a, b = draw.random(), draw.random()
            lines.append(f"{2 * a + b:.5f},{a:.5f},{b:.5f},{a - b:.5f}\n")
        self.write("houses.csv", "price,size,age,tax\n" + "".join(lines))
        dataset = ("{kind: dataset, name: houses, type: csv, path: houses.csv, label_names: [tax, price], "
                   "label_kind: values, test_share: 0.2}")
        layers = "[flatten, dense: {units: 2}]"
        rest = "loss: mean_squared_error, metrics: [mean_absolute_error]"
        self.assertLess(self.learn(dataset, "mean_absolute_error", layers=layers, shape="[2, 1, 1]", epochs=60,
                                   rest=rest), 0.05)
        resolved = self.expect(self.dtnnc("resolve", "job.yaml"), 0).stdout
        self.assertIn("class_names: [tax, price]", resolved)
        self.assertNotIn("label_columns", resolved)
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        self.job(dataset, layers="[flatten, dense: {units: 3}]", shape="[2, 1, 1]", rest=rest)
        self.expect(self.dtnnc("check", "job.yaml"), 3, "[classes-mismatch]", "gives 3 predictions", "units: 2")


    def names_of(self, plan, *inputs, weights="run/weights.safetensors"):
        """The names of the classes in what is predicted."""
        csv = self.expect(self.dtnn_run("predict", plan, "--weights", weights, "--input", *inputs), 0).stdout
        rows = [line.split(",") for line in csv.splitlines()]
        return {row[rows[0].index("class_name")] for row in rows[1:]}

    def test_names_are_known_where_a_spec_is_complete(self):
        self.images()
        dataset = ("{kind: dataset, name: flowers, type: folder, path: flowers, shape: [3, 8, 8], classes: 3, "
                   "train_samples: 36, test_samples: 12%s}")
        self.learn(dataset % "", rest=MATRIX)
        self.assertEqual(json.loads(self.read("run/plan.json"))["dataset"]["targets"][0]["names"], [])
        # Files that are predicted are no dataset: the weights know what they tell apart.
        os.rename(self.path("flowers/test/red"), self.path("unknown"))
        self.assertEqual(self.names_of("run/plan.json", "unknown"), {"red"})
        self.expect(self.dtnn_run("weights", "list", "run"), 0, 'class_names: ["blue","green","red"]')
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "own.safetensors"), 0)
        self.assertEqual(self.names_of("run/plan.json", "unknown", weights="own.safetensors"), {"red"})
        self.expect(self.dtnn_run("report", "run"), 0)
        self.assertIn("<th>green</th>", self.read("run/report.html"))
        # A table's texts, and what a spec itself calls the numbers of arrays.
        self.table("table.csv", 60)
        table = ("{kind: dataset, name: table, type: csv, path: table.csv, test_share: 0.2, shape: [2, 1, 1], classes: "
                 "3, train_samples: 48, test_samples: 12}")
        network = "[flatten, dense: {units: 3}, softmax]"
        self.learn(table, layers=network, shape="[2, 1, 1]")
        self.write("given.csv", "length,width\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(12)))
        self.assertLessEqual(self.names_of("run/plan.json", "given.csv"), {"a", "b", "c"})

    def test_arrays_have_the_names_of_their_spec(self):
        draw = random.Random(3)
        labels = [i % 2 for i in range(40)]
        values = [draw.random() + (2 if label and channel else 0) for label in labels for channel in range(2)]
        write_npz(self.path("a.npz"), {"x": Array("<f4", (40, 2), values), "y": Array("<i8", (40,), labels)})
        dataset = ("{kind: dataset, name: a, type: archive, path: a.npz, test_share: 0.2, shape: [2, 1, 1], classes: "
                   "2, class_names: [low, high], train_samples: 32, test_samples: 8}")
        self.learn(dataset, layers="[flatten, dense: {units: 2}, softmax]", shape="[2, 1, 1]", rest=MATRIX)
        self.expect(self.dtnn_run("report", "run"), 0)
        self.assertIn("<th>high</th>", self.read("run/report.html"))
        write_npz(self.path("x.npz"), {"x": Array("<f4", (2, 2), [0.5, 0.5, 0.5, 2.5])})
        self.assertLessEqual(self.names_of("run/plan.json", "x.npz"), {"low", "high"})

    def mixed(self, count=240):
        """Who comes back, by a text, a number with holes, a date and a name."""
        draw = random.Random(5)
        lines = []
        for i in range(count):
            colour, age = draw.choice(["red", "green", "blue"]), draw.uniform(10, 60)
            back = colour == "red" or age > 45
            lines.append(f"{i + 1},{int(back)},{colour},{'' if draw.random() < 0.1 else f'{age:.0f}'},2024-01-"
                         f"{draw.randrange(1, 29):02},N{i}\n")
        self.write("mixed.csv", "CustomerId,back,colour,age,seen,name\n" + "".join(lines))

    def test_texts_and_holes_of_a_table_are_learnt(self):
        self.mixed()
        spec = self.wrote("mixed.csv", "--set", "dataset.label_names=[back]")
        for line in ("ignored_names: [CustomerId, seen, name]", "category_names: [colour]", "missing: median",
                     "missing_indicator: true", "label_names: [back]", "shape: [5, 1, 1]",
                     "  - {name: colour, values: [blue, green, red]}"):
            self.assertIn(line + "\n", spec)
        self.assertRegex(spec, r"(?m)^  - \{name: age, fill: 3\d(\.5)?, indicator: true\}$")
        # A model without an input reads what the dataset gives.
        job = JOB.replace("  input: {shape: %s}\n", "")
        layers = '[flatten, dense: {units: 16}, relu, dense: {units: "${classes}"}, softmax]'
        self.write("job.yaml", job % (layers, "own", 30, ACCURACY))
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        said = self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/weights.safetensors", "--format", "json"), 0)
        self.assertGreater(json.loads(said.stdout)["test"]["categorical_accuracy"], 0.85)
        # The short form of the spec is found to say the same, and what a run has resolved needs no data.
        short = "\n".join(line for line in spec.split("columns:")[0].splitlines()
                          if not re.match("shape|classes|train_samples|test_samples", line))
        self.write("short.yaml", short + "\ntransforms:" + spec.split("transforms:")[1])
        self.write("other.yaml", job % (layers, "short", 30, ACCURACY))
        self.assertEqual(json.loads(self.read(self.compile(spec="other.yaml", plan="other.json")))["dataset"]["columns"],
                         json.loads(self.read(plan))["dataset"]["columns"])
        os.rename(self.path("mixed.csv"), self.path("away.csv"))
        self.expect(self.dtnnc("check", "run/resolved.yaml"), 0)
        self.expect(self.dtnnc("check", "other.yaml"), 3, "no `shape`", "no `columns`")
        self.write("new.csv", "age,colour\n,red\n50,green\n20,blue\n")
        csv = self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "new.csv"), 0)
        self.assertEqual([line.split(",")[2] for line in csv.stdout.splitlines()[1:]], ["1", "1", "0"])
        self.write("new.csv", "age,colour\n,pink\n")
        self.expect(self.dtnn_run("predict", plan, "--weights", "run/weights.safetensors", "--input", "new.csv"), 1,
                    "new.csv:2: column 2 (`colour`) is `pink`, which no training sample has", "`blue`, `green`, `red`")

    def test_scaled_targets_are_predicted_and_measured_in_their_own_units(self):
        draw = random.Random(6)
        rows = [(draw.uniform(1, 9), draw.uniform(1, 9)) for _ in range(120)]
        self.write("prices.csv", "a,b,first,second\n" + "".join(
            f"{a:.4f},{b:.4f},{100000 * a - 3000 * b + 500000:.1f},{a - b:.4f}\n" for a, b in rows))
        spec = self.wrote("prices.csv", "--set", "dataset.label_names=[first, second]")
        for pattern in ("label_kind: values", "target_scaling: standard", r"target_mean: \[9\d{5}\.", "classes: 2"):
            self.assertRegex(spec, rf"(?m)^{pattern}")
        layers = '[flatten, dense: {units: 16}, relu, dense: {units: "${classes}"}]'
        rest = "loss: mean_squared_error, metrics: [mean_absolute_error]"
        self.write("job.yaml", JOB.replace("  input: {shape: %s}\n", "") % (layers, "own", 60, rest))
        plan = self.compile(spec="job.yaml")
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        weights = ("--weights", "run/weights.safetensors")
        said = json.loads(self.expect(self.dtnn_run("evaluate", plan, *weights, "--format", "json"), 0).stdout)["test"]
        self.expect(self.dtnn_run("predict", plan, *weights, "--input", "test", "-o", "test.csv"), 0)
        lines = [line.rsplit(",", 4)[1:] for line in self.read("test.csv").splitlines()]
        self.assertEqual(lines[0], ["target_0", "target_1", "value_0", "value_1"])
        apart = [float(value) - float(target) for line in lines[1:]
                 for target, value in zip(line[:2], line[2:])]
        self.assertAlmostEqual(said["mean_absolute_error"] / (sum(map(abs, apart)) / len(apart)), 1, 4)
        self.assertLess(max(map(abs, apart)), 100000)
        # The loss is the mean square of the scaled ones.
        dataset = json.loads(self.read(plan))["dataset"]["targets"][0]
        scaled = [(x / dataset["deviation"][i % 2]) ** 2 for i, x in enumerate(apart)]
        self.assertAlmostEqual(said["loss"] / (sum(scaled) / len(scaled)), 1, 4)
        self.assertLess(said["loss"], 0.1)

    def test_columns_of_given_tables_go_by_name(self):
        draw = random.Random(4)
        lines = []
        for i in range(90):
            a, b = draw.random(), draw.random()
            lines.append(f"{i},{a:.4f},{b:.4f},{'more' if a > b else 'less'}\n")
        self.write("table.csv", "id,a,b,kind\n" + "".join(lines))
        spec = self.wrote("table.csv")
        self.assertIn("ignored_names: [id]", spec)
        self.assertIn("shape: [2, 1, 1]", spec)
        self.learn("own.yaml", layers="[flatten, dense: {units: 2}, softmax]", shape="[2, 1, 1]", epochs=40)

        def answers(text):
            self.write("given.csv", text)
            csv = self.expect(self.dtnn_run("predict", "run/plan.json", "--weights", "run/weights.safetensors",
                                            "--input", "given.csv"), 0).stdout
            return [line.split(",")[3] for line in csv.splitlines()[1:]]

        expected = ["more", "less"]
        for text in ("a,b\n0.9,0.1\n0.2,0.8\n", "b,a\n0.1,0.9\n0.8,0.2\n",
                     "kind,b,note,a,id\n,0.1,x,0.9,7\n,0.8,y,0.2,7\n", "id,a,b,kind\n1,0.9,0.1,more\n2,0.2,0.8,less\n"):
            self.assertEqual(answers(text), expected, text)
        self.write("given.csv", "a,c\n0.9,0.1\n")
        self.expect(self.dtnn_run("predict", "run/plan.json", "--weights", "run/weights.safetensors", "--input",
                                  "given.csv"), 1, "given.csv:1: no column is called `b`",
                    "the columns of the table that the weights were trained on", "it has a, c")

    def test_what_was_guessed_is_said(self):
        pixels = [i % 256 for i in range(480)]
        write_npz(self.path("a.npz"), {"x": Array("|u1", (10, 4, 4, 3), pixels),
                                       "y": Array("<i8", (10,), [i % 2 for i in range(10)])})
        self.expect(self.dtnnc("data", "a.npz", "--write", "a.yaml"), 0, "look like images with their channels last")
        self.write("text.npz", "no arrays")
        self.expect(self.dtnnc("data", "text.npz"), 1, "text.npz: it is no .npz")
        self.image("loose/1.png", png(4, 4, (9, 9, 9), 0))
        self.expect(self.dtnnc("data", "loose"), 1, "images lie in it, and in no folder", "PATH/CLASS/IMAGE")
        for i in range(4):
            self.image(f"one/all/{i}.png", png(4, 4, (9, 9, 9), i))
        os.makedirs(self.path("one/__MACOSX"))
        self.expect(self.dtnnc("data", "one"), 1, "one is no data for a spec: the dataset's files have one class")

    def test_data_write_only_what_they_can_read(self):
        # A name of a class that would be an expression.
        for split in ("train", "test"):
            for kind in ("${rank}", "b"):
                for i in range(2):
                    self.image(f"odd/{split}/{kind}/{i}.png", png(4, 4, (9, 9, 9), i))
        self.expect(self.dtnnc("data", "odd", "--write", "odd.yaml"), 0, "class names with ${")
        self.expect(self.dtnnc("data", "odd.yaml"), 0, "${rank}")
        # More columns than a spec may have numbers for.
        with open(self.path("wide.csv"), "w", encoding="ascii") as file:
            file.write(",".join(f"c{i}" for i in range(60_000)) + ",label\n")
            for row in range(6):
                file.write(",".join(str(row * i % 7) for i in range(60_000)) + f",{row % 2}\n")
        self.expect(self.dtnnc("data", "wide.csv", "--write", "wide.yaml"), 0, "not normalised", "and 59980 more")
        self.expect(self.dtnnc("data", "wide.yaml"), 0)
        # Images of more values than a sample may have: of the data, not of a spec that nobody wrote.
        big = png(2, 2, (9, 9, 9), 0)
        header = struct.pack(">2I5B", 20_000, 20_000, *big[24:29])
        chunk = b"IHDR" + header
        big = big[:12] + chunk + struct.pack(">I", zlib.crc32(chunk)) + big[33:]
        for kind in ("a", "b"):
            for split in ("train", "test"):
                self.image(f"big/{split}/{kind}/0.png", big)
        process = self.expect(self.dtnnc("data", "big", "--write", "big.yaml"), 1, "big is no data for a spec", "20000x20000")
        self.assertNotIn("big.yaml", process.stderr)

    def test_settings_of_data_are_written(self):
        with open(self.path("table.csv"), "w", encoding="ascii") as file:
            file.write("size,colour,kind,age\n" + "".join(f"{i},{i * 3 % 7},{i % 2},{i % 5}\n" for i in range(40)))
        self.expect(self.dtnnc("data", "table.csv", "--set", "dataset.label_names=[kind]", "--set", "dataset.test_share=0.5",
                               "--write", "table.yaml"), 0)
        text = self.read("table.yaml")
        for line in ("label_names: [kind]\n", "test_share: 0.5\n", "train_samples: 20\n", "test_samples: 20\n"):
            self.assertIn(line, text)
        process = self.expect(self.dtnnc("data", "table.yaml"), 0, "columns of the training samples")
        self.assertRegex(process.stdout, r"\n +column +mean .*\n +size +.*\n +colour +.*\n +age ")
        self.assertNotIn("pixel", process.stdout)
        self.expect(self.dtnnc("data", "table.csv", "--set", "dataset.transforms.0.normalize.mean=1", "--write", "x.yaml"), 2,
                    "whole fields", "set `transforms` as a whole")

    def mask(self, name, rows, palette):
        """A PNG whose pixels are numbers: gray, or with a palette of colours that mean nothing."""
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = struct.pack(">2I5B", len(rows[0]), len(rows), 8, 3 if palette else 0, 0, 0, 0)
        colours = chunk(b"PLTE", bytes(range(255, 255 - 3 * 60, -1))) if palette else b""
        self.image(name, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + colours + chunk(
            b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))

    def numbers(self, name):
        """The pixels of a PNG with a palette, as zlib and the format's filters have them."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        at, packed = 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                width, height, depth, colour = struct.unpack(">IIBB", body[:10])
                self.assertEqual((depth, colour), (8, 3))
            if kind == b"IDAT":
                packed += body
            at += 12 + length
        raw, rows, above = zlib.decompress(packed), [], [0] * width
        for y in range(height):
            kind, line = raw[y * (width + 1)], list(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
            for x in range(width):
                left, corner = (line[x - 1], above[x - 1]) if x else (0, 0)
                if kind == 4:
                    guess = left + above[x] - corner
                    add = min((abs(guess - left), 0, left), (abs(guess - above[x]), 1, above[x]),
                              (abs(guess - corner), 2, corner))[2]
                else:
                    add = (0, left, above[x], (left + above[x]) // 2)[kind]
                line[x] = (line[x] + add) & 255
            rows.append(line)
            above = line
        return rows

    def leaves(self, splits=(("train", 24), ("test", 6)), values=(0, 1, 2), palette=lambda i: i % 2 == 0):
        """Coloured bars on black, and masks that say where they are."""
        draw = random.Random(7)
        truth = {}
        for split, count in splits:
            for i in range(count):
                top, left = draw.randrange(1, 8), draw.randrange(1, 8)
                rows = [[0] * 12 for _ in range(12)]
                for y in range(12):
                    for x in range(12):
                        if top <= y < top + 3:
                            rows[y][x] = 1
                        if left <= x < left + 3:
                            rows[y][x] = 2
                pixels = b"".join(b"\0" + b"".join(bytes([(0, 0, 0), (200, 30, 10), (20, 180, 60)][label])
                                                   for label in row) for row in rows)

                def chunk(kind, data):
                    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

                self.image(f"leaves/{split}/images/{i}.png", b"\x89PNG\r\n\x1a\n" + chunk(
                    b"IHDR", struct.pack(">2I5B", 12, 12, 8, 2, 0, 0, 0)) + chunk(
                        b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))
                self.mask(f"leaves/{split}/masks/{i}.png", [[values[label] for label in row] for row in rows],
                          palette(i))
                truth[f"leaves/{split}/images/{i}.png"] = rows
        return truth

    SEGMENTS = "[conv2d: {filters: 8, kernel: 3, padding: same}, relu, conv2d: {filters: 3, kernel: 1}, softmax]"

    def test_masks_are_written_and_train_and_are_predicted(self):
        truth = self.leaves(values=(0, 7, 50))
        spec = self.wrote("leaves")
        for line in ("type: segmentation", "mask_values: [0, 7, 50]", "shape: [3, 12, 12]", "classes: 3",
                     "train_samples: 24", "test_samples: 6"):
            self.assertIn(line + "\n", spec)
        # Both are moved alike: else nothing could be learnt of it.
        with open(self.path("own.yaml"), "a", encoding="utf-8") as file:
            file.write("augmentations: [flip, vertical_flip, random_crop: {padding: 2}]\n")
        accuracy = self.learn("own", layers=self.SEGMENTS, shape="[3, 12, 12]", epochs=40)
        self.assertGreater(accuracy, 0.97)
        weights = ("--weights", "run/weights.safetensors")
        self.expect(self.dtnn_run("predict", "plan.json", *weights, "--input", "leaves/test/images", "--format", "png",
                                  "-o", "answers"), 0)
        right = 0
        for i in range(6):
            rows = self.numbers(f"answers/{i}.png")
            right += sum(value == (0, 7, 50)[label] for row, line in zip(truth[f"leaves/test/images/{i}.png"], rows)
                         for label, value in zip(row, line))
        self.assertAlmostEqual(right / (6 * 144), accuracy, places=6)
        self.expect(self.dtnn_run("predict", "plan.json", *weights, "--input", "test", "--format", "png", "-o",
                                  "answers"), 2, "answers is there already, and not empty")
        self.expect(self.dtnn_run("predict", "plan.json", *weights, "--input", "test", "--format", "png"), 2,
                    "name a folder")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("answers")], ["answers"])

    def test_masks_without_a_split_and_with_transforms(self):
        self.leaves(splits=[(".", 20)])
        self.assertIn("test_share: 0.2\n", self.wrote("leaves"))
        dataset = ("{kind: dataset, type: segmentation, path: leaves, test_share: 0.25, "
                   "transforms: [{resize: {size: [24, 24]}}, {centre_crop: {size: [16, 20]}}]}")
        self.assertGreater(self.learn(dataset, layers=self.SEGMENTS, shape="[3, 16, 20]", epochs=40), 0.9)
        self.job(dataset.replace("}}]}", "}}], augmentations: [mixup]}"), layers=self.SEGMENTS, shape="[3, 16, 20]")
        self.expect(self.dtnnc("check", "job.yaml"), 3, "[conflicting-fields]", "mixup mixes samples, whose pixels")

    def test_masks_of_arrays(self):
        draw = random.Random(2)
        labels = [draw.randrange(3) for _ in range(40 * 16)]
        x = [60 * label + draw.randrange(20) for label in labels]
        write_npz(self.path("a.npz"), {"x": Array("|u1", (40, 1, 4, 4), x), "y": Array("|u1", (40, 4, 4), labels)})
        spec = self.wrote("a.npz")
        for line in ("labels: pixel", "shape: [1, 4, 4]", "classes: 3"):
            self.assertIn(line + "\n", spec)
        self.assertGreater(self.learn("own", layers=self.SEGMENTS, shape="[1, 4, 4]", epochs=30), 0.97)

    def test_tables_and_folders_are_predicted_by_name(self):
        self.table("iris_train.csv", 60)
        self.table("iris_test.csv", 15, seed=2)
        layers = "[flatten, dense: {units: 8}, relu, dense: {units: 3}, softmax]"
        dataset = "{kind: dataset, type: csv, path: iris_train.csv, test_path: iris_test.csv}"
        self.learn(dataset, layers=layers, shape="[2, 1, 1]", epochs=20, rest="metrics: [categorical_accuracy, "
                   "confusion_matrix]")

        def answers(*inputs):
            said = self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input",
                                             *inputs, "--format", "jsonl"), 0)
            return [json.loads(line) for line in said.stdout.splitlines()]

        known = answers("test")
        self.assertEqual([row["class_name"] for row in known], list("abc") * 5)
        # With the labels' column, which is not read, and without.
        given = answers("iris_test.csv")
        self.assertEqual([row["probabilities"] for row in given], [row["probabilities"] for row in known])
        self.assertEqual(given[3]["sample"], "iris_test.csv[3]")
        bare = "".join(line.rsplit(",", 1)[0] + "\n" for line in self.read("iris_test.csv").splitlines())
        self.write("bare.csv", bare)
        self.assertEqual([row["class_name"] for row in answers("bare.csv")], list("abc") * 5)
        self.write("wide.csv", "a,b,c,d\n1,2,3,x\n")
        self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input",
                                  "wide.csv"), 1, "wide.csv:1: no column is called `length`", "it has a, b, c, d")
        self.write("hole.csv", "length,width\n1,2\n3,\n")
        self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input",
                                  "hole.csv"), 1, "hole.csv:3", "column 2 (`width`) is empty")
        self.expect(self.dtnn_run("predict", "plan.json", "--weights", "run/weights.safetensors", "--input",
                                  "bare.csv", "-o", "p.npz"), 0)
        self.assertEqual(read_npz(self.path("p.npz"))["class_names"].data, ["a", "b", "c"])
        self.expect(self.dtnn_run("report", "run"), 0)
        report = self.read("run/report.html")
        for name in "abc":
            self.assertIn(f"<tr><th>{name}</th>", report)
        # Images in folders, whose classes are found when the job is compiled.
        self.images()
        self.learn("{kind: dataset, type: folder, path: flowers}")
        rows = answers("flowers/test")
        self.assertEqual([row["class_name"] for row in rows], [row["sample"].split("/")[2] for row in rows])


if __name__ == "__main__":
    unittest.main(verbosity=2)
