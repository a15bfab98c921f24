#!/usr/bin/env python3
"""Networks out as ONNX and in again: the same predictions, by a spec with blocks and repeats. Runtimes of others are asked
by tests/peers/onnx."""

import csv
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest

JOB = """kind: job
name: {name}
model: {model}
dataset: {{kind: dataset, name: few, type: synthetic, shape: [3, 32, 32], classes: 10, train_samples: 16, test_samples: 24}}
training: {{optimizer: adam, batch_size: 8, epochs: 1}}
"""

# Weights that layers share, as they are and the other way round, with and without the bias.
SHARED = ("{name: shared, input: {shape: [3, 32, 32]}, layers: [max_pool2d: {kernel: 8}, flatten, dense: {name: a, units: 24}, relu, "
          "dense: {name: b, units: 48, share: a, bias: false}, tanh, dense: {units: 24, share: a}, relu, "
          "dense: {units: 48, share: b}, tanh, dense: {units: 10}, softmax]}")


class Onnx(CommandTest):
    def predicted(self, plan, weights):
        self.expect(self.dtnn_run("predict", plan, "--weights", weights, "--input", "test", "-o", "p.csv"), 0)
        with open(self.path("p.csv"), encoding="utf-8") as file:
            rows = list(csv.reader(file))
        return [[float(number) for number in row if re.fullmatch(r"[0-9.e+-]+", number)] for row in rows[1:]]

    def test_a_network_comes_back_as_blocks_with_the_same_predictions(self):
        for model, blocks, repeats in (("resnet20_cifar10", 2, 1), ("densenet_cifar10", 1, 3), ("{extends: mobilenet_v2, input: {shape: [3, 32, 32]}, parameters: {classes: 10}}", 2, 0),
                                       (SHARED, 0, 0)):
            with self.subTest(model=model):
                self.write("job.yaml", JOB.format(name="theirs", model=model))
                self.expect(self.dtnnc("compile", "job.yaml", "-o", "plan.json"), 0)
                self.expect(self.dtnn_run("plan.json", "--output", "run", "--force"), 0)
                weights = os.path.join("run", "weights.safetensors")
                self.expect(self.dtnnc("export", "plan.json", "--weights", weights, "-o", "net.onnx"), 0)
                self.expect(self.dtnnc("import", "net.onnx", "-o", "net.yaml", "--weights", "net.safetensors"), 0)
                with open(self.path("net.yaml"), encoding="utf-8") as file:
                    spec = file.read()
                self.assertGreaterEqual(len(re.findall(r"^  \w+:$", spec, re.MULTILINE)), blocks, spec)
                self.assertGreaterEqual(spec.count("repeat:"), repeats, spec)
                self.write("again.yaml", JOB.format(name="ours", model="net.yaml"))
                self.expect(self.dtnnc("compile", "again.yaml", "-o", "again.json"), 0)
                theirs, ours = self.predicted("plan.json", weights), self.predicted("again.json", "net.safetensors")
                self.assertEqual(len(theirs), 24)
                for a, b in zip(theirs, ours):
                    self.assertEqual(len(a), len(b))
                    self.assertLess(max(abs(x - y) for x, y in zip(a, b)), 1e-5)

    def test_what_is_no_onnx_is_called_by_its_name(self):
        for content, said, remedy in ((b"\x89HDF\r\n\x1a\n", "an HDF5 file", '.save("net.keras")'), (b"PK\x03\x04sd/data.pkl", "a zip file", "torch.onnx.export"),
                                      (b"\x80\x02}q\x00.", "a pickle", "torch.onnx.export"), (b"\x1c\0\0\0TFL3", "TensorFlow Lite", "tf2onnx"),
                                      (b'\x20\0\0\0\0\0\0\0{"w":{', "weights without their network", "dtnn-run weights import"), (b'{"format": 4}', "JSON", "dtnn-run"),
                                      (b"kind: model\n", "a spec already", "dtnnc check"), (b"", "it is empty", ""), (b"\x08\x01", "it has no graph", "tf2onnx")):
            with self.subTest(said):
                with open(self.path("net.bin"), "wb") as file:
                    file.write(content)
                self.expect(self.dtnnc("import", "net.bin", "-o", "net.yaml", "--weights", "net.safetensors"), 5, "the file: it ", said, remedy)
        os.mkdir(self.path("saved"))
        self.write("saved/saved_model.pb", "")
        self.expect(self.dtnnc("import", "saved", "-o", "net.yaml", "--weights", "net.safetensors"), 5, "SavedModel", "tf2onnx")


if __name__ == "__main__":
    unittest.main()
