#!/usr/bin/env python3
"""Files of Keras 3 (.keras): two small ones, committed with what Keras predicts of them, come in; broken and hostile ones
are refused in words. Networks beside Keras itself: tests/peers/keras."""

import copy
import json
import os
import random
import struct
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz
from commands import ROOT, CommandTest

FILES = os.path.join(ROOT, "tests", "peers", "keras")


def members(name):
    with zipfile.ZipFile(os.path.join(FILES, name)) as file:
        return {member: file.read(member) for member in file.namelist()}


def flat(values):
    return [number for value in values for number in flat(value)] if isinstance(values, list) else [values]


def extents(values):
    return (len(values), *extents(values[0])) if isinstance(values, list) else ()


class Keras(CommandTest):
    def pack(self, contents, name="net.keras"):
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as file:
            for member, content in contents.items():
                file.writestr(member, content)
        return name

    def load(self, name="tiny_image.keras"):
        contents = members(name)
        return contents, json.loads(contents["config.json"])

    def refused(self, contents, *said, config=None):
        contents = dict(contents)
        if config is not None:
            contents["config.json"] = config if isinstance(config, (str, bytes)) else json.dumps(config)
        result = self.dtnnc("import", self.pack(contents), "-o", "net.yaml", "--weights", "net.safetensors")
        self.expect(result, 5, "net.keras", *said)
        self.assertFalse(os.path.exists(self.path("net.yaml")))
        return result.stderr

    def layer(self, config, name):
        return next(layer for layer in config["config"]["layers"] if layer["config"]["name"] == name)

    def test_models_predict_what_keras_predicts(self):
        for name in ("tiny_image", "tiny_rows"):
            with self.subTest(model=name):
                with open(os.path.join(FILES, f"{name}.json"), encoding="utf-8") as file:
                    expected = json.load(file)
                source = os.path.join(FILES, f"{name}.keras")
                self.expect(self.dtnnc("import", source, "-o", "net.yaml", "--weights", "net.safetensors"), 0)
                self.expect(self.dtnnc("compile", "net.yaml", "-o", "plan.json"), 0)
                samples = expected["samples"]
                with open(self.path("x.npy"), "wb") as file:
                    file.write(npy_bytes(Array("<f4", extents(samples), flat(samples))))
                self.expect(self.dtnn_run("predict", "plan.json", "--weights", "net.safetensors", "--input", "x.npy", "-o",
                                          "p.npz"), 0)
                made = read_npz(self.path("p.npz"))
                ours = next(made[key] for key in ("probabilities", "scores", "values") if key in made).data
                for a, b in zip(ours, flat(expected["predictions"]), strict=True):
                    self.assertAlmostEqual(a, b, delta=1e-5)

    def test_names_are_those_of_the_layers(self):
        self.expect(self.dtnnc("import", os.path.join(FILES, "tiny_image.keras"), "-o", "net.yaml", "--weights", "w.npz"), 0)
        with open(self.path("net.yaml"), encoding="utf-8") as file:
            spec = file.read()
        for name in ("name: conv,", "name: norm", "name: separable/depthwise", "name: inner/", "name: scores,"):
            self.assertIn(name, spec)
        self.assertIn("momentum: 0.99", spec)
        self.assertIn("norm.running_variance", read_npz(self.path("w.npz")))

    def test_all_that_is_not_read_is_said_at_once(self):
        contents, config = self.load()
        code = self.layer(config, "relu")
        code.update(class_name="Lambda")
        self.layer(config, "norm").update(class_name="Own", module="mine", registered_name="my_package>Own")
        self.layer(config, "separable").update(class_name="ConvLSTM2D")
        self.layer(config, "scores")["config"]["activation"] = "sparsemax"
        text = self.refused(contents, "layer `relu` (Lambda)", "never run here", "layer `norm` (Own)", "my_package>Own",
                            "layer `separable` (ConvLSTM2D)", "there is no such layer", config=config)
        self.assertEqual(text.count("help:"), 3, text)
        config = self.load()[1]
        self.layer(config, "scores")["config"]["activation"] = "sparsemax"
        self.refused(contents, "layer `scores` (Dense)", "sparsemax", config=config)
        config = self.load()[1]
        self.layer(config, "scores")["config"]["activation"] = {"module": "builtins", "class_name": "function", "config": "f",
                                                                "registered_name": "function"}
        self.refused(contents, "layer `scores` (Dense)", "never run here", config=config)

    def test_shapes_that_do_not_fit_are_said_by_layer(self):
        contents, config = self.load()
        self.layer(config, "conv")["config"]["filters"] = 5
        self.refused(contents, "layer `conv` (Conv2D)", "layers/conv2d/vars/0", "[3, 3, 2, 3]", "[3, 3, 2, 5]", config=config)
        config = self.load()[1]
        config["config"]["layers"][0]["config"]["batch_shape"][1] = None
        self.refused(contents, "(InputLayer)", "keras.Input", config=config)
        config = self.load()[1]
        config["config"]["layers"][0]["config"]["batch_shape"][1] = 10 ** 15
        self.refused(contents, config=config)
        config = self.load()[1]
        self.layer(config, "conv")["config"]["kernel_size"] = "large"
        self.refused(contents, "layer `conv` (Conv2D)", "config.json", config=config)

    def test_archives_that_are_none(self):
        contents = members("tiny_image.keras")
        with open(self.path(self.pack(contents)), "rb") as file:
            whole = file.read()
        for size in (len(whole) // 2, len(whole) - 30, 10, 0):
            with open(self.path("net.keras"), "wb") as file:
                file.write(whole[:size])
            self.expect(self.dtnnc("import", "net.keras", "-o", "n.yaml", "--weights", "n.npz"), 5, "net.keras", "help:")
        self.expect(self.dtnnc("import", "none.keras", "-o", "n.yaml", "--weights", "n.npz"), 2, "none.keras")
        for lost in ("config.json", "model.weights.h5"):
            self.refused({name: content for name, content in contents.items() if name != lost}, lost)
        self.refused(contents, "config.json", "64.0 MiB", config=b" " * ((64 << 20) + 1))
        self.refused(contents, "config.json", config=b"[" * 100_000)
        self.refused(contents, "config.json", config=b"{}")
        self.refused(contents, "never run here", config={"module": "m", "class_name": "Net", "config": {}, "registered_name": "m>Net"})

    def test_models_within_models_are_bounded(self):
        contents, config = self.load()
        model = self.layer(config, "inner")
        input_layer = {"module": "keras.layers", "class_name": "InputLayer", "inbound_nodes": [], "registered_name": None,
                       "config": {"name": "in", "batch_shape": [None, 4], "dtype": "float32"}}
        deep = copy.deepcopy(model)
        for _ in range(20):
            outer = copy.deepcopy(model)
            outer["config"]["layers"] = [model["config"]["layers"][0], deep]
            deep = outer
        deep["inbound_nodes"] = model["inbound_nodes"]
        config["config"]["layers"][config["config"]["layers"].index(model)] = deep
        self.refused(contents, "a model within 16 others", config=config)
        # Each calls the next three times.
        many, result = {"module": "keras.layers", "class_name": "Identity", "config": {"name": "x"}, "registered_name": None}, 2
        for depth in range(11):
            calls = [("in", 0), *((many["config"]["name"], i) for i in range(2))]
            many["inbound_nodes"] = [{"args": [{"class_name": "__keras_tensor__", "config": {"keras_history": [*call, 0]}}],
                                      "kwargs": {}} for call in calls]
            many = {"module": "keras.models", "class_name": "Functional", "registered_name": "Functional",
                    "config": {"name": f"m{depth}", "layers": [input_layer, many], "input_layers": [["in", 0, 0]],
                               "output_layers": [[many["config"]["name"], result, 0]]}}
            result = 3  # a model counts as called once before
        self.refused(contents, "50000 times", config=many)

    def test_weights_that_are_none(self):
        contents, config = self.load()
        weights = contents["model.weights.h5"]
        for broken in (weights[:len(weights) // 2], weights[:60], b"", b"\x89HDF\r\n\x1a\n" + bytes(100),
                       b"\x89HDF\r\n\x1a\n\x02" + bytes(100), b"PK" + weights):
            self.refused({**contents, "model.weights.h5": broken}, "model.weights.h5")
        # Entries that are links, and a group within itself.
        node = weights.index(b"SNOD") + 8
        link = bytearray(weights)
        link[node + 16] = 2
        self.refused({**contents, "model.weights.h5": bytes(link)}, "is a link to another place")
        loop = bytearray(weights)
        loop[node + 8:node + 16] = weights[64:72]
        self.refused({**contents, "model.weights.h5": bytes(loop)}, "stands in two places")
        # The layout of an array: its numbers behind the end; another version.
        layout = weights.index(struct.pack("<HHB3xBB", 8, 24, 0, 3, 1)) + 8
        behind = bytearray(weights)
        struct.pack_into("<Q", behind, layout + 2, len(weights) + 1)
        self.refused({**contents, "model.weights.h5": bytes(behind)}, "model.weights.h5")
        packed = bytearray(weights)
        packed[layout + 1] = 2
        self.refused({**contents, "model.weights.h5": bytes(packed)}, "lie in pieces")

    def test_changed_bytes_are_refused_or_read(self):
        contents, _ = self.load()
        draw = random.Random(1)
        for name in ("model.weights.h5", "config.json"):
            for _ in range(30):
                changed = bytearray(contents[name])
                for _ in range(draw.choice((1, 4, 30))):
                    changed[draw.randrange(len(changed))] = draw.randrange(256)
                result = self.dtnnc("import", self.pack({**contents, name: bytes(changed)}), "-o", "net.yaml", "--weights",
                                    "net.safetensors")
                self.assertIn(result.returncode, (0, 5), result.stderr)
                self.assertEqual(result.returncode == 5, "help:" in result.stderr, result.stderr)

    def test_weights_in_other_places_and_forms(self):
        for form, said in (("linked", "links into other files"), ("outside", "in another file, and none is opened"),
                           ("packed", "its numbers are packed"), ("integers", "not of real numbers")):
            source = os.path.join(FILES, f"weights_{form}.keras")
            self.expect(self.dtnnc("import", source, "-o", "net.yaml", "--weights", "net.npz"), 5, said, "help:")
        source = os.path.join(FILES, "weights_half.keras")
        self.expect(self.dtnnc("import", source, "-o", "net.yaml", "--weights", "half.npz"), 0)
        self.expect(self.dtnnc("import", os.path.join(FILES, "tiny_rows.keras"), "-o", "net.yaml", "--weights", "whole.npz"), 0)
        half, whole = (read_npz(self.path(name))["hidden.weights"].data for name in ("half.npz", "whole.npz"))
        self.assertNotEqual(half, whole)
        for a, b in zip(half, whole, strict=True):
            self.assertAlmostEqual(a, b, delta=1e-3)


if __name__ == "__main__":
    unittest.main()
