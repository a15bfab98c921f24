#!/usr/bin/env python3
"""Training from people's own files: images in folders and archives, arrays, tables; and what happens when they are not as the spec says."""

import gzip
import io
import json
import os
import struct
import tarfile
import unittest
import zipfile
import zlib

from commands import CommandTest

CLASSES = {"blue": (0, 0, 200), "green": (0, 200, 0), "red": (200, 0, 0)}
SHAPE, SAMPLES = "[3, 8, 8]", "classes: 3, train_samples: 36, test_samples: 12"
JOB = """kind: job
model:
  kind: model
  name: small
  input: {shape: %s}
  layers: [conv2d: {filters: 4, kernel: 1}, relu, global_avg_pool2d, flatten, dense: {units: 3}, softmax]
dataset: {kind: dataset, name: own, %s}
training: {kind: training, optimizer: {adam: {learning_rate: 0.05}}, batch_size: 6, epochs: 8, metrics: [categorical_accuracy]}
"""


def png(height, width, colour, shade):
    """A PNG of one colour, a little darker for every shade."""
    row = b"\0" + bytes(max(0, value - shade) for value in colour) * width

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(row * height)) + chunk(b"IEND", b""))


def images():
    for split, count in (("train", 12), ("test", 4)):
        for name, colour in CLASSES.items():
            for i in range(count):
                yield f"{split}/{name}/{i}.png", png(8, 8, colour, i)


def npy(kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


class Datasets(CommandTest):
    def write_bytes(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(data)

    def write_folder(self):
        for path, data in images():
            self.write_bytes("images/" + path, data)

    def tar(self, members):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for path, data in members:
                info = tarfile.TarInfo(path)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return packed.getvalue()

    def compiled(self, dataset, *settings, shape=SHAPE):
        self.write("job.yaml", JOB % (shape, dataset))
        self.expect(self.dtnnc("compile", "job.yaml", "-o", "plan.json", *settings), 0)
        return "plan.json"

    def learn(self, dataset, run, shape=SHAPE):
        """Trains on it; what it learnt is in the evaluation of the test split."""
        plan = self.compiled(dataset, shape=shape)
        self.expect(self.dtnn_run(plan, "--output", run), 0)
        evaluated = self.dtnn_run("evaluate", plan, "--weights", run + "/weights.safetensors", "--format", "json")
        self.expect(evaluated, 0)
        self.assertEqual(json.loads(evaluated.stdout)["test"]["categorical_accuracy"], 1.0)
        with open(self.path(run + "/weights.safetensors"), "rb") as file:
            # The header names the plan; what was learnt is behind it.
            file.read(struct.unpack("<Q", file.read(8))[0])
            return file.read()

    def test_both_levels_of_cifar100_train(self):
        for name, count in (("train.bin", 30), ("test.bin", 12)):
            self.write_bytes("cifar/" + name, b"".join(bytes([i % 20, i % 100]) + bytes([i]) * 3072 for i in range(count)))
        for level, classes in (("coarse", 20), ("fine", 100)):
            job = JOB % ("[3, 32, 32]", "type: cifar100, path: cifar, level: " + level +
                         ", train_samples: 30, test_samples: 12")
            self.write("cifar.yaml", job.replace("units: 3", f"units: {classes}").replace("epochs: 8", "epochs: 1"))
            plan = self.compile(spec="cifar.yaml")
            self.expect(self.dtnn_run(plan, "--output", "run-" + level, "--progress", "none"), 0)

    def test_the_same_images_train_the_same_weights_from_folders_and_archives(self):
        self.write_folder()
        self.write_bytes("a.tar.gz", gzip.compress(self.tar(images())))
        with zipfile.ZipFile(self.path("a.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in images():
                archive.writestr(path, data)
        weights = self.learn(f"type: folder, path: images, shape: {SHAPE}, {SAMPLES}", "folder")
        for archive in ("a.tar.gz", "a.zip"):
            self.assertEqual(weights, self.learn(f"type: archive, path: {archive}, shape: {SHAPE}, {SAMPLES}", archive[2:]))

    def test_arrays_and_tables(self):
        shades = [(label, i) for label in range(3) for i in range(12)]
        x = b"".join(bytes(200 - i if c == label else 0 for c in range(3) for _ in range(4)) for label, i in shades)
        y = b"".join(struct.pack("<q", label) for label, _ in shades)
        with zipfile.ZipFile(self.path("a.npz"), "w") as archive:
            for split, count in (("train", 36), ("test", 36)):
                archive.writestr(f"x_{split}.npy", npy("|u1", f"({count}, 3, 2, 2)", x))
                archive.writestr(f"y_{split}.npy", npy("<i8", f"({count},)", y))
        shape = "[3, 2, 2]"
        self.learn(f"type: archive, path: a.npz, shape: {shape}, classes: 3, train_samples: 36, test_samples: 36", "arrays", shape)
        lines = "".join(f"{(label == 0) * 1.0},{(label == 1) * 1.0},{(label == 2) - i / 100},{'abc'[label]}\n" for label, i in shades)
        self.write("train.csv", "x,y,z,kind\n" + lines)
        self.write("test.csv", "x,y,z,kind\n" + lines)
        self.learn("type: csv, path: train.csv, test_path: test.csv, shape: [3, 1, 1], classes: 3, "
                   "train_samples: 36, test_samples: 36", "tables", "[3, 1, 1]")

    def test_other_counts_end_with_5_and_the_true_figures(self):
        self.write_folder()
        plan = self.compiled(f"type: folder, path: images, shape: {SHAPE}, {SAMPLES}", "--set", "dataset.train_samples=40")
        result = self.dtnn_run(plan, "--output", "run")
        self.expect(result, 5, "36 training and 12 test images of 3 classes", "train_samples: 36")
        self.assertFalse(os.path.exists(self.path("run/weights.safetensors")))

    def test_a_broken_image_is_never_trained_on(self):
        self.write_folder()
        dataset = f"type: folder, path: images, shape: {SHAPE}, {SAMPLES}"
        self.write_bytes("images/train/red/3.png", b"a text, whatever it is called")
        plan = self.compiled(dataset)
        result = self.dtnn_run(plan, "--output", "run")
        self.expect(result, 1, "images/train/red/3.png", "neither JPEG nor PNG")
        self.assertFalse(os.path.exists(self.path("run/weights.safetensors")))
        # Cut off behind its header, which is all that opening looks at.
        self.write_bytes("images/train/red/3.png", png(8, 8, CLASSES["red"], 3)[:-20])
        result = self.dtnn_run(plan, "--output", "run", "--force")
        self.expect(result, 1, "images/train/red/3.png", "PNG data")
        self.assertFalse(os.path.exists(self.path("run/weights.safetensors")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
