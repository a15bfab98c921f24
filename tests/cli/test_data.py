#!/usr/bin/env python3
"""`dtnnc data`: counts, balance, pixels, contact sheet, and whether the data keep up."""

import gzip
import json
import os
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import ROOT, CommandTest, run


def read_png(path):
    """Width, height and rows of an 8-bit RGB file: an independent reader."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlace) == (8, 2, 0)
            size = width, height
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, stride = zlib.decompress(packed), size[0] * 3
    rows, above = [], bytes(stride)
    for y in range(size[1]):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            if kind == 1:
                line[i] = (line[i] + left) & 255
            elif kind == 2:
                line[i] = (line[i] + above[i]) & 255
            elif kind == 3:
                line[i] = (line[i] + (left + above[i]) // 2) & 255
            elif kind == 4:
                guess = left + above[i] - corner
                near = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]),
                           (abs(guess - corner), 2, corner))[2]
                line[i] = (line[i] + near) & 255
        rows.append(bytes(line))
        above = line
    return size[0], size[1], rows


class Data(CommandTest):
    def mnist(self, labels, pixel=lambda sample, i: (sample * 7 + i) % 256):
        """A folder of four IDX files; all its images are `pixel`."""
        folder = self.path("mnist")
        os.makedirs(folder, exist_ok=True)
        for split, name in (("train", "train"), ("test", "t10k")):
            count = len(labels[split])
            images = b"".join(bytes(pixel(sample, i) for i in range(784)) for sample in range(count))
            with open(os.path.join(folder, f"{name}-images-idx3-ubyte"), "wb") as file:
                file.write(struct.pack(">IIII", 2051, count, 28, 28) + images)
            with gzip.open(os.path.join(folder, f"{name}-labels-idx1-ubyte.gz"), "wb") as file:
                file.write(struct.pack(">II", 2049, count) + bytes(labels[split]))
        self.write("set.yaml", f"kind: dataset\ntype: mnist\npath: {folder}\ntrain_samples: {len(labels['train'])}\n"
                               f"test_samples: {len(labels['test'])}\n")
        return folder

    def test_counts_and_pixels_are_exact(self):
        labels = {"train": [0] * 30 + [1] * 15 + [9] * 5, "test": [2] * 4}
        self.mnist(labels)
        said = json.loads(self.expect(self.dtnnc("data", "set.yaml", "--samples", "0", "--format", "json"), 0).stdout)
        self.assertEqual(said["train"]["class_counts"], [30, 15, 0, 0, 0, 0, 0, 0, 0, 5])
        self.assertEqual(said["test"]["class_counts"], [0, 0, 4, 0, 0, 0, 0, 0, 0, 0])
        self.assertEqual((said["train"]["seen"], said["test"]["seen"]), (50, 4))
        pixels = [(sample * 7 + i) % 256 / 255 for sample in range(50) for i in range(784)]
        mean = sum(pixels) / len(pixels)
        deviation = (sum((x - mean) ** 2 for x in pixels) / len(pixels)) ** 0.5
        self.assertAlmostEqual(said["channels"][0]["mean"], mean, places=6)
        self.assertAlmostEqual(said["channels"][0]["deviation"], deviation, places=6)
        self.assertEqual((said["channels"][0]["least"], said["channels"][0]["greatest"]), (0, 1))
        self.assertEqual(said["shape"], [1, 28, 28])
        text = self.expect(self.dtnnc("data", "set.yaml"), 0).stdout
        self.assertIn("50 samples an epoch, of 50 in the source", text)
        self.assertIn("no samples", text)
        self.assertIn("name a job", text)

    def test_the_hash_tells_data_apart(self):
        def hash_of():
            return json.loads(self.expect(self.dtnnc("data", "set.yaml", "--format", "json"), 0).stdout)["content"]
        labels = {"train": [1, 2, 3], "test": [4]}
        self.mnist(labels)
        first = hash_of()
        self.assertRegex(first, "^xxh3:[0-9a-f]{16}$")
        self.assertEqual(hash_of(), first)
        self.mnist(labels, lambda sample, i: 1 if (sample, i) == (2, 783) else (sample * 7 + i) % 256)
        self.assertNotEqual(hash_of(), first)

    def test_a_job_says_whether_its_data_keep_up(self):
        said = json.loads(self.expect(self.dtnnc("data", "tiny.yaml", "--format", "json"), 0).stdout)
        self.assertEqual((said["train_samples"], said["validation_samples"], said["test_samples"]), (270, 30, 70))
        self.assertGreater(said["pipeline"]["samples_per_second"], 0)
        self.assertGreater(said["pipeline"]["needed_samples_per_second"], 0)
        text = self.expect(self.dtnnc("data", "tiny.yaml", "--set", "data_workers=2"), 0).stdout
        self.assertRegex(text, r"with 2 workers, measured here; the training step takes \d+")
        self.assertRegex(text, "the data (keep up|do not keep up)")
        plan = self.compile()
        text = self.expect(self.dtnnc("data", plan, "--no-step"), 0).stdout
        self.assertIn("the training step: not measured", text)

    def test_the_sheet_shows_samples_and_what_training_sees(self):
        self.write("colours.yaml", "kind: dataset\ntype: synthetic\nshape: [3, 40, 24]\nclasses: 4\ntrain_samples: 50\n"
                                   "transforms: [{resize: {size: [32, 16]}}]\naugmentations: [flip]\n")
        self.expect(self.dtnnc("data", "colours.yaml", "--contact-sheet", "sheet.png"), 0)
        width, height, rows = read_png(self.path("sheet.png"))
        # Samples of 32x16 pixels, each three times three, eight by eight with gaps of four; on the left labels of seven
        # letters ("class 3"), 12 pixels each and 12 more, above them eight lines for the columns' heads.
        side, head = 7 * 12 + 12, 8 + 4
        self.assertEqual((width, height), (side + 8 * (16 * 3 + 4) + 4, head + 8 * (32 * 3 + 4) + 4))
        self.assertTrue(any(rows[y][x] < 128 for y in range(4, 12) for x in range(side * 3, width * 3)), "no heads")
        flipped = 0
        for row in range(8):
            def cell(column):
                top, left = 4 + head + row * 100, 4 + side + column * 52
                return [[rows[top + y * 3 + 1][(left + x * 3 + 1) * 3:(left + x * 3 + 1) * 3 + 3] for x in range(16)]
                        for y in range(32)]
            plain = cell(0)
            mirrored = [line[::-1] for line in plain]
            for column in range(1, 8):
                self.assertIn(cell(column), (plain, mirrored))
                flipped += cell(column) == mirrored
            label = [rows[4 + head + row * 100 + y][4 * 3:(4 + 7 * 12) * 3] for y in range(16)]
            self.assertTrue(any(value < 128 for line in label for value in line), "no label")
        self.assertTrue(10 < flipped < 46, flipped)

    def test_a_sheet_without_augmentation_has_one_column(self):
        self.write("plain.yaml", "kind: dataset\ntype: synthetic\nshape: [3, 96, 96]\nclasses: 4\ntrain_samples: 50\n")
        self.expect(self.dtnnc("data", "plain.yaml", "--contact-sheet", "sheet.png"), 0)
        width, height, _ = read_png(self.path("sheet.png"))
        self.assertEqual((width, height), (7 * 12 + 12 + 96 + 4 + 4, 8 * (96 + 4) + 4))

    def test_a_sheet_shows_masks_below_their_samples(self):
        """Where every pixel has a class: in the classes' colours, moved as the sample is, with a legend at the foot."""
        self.write("make.py", "import sys\nsys.path.insert(0, sys.argv[1])\nfrom png import write_png\n"
                              "for split in ('train', 'test'):\n"
                              "    for i in range(4):\n"
                              "        dark = [bytes([0] * 3 * 30 + [200] * 3 * 18)] * 48\n"
                              "        write_png(f'scenes/{split}/images/{i}.png', dark)\n"
                              "        write_png(f'scenes/{split}/masks/{i}.png', [bytes([0] * 30 + [1] * 18)] * 48, 1)\n")
        data = os.path.join(ROOT, "tests", "tutorial", "data")
        self.expect(run(sys.executable, "make.py", data, cwd=self.folder), 0)
        self.write("scenes.yaml", "kind: dataset\ntype: segmentation\npath: scenes\nclass_names: [ground, bar]\n"
                                  "augmentations: [flip]\n")
        self.expect(self.dtnnc("data", "scenes.yaml", "--contact-sheet", "sheet.png"), 0)
        width, height, rows = read_png(self.path("sheet.png"))
        # Numbers of two letters ("#3") and 12 more on the left; 48 pixels shown twice as large, the mask below.
        side, head, step = 2 * 12 + 12, 16 + 4, 2 * 96 + 2 + 4
        self.assertEqual((width, height), (4 + side + 8 * 100, 4 + head + 4 * step + 4 + 18 + 4))
        ground, bar = [214, 218, 224], [0, 114, 178]
        flipped = 0
        for row in range(4):
            for column in range(8):
                top, left = 4 + head + row * step, 4 + side + column * 100
                for x in range(48):
                    at = (left + 2 * x) * 3
                    light = rows[top + 50][at] > 128
                    self.assertEqual(list(rows[top + 96 + 2 + 50][at:at + 3]), bar if light else ground, (row, column, x))
                flipped += rows[top + 50][left * 3] > 128
        self.assertTrue(0 < flipped < 32, flipped)
        # The legend: a square of each colour before its name.
        line = rows[4 + head + 4 * step + 4 + 8]
        self.assertEqual([list(line[x * 3:x * 3 + 3]) for x in (8, 4 + 18 + 4 + 6 * 12 + 12 + 8)], [ground, bar])

    def test_mistakes(self):
        labels = {"train": [1, 2, 3], "test": [4]}
        folder = self.mnist(labels)
        self.expect(self.dtnnc("data", "set.yaml", "--set", "dataset.train_samples=4"), 5, "train_samples")
        os.remove(os.path.join(folder, "t10k-images-idx3-ubyte"))
        self.expect(self.dtnnc("data", "set.yaml"), 1, "t10k-images-idx3-ubyte")
        self.expect(self.dtnnc("data", "missing.yaml"), 2, "missing.yaml")
        self.expect(self.dtnnc("data", "tiny.yaml", "--samples", "-1"), 2)
        self.expect(self.dtnnc("data", "tiny.yaml", "--no-step", "--contact-sheet", "nowhere/sheet.png"), 1, "nowhere")
        self.expect(self.dtnnc("data", "tiny.yaml", "--set", "dataset.train_sample=4"), 3, "did you mean")
        plan = self.compile()
        self.expect(self.dtnnc("data", plan, "--set", "dataset.train_samples=4"), 2, "--set changes specs")


if __name__ == "__main__":
    unittest.main()
