#!/usr/bin/env python3
"""PyTorch's weights, in and out: small networks of torchvision's blocks, whose files and predictions are committed
(tests/peers/torchvision), by the maps that ship for the families."""

import json
import math
import os
import struct
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz, read_safetensors, write_safetensors
from commands import ROOT, CommandTest

PEER = os.path.join(ROOT, "tests", "peers", "torchvision")
TINY_FILE = os.path.join(PEER, "tiny_residual.safetensors")
MODEL = """model:
  extends: resnet18
  name: {name}
  input: {{shape: [3, 32, 32]}}
  parameters: {{width: 2, blocks_1: 1, blocks_2: 1, blocks_3: 1, blocks_4: 1, classes: {classes}}}
"""
JOB = """kind: job
name: tiny_residual
{model}dataset: {{kind: dataset, name: few, type: synthetic, shape: [3, 32, 32], classes: {classes}, train_samples: 16,
          test_samples: 8}}
training: {{kind: training, name: short, optimizer: sgd, batch_size: 4, epochs: 1{training}}}
"""


# The others beside the residual one: the model that they extend, its parameters, and the map.
OTHERS = {
    "tiny_grouped": ("resnext50_32x4d", "width: 2, groups: 2, group_width: 64, blocks_1: 1, blocks_2: 1, blocks_3: 1, "
                                        "blocks_4: 1", "torchvision/resnet"),
    "tiny_alexnet": ("alexnet2014", "width: 1, features: 4", "torchvision/alexnet"),
}


