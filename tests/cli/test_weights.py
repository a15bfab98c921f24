#!/usr/bin/env python3
"""Weights in and out: what dtnn-run writes is read by others' rules, and what others write is loaded, or refused with
every difference in one message."""

import json
import os
import subprocess
import sys
import unittest
import unittest.mock
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import (Array, npy_bytes, numpy_python, read_npz, read_safetensors, write_npz, write_safetensors)
from commands import CommandTest

# A layer of every kind whose weights lie otherwise in PyDTNN's files.
MIXED = """kind: job
name: mixed
model:
  kind: model
  name: mixed
  input: {shape: [1, 28, 28]}
  layers:
    - conv2d: {filters: 6, kernel: [3, 5], stride: 4, padding: 1}
    - batch_norm
    - relu
    - depthwise_conv2d: {kernel: 3, padding: 1}
    - conv2d: {filters: 5, kernel: 1}
    - relu
    - flatten
    - batch_norm
    - dropout: {rate: 0.5}
    - dense: {units: 12}
    - relu
    - dense: {units: 10}
    - softmax
dataset: {kind: dataset, name: few, type: digits, train_samples: 300, test_samples: 70}
training: {kind: training, name: short, optimizer: adam, batch_size: 64, epochs: 1, metrics: [categorical_accuracy]}
"""