class TorchWeights(CommandTest):
    def setUp(self):
        super().setUp()
        self.plan = self.compile_job()
        self.take("tiny_residual")

    def take(self, network):
        """The inputs and the predictions of a network; the size of its images."""
        with open(os.path.join(PEER, network + ".json"), encoding="utf-8") as file:
            facts = json.load(file)
        self.expected, size = facts["probabilities"], facts["size"]
        # As the script beside the file computes it.
        count = 2 * 3 * size * size
        values = [struct.unpack("<f", struct.pack("<f", math.sin(0.37 * i)))[0] for i in range(count)]
        with open(self.path("x.npy"), "wb") as file:
            file.write(npy_bytes(Array("<f4", (2, 3, size, size), values)))
        return size

    def compile_job(self, name="resnet18", classes=5, training="", plan="plan.json"):
        model = MODEL.format(name=name, classes=classes)
        spec = self.write("job.yaml", JOB.format(model=model, classes=classes, training=training))
        return self.compile(spec=spec, plan=plan)

    def predictions(self, weights, *options, plan=None):
        self.expect(self.dtnn_run("predict", plan or self.plan, "--weights", weights, "--input", "x.npy", "-o", "p.npz",
                                  *options), 0)
        data = read_npz(self.path("p.npz"))["probabilities"].data
        return [data[i:i + 5] for i in range(0, len(data), 5)]

    def assert_expected(self, predictions):
        for ours, theirs in zip(predictions, self.expected, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                self.assertAlmostEqual(a, b, delta=1e-4 * max(theirs))
                self.assertAlmostEqual(math.log(a), math.log(b), delta=1e-3)

    def test_groups_and_adaptive_pooling(self):
        for network, (model, parameters, shipped) in OTHERS.items():
            with self.subTest(network=network):
                size, theirs = self.take(network), os.path.join(PEER, network + ".safetensors")
                job = JOB.format(model=f"model: {{extends: {model}, name: {network}, input: {{shape: [3, {size}, {size}]}}, "
                                       f"parameters: {{{parameters}, classes: 5}}}}\n", classes=5, training="")
                plan = self.compile(spec=self.write("other.yaml", job.replace("[3, 32, 32]", f"[3, {size}, {size}]")),
                                    plan="other.json")
                self.assert_expected(self.predictions(theirs, plan=plan))
                self.expect(self.dtnn_run("weights", "import", theirs, "--plan", plan, "-o", "w.safetensors"), 0,
                            "names of " + shipped)
                self.expect(self.dtnn_run("weights", "export", "w.safetensors", "--plan", plan, "--map", "torchvision",
                                          "-o", "back.safetensors"), 0)
                self.assertEqual(read_safetensors(self.path("back.safetensors"))[0], read_safetensors(theirs)[0])

    def test_predictions_are_theirs_and_the_way_back_gives_their_file(self):
        self.assert_expected(self.predictions(TINY_FILE))
        process = self.expect(self.dtnn_run("weights", "import", TINY_FILE, "--plan", self.plan, "-o", "w.safetensors"), 0,
                              "wrote w.safetensors", "names of torchvision/resnet")
        self.assertEqual(process.stdout, "")
        self.assert_expected(self.predictions("w.safetensors"))
        _, metadata = read_safetensors(self.path("w.safetensors"))
        self.assertEqual((metadata["format"], metadata["model"]), ("dtnn", "resnet18"))
        self.expect(self.dtnn_run("weights", "export", "w.safetensors", "--plan", self.plan, "--map", "torchvision", "-o",
                                  "back.safetensors"), 0)
        theirs, _ = read_safetensors(TINY_FILE)
        back, metadata = read_safetensors(self.path("back.safetensors"))
        # Everything that load_state_dict(strict=True) wants, and nothing else; the counts of batches are 0 in both.
        self.assertEqual(back, theirs)
        self.assertEqual(metadata, {"format": "pt"})
        self.expect(self.dtnn_run("weights", "import", "back.safetensors", "--plan", self.plan, "-o", "again.safetensors"), 0)
        self.assertEqual(read_safetensors(self.path("again.safetensors"))[0],
                         read_safetensors(self.path("w.safetensors"))[0])
        # As saved from DistributedDataParallel and torch.compile.
        write_safetensors(self.path("wrapped.safetensors"),
                          {"module._orig_mod." + name: array for name, array in theirs.items()})
        self.expect(self.dtnn_run("weights", "import", "wrapped.safetensors", "--plan", self.plan, "-o",
                                  "again.safetensors"), 0, "names of torchvision/resnet")
        self.assertEqual(read_safetensors(self.path("again.safetensors"))[0],
                         read_safetensors(self.path("w.safetensors"))[0])
        # By the map's own name, and as arrays for NumPy.
        self.expect(self.dtnn_run("weights", "export", "w.safetensors", "--plan", self.plan, "--map", "torchvision/resnet",
                                  "-o", "back.npz"), 0)
        self.assertEqual(read_npz(self.path("back.npz")), theirs)

    def test_a_run_is_exported_by_its_own_plan(self):
        self.expect(self.dtnn_run(self.plan, "--weights", TINY_FILE, "--output", "run", "--progress", "none"), 0)
        self.expect(self.dtnn_run("weights", "export", "run", "--map", "torchvision", "-o", "out.safetensors"), 0)
        theirs, _ = read_safetensors(TINY_FILE)
        trained, _ = read_safetensors(self.path("out.safetensors"))
        self.assertEqual({name: array.shape for name, array in trained.items()},
                         {name: array.shape for name, array in theirs.items()})
        self.assertNotEqual(trained["fc.weight"], theirs["fc.weight"])
        self.assertEqual(self.predictions("out.safetensors"), self.predictions("run/weights.safetensors"))

    def test_transfer_to_other_classes_keeps_a_new_head(self):
        frozen = ", groups: [{parameters: \"s*\", frozen: true}]"
        plan = self.compile_job("birds", 7, frozen, "birds.json")
        self.expect(self.dtnn_run(plan, "--weights", TINY_FILE, "--output", "no", "--progress", "none"), 5,
                    "head_1/dense_1.weights (from fc.weight) is f32 [5,16] in the file and f32 [16,7] in the plan",
                    "--keep")
        self.expect(self.dtnn_run(plan, "--weights", TINY_FILE, "--keep", "head_1/*", "--output", "run", "--progress",
                                  "none"), 0, "names of torchvision/resnet", "kept as initialised (2):",
                    "head_1/dense_1.bias")
        trained, _ = read_safetensors(self.path("run/weights.safetensors"))
        theirs, _ = read_safetensors(TINY_FILE)
        self.assertEqual(trained["stem_1/conv2d_1.weights"], theirs["conv1.weight"])
        self.assertEqual(trained["stage_4/residual_1/shortcut_1/conv2d_1.weights"],
                         theirs["layer4.0.downsample.0.weight"])
        self.assertEqual(trained["head_1/dense_1.weights"].shape, (16, 7))
        self.assertTrue(any(trained["head_1/dense_1.bias"].data))
        self.expect(self.dtnn_run(plan, "--weights", TINY_FILE, "--keep", "haed_1/*", "--output", "no"), 5,
                    "called haed_1/*", "head_1/dense_1.bias")
        # A part of the weights of a plan, as a file: the next command keeps the same.
        self.expect(self.dtnn_run("weights", "import", TINY_FILE, "--plan", plan, "--keep", "head_1/*", "-o",
                                  "part.safetensors"), 0)
        self.assertNotIn("head_1/dense_1.bias", read_safetensors(self.path("part.safetensors"))[0])
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "part.safetensors"), 5, "head_1/dense_1.bias", "missing")
        self.expect(self.dtnn_run("evaluate", plan, "--weights", "part.safetensors", "--keep", "head_1/*"), 0)

    def test_numbers_of_16_bits_are_converted_on_request(self):
        theirs, _ = read_safetensors(TINY_FILE)
        header, body = {}, b""
        for i, (name, array) in enumerate(theirs.items()):
            if array.descr == "<f4" and i % 2:
                kind, data = "F16", struct.pack(f"<{len(array.data)}e", *array.data)
            elif array.descr == "<f4":
                wide = struct.pack(f"<{len(array.data)}f", *array.data)
                kind, data = "BF16", b"".join(wide[at + 2:at + 4] for at in range(0, len(wide), 4))
            else:
                kind, data = "I64", struct.pack("<q", *array.data)
            header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
            body += data
        text = json.dumps(header).encode()
        with open(self.path("half.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + body)
        self.expect(self.dtnn_run("weights", "list", "half.safetensors"), 0, "bf16", "fp16")
        self.expect(self.dtnn_run("weights", "import", "half.safetensors", "--plan", self.plan, "-o", "w.safetensors"), 5,
                    "fp16 [", "the plan's model `", "and ", " more", "--cast")
        self.expect(self.dtnn_run("weights", "import", "half.safetensors", "--plan", self.plan, "--cast", "-o",
                                  "w.safetensors"), 0)
        own, _ = read_safetensors(self.path("w.safetensors"))
        for i, (name, array) in enumerate(theirs.items()):
            if name == "fc.bias":
                exact = [struct.unpack("<e", struct.pack("<e", x))[0] if i % 2 else
                         struct.unpack("<f", b"\0\0" + struct.pack("<f", x)[2:])[0] for x in array.data]
                self.assertEqual(own["head_1/dense_1.bias"].data, exact)
        for ours, theirs_of in zip(self.predictions("w.safetensors"), self.expected, strict=True):
            for a, b in zip(ours, theirs_of, strict=True):
                self.assertAlmostEqual(a, b, delta=0.1)
        self.expect(self.dtnn_run("weights", "export", "half.safetensors", "-o", "half.npz"), 5, "no place", "--cast")
        self.assertFalse(os.path.exists(self.path("half.npz")))

    def test_a_map_of_ones_own_goes_both_ways(self):
        self.write("net.yaml", """kind: job
name: net
model:
  kind: model
  name: net
  input: {shape: [1, 4, 4]}
  layers: [flatten, {dense: {units: 16}}, tanh, {dense: {units: 16}}, softmax]
dataset: {kind: dataset, name: few, type: synthetic, shape: [1, 4, 4], classes: 16, train_samples: 16, test_samples: 16}
training: {kind: training, name: short, optimizer: sgd, batch_size: 16, epochs: 1}
""")
        plan = self.compile(spec="net.yaml", plan="net.json")
        self.expect(self.dtnn_run(plan, "--output", "run", "--progress", "none"), 0)
        own, _ = read_safetensors(self.path("run/weights.safetensors"))
        theirs = {}
        for ours, module in (("dense_1", "net.0"), ("dense_2", "net.2")):
            theirs[f"{module}.weight"] = own[f"{ours}.weights"].transpose(1, 0)
            theirs[f"{module}.bias"] = own[f"{ours}.bias"]
        write_safetensors(self.path("theirs.safetensors"), theirs)
        flat = {"net.0.*": "dense_1.*", "net.2.*": "dense_2.*"}
        self.write("flat.json", json.dumps(flat))
        # The dense layers are square: only the map, or the option, says how they lie.
        self.expect(self.dtnn_run("weights", "import", "theirs.safetensors", "--plan", plan, "--map", "flat.json", "-o",
                                  "w.safetensors"), 5, "fit as own and as torch", "--layout")
        self.write("family.json", json.dumps({"layout": "torch", "names": {**flat, "unused.*": "x.*"}}))
        for options in (("--map", "flat.json", "--layout", "torch"), ("--map", "family.json")):
            self.expect(self.dtnn_run("weights", "import", "theirs.safetensors", "--plan", plan, *options, "-o",
                                      "w.safetensors"), 0)
            self.assertEqual(read_safetensors(self.path("w.safetensors"))[0], own)
            self.expect(self.dtnn_run("weights", "export", "run", *options, "-o", "back.safetensors"), 0)
            self.assertEqual(read_safetensors(self.path("back.safetensors"))[0], theirs)
        self.write("part.json", json.dumps({"net.0.*": "dense_1.*"}))
        self.expect(self.dtnn_run("weights", "export", "run", "--map", "part.json", "-o", "no.safetensors"), 5,
                    "has no name", "dense_2.weights\n  dense_2.bias")
        self.assertFalse(os.path.exists(self.path("no.safetensors")))
        self.expect(self.dtnn_run("weights", "export", "run", "--map", "torchvision", "-o", "no.safetensors"), 5,
                    "no map of torchvision fits the plan's model `net`", "resnet50")
        self.expect(self.dtnn_run("weights", "export", "run/weights.safetensors", "--map", "flat.json", "-o",
                                  "no.safetensors"), 2, "--plan")
        # Without a map PyTorch's words for the same layers.
        self.expect(self.dtnn_run("weights", "export", "run", "--layout", "torch", "-o", "plain.safetensors"), 0)
        plain, _ = read_safetensors(self.path("plain.safetensors"))
        write_safetensors(self.path("wrapped.safetensors"), {f"module.{name}": array for name, array in plain.items()})
        self.expect(self.dtnn_run("weights", "import", "wrapped.safetensors", "--plan", plan, "--layout", "torch", "-o",
                                  "w.safetensors"), 0)
        self.assertEqual(read_safetensors(self.path("w.safetensors"))[0], own)
        self.assertEqual(plain["dense_1.weight"], theirs["net.0.weight"])
        self.expect(self.dtnn_run("weights", "import", "plain.safetensors", "--plan", plan, "--layout", "torch", "-o",
                                  "w.safetensors"), 0)
        self.assertEqual(read_safetensors(self.path("w.safetensors"))[0], own)

    def test_programs_in_files_are_refused_and_never_run(self):
        program = b"\x80\x02cos\nsystem\n(S'touch executed'\ntR."
        with zipfile.ZipFile(self.path("model.pth"), "w") as file:
            file.writestr("model/data.pkl", program)
        with open(self.path("old.bin"), "wb") as file:
            file.write(program)
        with open(self.path("keras.h5"), "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))
        with zipfile.ZipFile(self.path("net.keras"), "w") as file:
            file.writestr("config.json", "{}")
        for name, *said in (("net.keras", "Keras", "dtnnc import"), ("model.pth", "PyTorch", "safetensors.torch"), ("old.bin", "PyTorch", "weights_only=True"),
                            ("keras.h5", "HDF5", "numpy.savez")):
            self.expect(self.dtnn_run("predict", self.plan, "--weights", name, "--input", "x.npy"), 5, name, *said)
        self.assertFalse(os.path.exists(self.path("executed")))
        # A header of 640 bytes begins as a pickle does.
        tensors = {"w": Array("<f4", (1,), [1.0])}
        write_safetensors(self.path("long.safetensors"), tensors)
        with open(self.path("long.safetensors"), "rb") as file:
            data = file.read()
        length, = struct.unpack("<Q", data[:8])
        with open(self.path("long.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", 640) + data[8:8 + length].ljust(640) + data[8 + length:])
        self.expect(self.dtnn_run("weights", "list", "long.safetensors"), 0, "1 tensors")

    def test_a_map_of_the_spec_path_counts_before_the_one_that_ships(self):
        folder = self.path("specs/weights/torchvision")
        os.makedirs(folder)
        shipped = os.path.join(ROOT, "specs", "weights", "torchvision", "resnet.json")
        with open(shipped, encoding="utf-8") as file:
            changed = json.load(file)
        changed["names"]["fc.*"] = None
        self.write("specs/weights/torchvision/resnet.json", json.dumps(changed))
        process = self.dtnn_run("weights", "import", TINY_FILE, "--plan", self.plan, "-o", "w.safetensors",
                                env={"DTNN_SPEC_PATH": self.path("specs")})
        self.expect(process, 5, "by the names of torchvision/resnet", "head_1/dense_1.weights f32 [16,5] is missing")
        self.write("specs/weights/torchvision/resnet.json", "{")
        process = self.dtnn_run("weights", "import", TINY_FILE, "--plan", self.plan, "-o", "w.safetensors",
                                env={"DTNN_SPEC_PATH": self.path("specs")})
        self.expect(process, 5, "specs/weights/torchvision/resnet.json", "no JSON")

    def test_the_script_beside_the_files_says_when_it_cannot_run(self):
        script = os.path.join(PEER, "torchvision_weights.py")
        process = subprocess.run([sys.executable, "-c",
                                  "import sys, runpy\nsys.modules['torch'] = None\n"
                                  f"sys.argv = [{script!r}]\nrunpy.run_path({script!r}, run_name='__main__')"],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 77, process.stderr)
        self.assertIn("skipped: ", process.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