class Weights(CommandTest):
    def train(self, spec="tiny.yaml", *arguments):
        plan = self.compile(*arguments, spec=spec)
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        return plan

    def evaluate(self, plan, weights, *options):
        process = self.expect(self.dtnn_run("evaluate", plan, "--weights", weights, "--format", "json", *options), 0)
        return json.loads(process.stdout)

    def test_a_folder_in_place_of_weights_is_told_which_file_is_meant(self):
        plan = self.train()
        for command in (("evaluate",), ("predict", "--input", "test")):
            self.expect(self.dtnn_run(command[0], plan, *command[1:], "--weights", "run"), 2, "run is a folder",
                        "name the file in it: run/weights.safetensors")
        os.remove(self.path("run/weights.safetensors"))
        newest = self.read("run/checkpoints/latest").strip()
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "run/"), 2,
                    f"run/checkpoints/{newest}/parameters.safetensors")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", f"run/checkpoints/{newest}"), 2,
                    f"run/checkpoints/{newest}/parameters.safetensors")
        os.mkdir(self.path("empty"))
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "empty"), 2, "there are no weights in it")

    def test_options_of_weights_without_weights_are_refused(self):
        plan = self.compile()
        self.write("map.json", "{}")
        for option in (("--allow-missing",), ("--map", "map.json"), ("--layout", "nchw"), ("--match", "name"), ("--cast",)):
            self.expect(self.dtnn_run(plan, "--output", "run", *option), 2, option[0], "--weights")
        self.assertFalse(os.path.exists(self.path("run")))

    def test_both_formats_hold_the_same_by_others_rules(self):
        plan = self.train()
        own, metadata = read_safetensors(self.path("run/weights.safetensors"))
        self.assertEqual(metadata["model"], "tiny")
        with open(plan, encoding="utf-8") as file:
            parameters = [p for p in json.load(file)["parameters"] if not p["optimizer_state"]]
        self.assertEqual({name: array.shape for name, array in own.items()},
                         {p["name"]: tuple(p["dims"]) for p in parameters})
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "w.npz"), 0, "w.npz")
        self.assertEqual(read_npz(self.path("w.npz")), own)
        self.expect(self.dtnn_run("weights", "export", "w.npz", "-o", "back.safetensors"), 0)
        self.assertEqual(read_safetensors(self.path("back.safetensors"))[0], own)
        self.expect(self.dtnn_run("weights", "export", "run/weights.safetensors", "-o", "again.npz"), 0)
        with open(self.path("w.npz"), "rb") as first, open(self.path("again.npz"), "rb") as second:
            self.assertEqual(first.read(), second.read())
        results = {json.dumps(self.evaluate(plan, weights))
                   for weights in ("run/weights.safetensors", "w.npz", "back.safetensors")}
        self.assertEqual(len(results), 1)
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "w.bin"), 2, "w.bin", ".npz")

    def test_numpy_reads_and_writes_them(self):
        python = numpy_python()
        if python is None:
            print("skipped: no Python here has numpy", file=sys.stderr)
            return
        plan = self.train()
        self.expect(self.dtnn_run("weights", "export", "run", "-o", "w.npz"), 0)
        script = ("import numpy\n"
                  "arrays = dict(numpy.load('w.npz', allow_pickle=False))\n"
                  "print({name: [a.shape, str(a.dtype), float(a.sum(dtype='f8'))] for name, a in arrays.items()})\n"
                  "numpy.savez('plain.npz', **arrays)\n"
                  "numpy.savez_compressed('packed.npz', **arrays)\n"
                  "numpy.savez('fortran.npz', **{name: numpy.asfortranarray(a) for name, a in arrays.items()})\n"
                  "numpy.savez('big.npz', **{name: a.astype('>f4') for name, a in arrays.items()})\n"
                  "numpy.savez('wide.npz', **{name: a.astype('f8') for name, a in arrays.items()})\n"
                  "numpy.savez('objects.npz', **{name: a.astype(object) for name, a in arrays.items()})\n")
        process = subprocess.run([python, "-c", script], cwd=self.folder, capture_output=True, text=True, check=True)
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        self.assertEqual(eval(process.stdout),  # pylint: disable=eval-used
                         {name: [a.shape, "float32", unittest.mock.ANY] for name, a in own.items()})
        for name, (_, _, total) in eval(process.stdout).items():  # pylint: disable=eval-used
            self.assertAlmostEqual(total, sum(own[name].data), places=6)
        wanted = self.evaluate(plan, "w.npz")
        for name in ("plain.npz", "packed.npz", "fortran.npz"):
            self.assertEqual(self.evaluate(plan, name), wanted, name)
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "big.npz"), 5, "`>f4`", "little-endian")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "wide.npz"), 5, "f64", "--cast")
        self.assertEqual(self.evaluate(plan, "wide.npz", "--cast"), wanted)
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "objects.npz"), 5, "objects.npz", "object")

    def test_a_list_says_names_types_shapes_and_metadata(self):
        self.train()
        self.expect(self.dtnn_run("weights", "list", "run"), 0, "conv2d_1.weights  f32   [4,1,3,3]", "model: tiny",
                    "4 tensors")
        listed = json.loads(self.expect(self.dtnn_run("weights", "list", "run/weights.safetensors", "--format", "json"),
                                        0).stdout)
        own, metadata = read_safetensors(self.path("run/weights.safetensors"))
        self.assertEqual([(t["name"], tuple(t["shape"])) for t in listed["tensors"]],
                         [(name, array.shape) for name, array in own.items()])
        self.assertEqual((listed["format"], listed["metadata"]), ("safetensors", metadata))
        self.expect(self.dtnn_run("weights", "list", "run", "--average"), 5, "weights_average.safetensors",
                    "training.average")
        self.expect(self.dtnn_run("weights", "list", self.folder), 5, "weights.safetensors")
        self.expect(self.dtnn_run("weights"), 2)

    def test_pydtnns_files_in_every_layout(self):
        self.write("mixed.yaml", MIXED)
        plan = self.train("mixed.yaml")
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        wanted = self.evaluate(plan, "run/weights.safetensors")
        # The image that flatten takes, C,H,W: its numbers lie in the order H,W,C where channels are last.
        image = (5, 7, own["batch_norm_2.gamma"].shape[0] // 35)

        def flat(array, last):
            if not last:
                return array
            rest = array.shape[1:]
            whole = array.reshape(*image, *rest)
            return whole.transpose(1, 2, 0, *range(3, 3 + len(rest))).reshape(*array.shape)

        def norm(number, name, last=False):
            for key, role in (("beta", "beta"), ("gamma", "gamma"), ("running_var", "running_variance"),
                              ("running_mean", "running_mean")):
                yield f"{number}_BatchNormalization_{key}", flat(own[f"{name}.{role}"], last)

        def arrays(layout):
            axes = {"nchw": (0, 1, 2, 3), "nhwc": (1, 2, 3, 0), "nhwc_gpu": (0, 2, 3, 1)}[layout]
            last = layout != "nchw"
            depthwise = own["depthwise_conv2d_1.weights"]
            pointwise = own["conv2d_2.weights"].reshape(5, 6)
            result = {"1_Conv2D_weights": own["conv2d_1.weights"].transpose(*axes),
                      "1_Conv2D_biases": own["conv2d_1.bias"], **dict(norm(2, "batch_norm_1")),
                      "4_Conv2D_weights": depthwise.reshape(6, 3, 3),
                      "4_Conv2D_biases": own["depthwise_conv2d_1.bias"],
                      "5_Conv2D_weights": pointwise.transpose(1, 0) if layout == "nhwc" else pointwise,
                      "5_Conv2D_biases": own["conv2d_2.bias"], **dict(norm(8, "batch_norm_2", last)),
                      "10_FC_weights": flat(own["dense_1.weights"], last), "10_FC_biases": own["dense_1.bias"],
                      "12_FC_weights": own["dense_2.weights"], "12_FC_biases": own["dense_2.bias"]}
            return result

        for layout in ("nchw", "nhwc", "nhwc_gpu"):
            write_npz(self.path(f"{layout}.npz"), arrays(layout), compressed=True)
            self.assertEqual(self.evaluate(plan, f"{layout}.npz"), wanted, layout)
            self.assertEqual(self.evaluate(plan, f"{layout}.npz", "--layout", layout), wanted, layout)
        # PyDTNN may compute in float64.
        wide = {name: array.astype("<f8") for name, array in arrays("nhwc").items()}
        write_npz(self.path("wide.npz"), wide)
        self.assertEqual(self.evaluate(plan, "wide.npz"), wanted)
        process = self.expect(self.dtnn_run("evaluate", plan, "--weights", "nhwc.npz", "--layout", "nchw"), 5,
                              "conv2d_1.weights (from 1_Conv2D_weights) is f32 [1,3,5,6] in the file and f32 [6,1,3,5]")
        self.assertIn("conv2d_2.weights (from 5_Conv2D_weights)", process.stderr)
        # A file that lacks what early versions did not write.
        early = {name: array for name, array in arrays("nhwc").items() if "running" not in name}
        write_npz(self.path("early.npz"), early)
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "early.npz"), 5,
                    "batch_norm_1.running_mean f32 [6] is missing", "batch_norm_2.running_variance")
        process = self.expect(self.dtnn_run("evaluate", plan, "--weights", "early.npz", "--allow-missing"), 0,
                              "kept as initialised (4)", "batch_norm_1.running_mean")

    def test_a_file_that_fits_in_two_layouts_asks_for_one(self):
        self.write("flat.yaml", """kind: job
name: flat
model: {kind: model, name: flat, input: {shape: [3, 4, 4]}, layers: [flatten, {dense: {units: 10}}, softmax]}
dataset: {kind: dataset, name: few, type: synthetic, shape: [3, 4, 4], classes: 10, train_samples: 64, test_samples: 64}
training: {kind: training, name: short, optimizer: sgd, batch_size: 64, epochs: 1}
""")
        plan = self.train("flat.yaml")
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        write_npz(self.path("w.npz"), {"2_FC_weights": own["dense_1.weights"], "2_FC_biases": own["dense_1.bias"]})
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "w.npz"), 5, "fit as nchw and as nhwc", "--layout")
        self.assertEqual(self.evaluate(plan, "w.npz", "--layout", "nchw"),
                         self.evaluate(plan, "run/weights.safetensors"))
        self.assertNotEqual(self.evaluate(plan, "w.npz", "--layout", "nhwc"),
                            self.evaluate(plan, "run/weights.safetensors"))

    def test_numbered_layers_of_pytorch_are_never_mixed_up(self):
        self.write("square.yaml", """kind: job
name: square
model:
  kind: model
  name: square
  input: {shape: [1, 4, 4]}
  layers: [flatten, {dense: {units: 16}}, tanh, {dense: {units: 16}}, tanh, {dense: {units: 16}}, softmax]
dataset: {kind: dataset, name: few, type: synthetic, shape: [1, 4, 4], classes: 16, train_samples: 64, test_samples: 64}
training: {kind: training, name: short, optimizer: sgd, batch_size: 64, epochs: 1}
""")
        plan = self.train("square.yaml")
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        wanted = self.evaluate(plan, "run/weights.safetensors")
        # A torch.nn.Sequential's modules 0, 3 and 11, as safetensors writes them: sorted as text, weights [out, in].
        tensors = {}
        for module, layer in sorted((("0", "dense_1"), ("3", "dense_2"), ("11", "dense_3"))):
            tensors[f"{module}.bias"] = own[f"{layer}.bias"]
            tensors[f"{module}.weight"] = own[f"{layer}.weights"].transpose(1, 0)
        write_safetensors(self.path("torch.safetensors"), tensors)

        def refused(*options, said):
            self.expect(self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors", *options), 5, *said)

        refused("--match", "order", said=("fit as own and as torch", "--layout"))
        refused("--match", "order", "--layout", "torch",
                said=("in the order of the file", "dense_2.weights would be 11.weight or 3.weight", "name_order"))
        refused("--match", "name_order", said=("fit as own and as torch", "--layout"))
        self.assertEqual(self.evaluate(plan, "torch.safetensors", "--match", "name_order", "--layout", "torch"), wanted)
        for options in (("--match", "file_order", "--layout", "torch"), ("--match", "name_order", "--layout", "own")):
            self.assertNotEqual(self.evaluate(plan, "torch.safetensors", *options), wanted)
        self.write("map.json", json.dumps({"0.bias": "dense_1.bias", "3.bias": "dense_2.bias", "11.bias": "dense_3.bias",
                                           "0.weight": "dense_1.weights", "3.weight": "dense_2.weights",
                                           "11.weight": "dense_3.weights"}))
        refused("--map", "map.json", said=("fit as own and as torch", "--layout"))
        self.assertEqual(self.evaluate(plan, "torch.safetensors", "--map", "map.json", "--layout", "torch"), wanted)

    def test_a_number_that_is_none_is_named(self):
        plan = self.train()
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        for value, text in ((float("nan"), "nan"), (float("inf"), "inf")):
            bias = own["dense_1.bias"]
            numbers = list(bias.data)
            numbers[3] = numbers[7] = value
            write_safetensors(self.path("bad.safetensors"), {**own, "dense_1.bias": Array(bias.descr, bias.shape, numbers)})
            self.expect(self.dtnn_run("evaluate", plan, "--weights", "bad.safetensors"), 5,
                        f"dense_1.bias holds {text} at [3], which is no finite number (the first of 2)")

    def test_a_map_renames_drops_and_is_held_to_what_it_says(self):
        plan = self.train()
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        wanted = self.evaluate(plan, "run/weights.safetensors")
        write_safetensors(self.path("torch.safetensors"),
                          {"features.0.weight": own["conv2d_1.weights"], "features.0.bias": own["conv2d_1.bias"],
                           "features.0.count": Array("<i8", (), [7]), "head.1.kernel": own["dense_1.weights"],
                           "head.1.bias": own["dense_1.bias"]})
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors"), 5,
                    "conv2d_1.weights f32 [4,1,3,3] is missing", "features.0.count i64 [] is not in the plan",
                    "head.1.kernel f32 [784,10] is not in the plan")
        entries = {"features.0.weight": "conv2d_1.weights", "features.0.count": None,
                   "features.*.*": "conv2d_1.*", "head.*.kernel": "dense_*.weights", "head.*.*": "dense_*.*"}

        def evaluate(text, code, *said):
            self.write("map.json", text)
            return self.expect(self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors", "--map", "map.json",
                                             "--format", "json"), code, *said)

        # The first * of `features.*.*` would be the name of the layer.
        evaluate(json.dumps(entries), 5, "conv2d_1.0 (from features.0.bias) is not in the plan")
        entries["features.0.*"] = "conv2d_1.*"
        del entries["features.*.*"]
        self.assertEqual(json.loads(evaluate(json.dumps(entries), 0).stdout), wanted)
        evaluate(json.dumps({**entries, "stem.*": "conv2d_9.*"}), 5, "`stem.*` matches nothing")
        evaluate(json.dumps({"head.1.bias": "conv2d_1.bias", **entries}), 5, "both go to conv2d_1.bias")
        evaluate("{\"a\": \"*\"}", 5, "more *")
        evaluate("{\"a\": 1}", 5, "`a`")
        evaluate("[]", 5, "no JSON object")
        evaluate("a: b", 5, "no JSON")
        evaluate("{\"a\": \"b\", \"a\": \"c\"}", 5, "twice")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors", "--map", "no.json"), 5, "no.json")
        # In order by role no names are needed, but what has no role is left over.
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors", "--match", "order"), 5,
                    "features.0.count i64 [] is not in the plan")
        process = self.dtnn_run("evaluate", plan, "--weights", "torch.safetensors", "--match", "order",
                                "--allow-missing", "--format", "json")
        self.expect(process, 0, "but not in the plan (1):\n  features.0.count")
        self.assertEqual(json.loads(process.stdout), wanted)

    def test_training_begins_with_a_part_of_other_weights(self):
        self.train()
        other = self.compile("--set", "training.epochs=1", spec=self.write(
            "other.yaml", self.read("tiny.yaml").replace("units: 10", "units: 12\n    - dense: {units: 10")
            .replace("- dense: {units: 12\n", "- dense: {units: 12}\n")), plan="other.json")
        self.expect(self.dtnn_run(other, "--weights", "run/weights.safetensors", "--output", "tuned"), 5,
                    "dense_1.weights is f32 [784,10] in the file and f32 [784,12] in the plan",
                    "dense_2.weights f32 [12,10] is missing")
        self.assertFalse(os.path.exists(self.path("tuned")))
        self.write("map.json", json.dumps({"dense_1.*": None}))
        self.expect(self.dtnn_run(other, "--weights", "run/weights.safetensors", "--output", "tuned", "--map",
                                  "map.json", "--allow-missing", "--progress", "none"), 0,
                    "kept as initialised (4):", "dense_1.weights", "dense_2.bias")

    def test_files_that_are_no_weights(self):
        plan = self.train()
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        write_npz(self.path("good.npz"), own)
        with open(self.path("good.npz"), "rb") as file:
            good = file.read()

        def refused(name, data, *said):
            with open(self.path(name), "wb") as file:
                file.write(data)
            self.expect(self.dtnn_run("evaluate", plan, "--weights", name), 5, name, "help:", *said)

        refused("cut.npz", good[:len(good) // 2])
        refused("flipped.npz", good.replace(b"\x93NUMPY", b"\x93NUMPX", 1))
        changed = bytearray(good)
        changed[200] ^= 1
        refused("changed.npz", bytes(changed))
        refused("text.npz", b"no zip at all", "no zip file of arrays")
        refused("zip.safetensors", good, "a zip file")
        refused("one.npy", npy_bytes(own["dense_1.bias"]))
        with zipfile.ZipFile(self.path("mixed.npz"), "w") as file:
            file.writestr("readme.txt", "hello")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "mixed.npz"), 5, "readme.txt")
        with zipfile.ZipFile(self.path("climbs.npz"), "w") as file:
            file.writestr("../x.npy", npy_bytes(own["dense_1.bias"]))
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "climbs.npz"), 5, "climbs out")
        header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
        pickled = b"\x93NUMPY\x01\x00v\x00" + header
        with zipfile.ZipFile(self.path("pickled.npz"), "w") as file:
            file.writestr("layers.npy", pickled + b"cos\nsystem\n(S'touch executed'\ntR.")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "pickled.npz"), 5, "pickled.npz", "object")
        self.assertFalse(os.path.exists(self.path("executed")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
