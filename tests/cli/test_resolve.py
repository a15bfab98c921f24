#!/usr/bin/env python3
"""Resolved specs and lists of settings: complete, with the origin of every value, and equal to what they came from."""

import csv
import glob
import io
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNNC, ROOT, CommandTest, run

SPECS = os.path.join(ROOT, "specs")


def shipped(*kinds):
    return [path for kind in kinds for path in sorted(glob.glob(os.path.join(SPECS, kind, "**", "*.yaml"), recursive=True))]


# A line of resolved text: a value with its origin, or a container or a layer's type, which have none of their own.
HAS_ORIGIN = re.compile(r"  # ([^ ].*:\d+|default|command line)$|^ *[a-z_]+:$")


def without_places(plan):
    """A plan's text less what says where things were written."""
    return re.sub(r'"(place|origin|checksum)": "(?:[^"\\]|\\.)*"', "", plan)


def plan_of(spec, folder):
    process = run(DTNNC, "compile", spec, "-o", "-", "--spec-path", SPECS, cwd=folder)
    if process.returncode:
        raise AssertionError(process.stderr)
    return process.stdout


MODEL = """kind: model
name: net
parameters: {width: 8, scale: 1.0, act: relu}
defaults: {conv2d: {bias: false}, dropout: {rate: "${scale / 4}"}}
input: {shape: [3, 8, 8]}
blocks:
  unit:
    parameters: {filters: integer, kernel: {type: integer_pair, default: 3}}
    layers:
      - conv2d: {filters: "${filters}", kernel: "${kernel}", padding: same}
      - ${act}
layers:
  - unit: {name: stem, filters: "${width}"}
  - add: [[unit: {filters: "${in.channels}"}], []]
  - flatten
  - dense: {name: head, units: 10}
  - softmax
"""


class Resolve(CommandTest):
    def resolve(self, *arguments):
        return self.expect(self.dtnnc("resolve", *arguments), 0).stdout

    def test_resolving_twice_gives_the_same_text(self):
        for spec in shipped("jobs", "models", "datasets", "training"):
            with self.subTest(spec=os.path.relpath(spec, SPECS)):
                settings = ["--set", "dataset.path=data"] if spec.endswith("datasets/mnist.yaml") else []
                plain = self.resolve(spec, "--origins", "none", *settings)
                commented = self.resolve(spec, *settings)
                for text in (plain, commented):
                    self.write("again.yaml", text)
                    self.assertEqual(self.resolve("again.yaml", "--origins", "none"), plain)
                self.expect(self.dtnnc("check", "again.yaml"), 0)
                without = [line for line in commented.splitlines()[1:] if not HAS_ORIGIN.search(line)]
                self.assertEqual(without, [])

    def test_compiling_the_resolved_spec_gives_the_same_plan(self):
        seen = set()
        for spec in shipped("jobs", "models"):
            # Models of several names that are one network need not be compiled again.
            text = self.resolve(spec)
            network = re.sub(r"(?m)^name: .*$|  # .*$", "", text)
            if network in seen:
                continue
            seen.add(network)
            with self.subTest(spec=os.path.relpath(spec, SPECS)):
                self.write("again.yaml", text)
                first, second = plan_of(spec, self.folder), plan_of("again.yaml", self.folder)
                if without_places(first) != without_places(second):
                    self.fail(f"{spec}: the plan of its resolved spec differs")

    def test_origins_are_where_values_were_written(self):
        self.write("net.yaml", MODEL)
        text = self.resolve("net.yaml", "--set", "model.parameters.width=4")
        self.assertRegex(text, r"(?m)^  - conv2d: +# net.yaml:10$")
        self.assertRegex(text, r"(?m)^      name: stem/conv2d_1 +# default$")
        self.assertRegex(text, r"(?m)^      bias: false +# net.yaml:4$")
        self.assertRegex(text, r"(?m)^      stride: \[1, 1\] +# default$")
        self.assertRegex(text, r"(?m)^      units: 10 +# net.yaml:16$")
        values = json.loads(self.resolve("net.yaml", "--format", "json", "--set", "model.input.shape=[3,16,16]"))
        self.assertEqual(values["version"], 1)
        self.assertEqual(values["kind"], "model")
        by_path = {value["path"]: value for value in values["values"]}
        self.assertEqual(by_path["model.input.shape"]["origin"], "command_line")
        self.assertEqual(by_path["model.input.shape"]["value"], [3, 16, 16])
        self.assertEqual(by_path["model.layers.head.units"],
                         {"path": "model.layers.head.units", "value": 10, "origin": "file",
                          "place": {"file": "net.yaml", "line": 16, "column": 32}})
        self.assertEqual(by_path["model.layers.stem/conv2d_1.stride"]["origin"], "default")

    def test_a_command_line_that_changes_more_than_the_model_makes_it_a_job(self):
        self.write("net.yaml", MODEL)
        text = self.resolve("net.yaml", "--set", "training.epochs=3")
        self.assertTrue(text.startswith("kind: job\n"))
        self.assertRegex(text, r"(?m)^  epochs: 3 +# command line$")

    def test_mistakes_plans_and_files(self):
        self.write("bad.yaml", MODEL.replace("units: 10", "unit: 10"))
        process = self.expect(self.dtnnc("resolve", "bad.yaml"), 3, "did you mean `units`?")
        self.assertEqual(process.stdout, "")
        self.expect(self.dtnnc("resolve", self.compile()), 2, "is a plan")
        self.expect(self.dtnnc("resolve", "tiny.yaml", "-o", "out.yaml"), 0)
        self.assertEqual(self.read("out.yaml"), self.resolve("tiny.yaml"))
        self.expect(self.dtnnc("resolve", "nothing.yaml"), 2, "nothing.yaml")


class Settings(CommandTest):
    def test_every_setting_outside_layers(self):
        self.write("net.yaml", MODEL)
        self.write("job.yaml", "kind: job\nmodel: ./net.yaml\ndataset: {kind: dataset, type: synthetic, shape: [3, 8, 8], "
                               "classes: 10}\ntraining: {kind: training, optimizer: adam, epochs: 4}\n")
        process = self.expect(self.dtnnc("settings", "job.yaml", "--format", "json", "--set",
                                         "model.parameters.width=16"), 0)
        settings = {one["path"]: one for one in json.loads(process.stdout)["settings"]}
        for path, value, origin in (("name", "job", "default"), ("threads", 0, "default"),
                                    ("memory_budget", None, "default"), ("model.parameters.width", 16, "command_line"),
                                    ("model.parameters.scale", 1.0, "file"), ("model.parameters.act", "relu", "file"),
                                    ("training.epochs", 4, "file"), ("training.batch_size", 64, "default"),
                                    ("training.optimizer.adam.beta1", 0.9, "default"),
                                    ("dataset.classes", 10, "file")):
            self.assertEqual((settings[path]["value"], settings[path]["origin"]), (value, origin), path)
        self.assertEqual(settings["training.batch_size"]["unit"], "samples")
        self.assertEqual(settings["training.epochs"]["place"], {"file": "job.yaml", "line": 4, "column": 53})
        self.assertFalse([path for path in settings if path.startswith("model.layers.")])
        # Every setting has an explanation.
        self.assertFalse([path for path, one in settings.items() if not one["doc"]])

    def test_the_other_forms_say_the_same(self):
        process = self.expect(self.dtnnc("settings", "tiny.yaml", "--format", "json"), 0)
        paths = [one["path"] for one in json.loads(process.stdout)["settings"]]
        text = self.expect(self.dtnnc("settings", "tiny.yaml"), 0).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in text], ["setting"] + paths)
        rows = list(csv.reader(io.StringIO(self.expect(self.dtnnc("settings", "tiny.yaml", "--format", "csv"), 0).stdout)))
        self.assertEqual([row[0] for row in rows], ["setting"] + paths)
        self.assertEqual({len(row) for row in rows}, {5})
        markdown = self.expect(self.dtnnc("settings", "tiny.yaml", "--format", "markdown"), 0).stdout.splitlines()
        self.assertEqual([line.split(" | ")[0] for line in markdown[2:]], ["| " + path for path in paths])
        self.assertTrue(re.fullmatch(r"\|(-+\|)+", markdown[1]))
        # A plan knows the same settings.
        of_plan = self.expect(self.dtnnc("settings", self.compile(), "--format", "json"), 0).stdout
        self.assertEqual([one["path"] for one in json.loads(of_plan)["settings"]], paths)

    def test_of_a_training_by_itself(self):
        spec = os.path.join(SPECS, "training", "adam.yaml")
        self.expect(self.dtnnc("settings", spec), 0, "training.optimizer.adam.learning_rate")


class Setting(CommandTest):
    """--set into everything that a model declares."""

    def value(self, path, *settings):
        arguments = [word for setting in settings for word in ("--set", setting)]
        process = self.expect(self.dtnnc("resolve", "net.yaml", "--format", "json", *arguments), 0)
        return {one["path"]: one["value"] for one in json.loads(process.stdout)["values"]}[path]

    def refused(self, setting, code, *texts):
        self.expect(self.dtnnc("check", "net.yaml", "--set", setting), code, *texts)

    def setUp(self):
        super().setUp()
        self.write("net.yaml", MODEL)

    def test_parameters_keep_their_type(self):
        self.assertEqual(self.value("model.layers.stem/conv2d_1.filters", "model.parameters.width=24"), 24)
        self.refused("model.parameters.widht=24", 3, "`widht` is no parameter of the model", "did you mean `width`?")
        self.refused("model.parameters.zzz=24", 3, "the parameters are")
        self.refused("model.parameters.width=wide", 3, "it must be an integer, as in the model", "it is declared here")
        self.refused("model.parameters.width=1.5", 3, "an integer")
        self.refused("model.parameters.act=3", 3, "text")
        # An integer for a real parameter stays real.
        self.write("net.yaml", MODEL.replace('units: 10', 'units: "${floor(10 * scale)}"'))
        self.assertEqual(self.value("model.layers.head.units", "model.parameters.scale=2"), 20)
        self.write("net.yaml", MODEL.replace('units: 10', 'units: "${10 * scale}"'))
        self.refused("model.parameters.scale=2", 3, "20.0")

    def test_blocks_and_defaults(self):
        self.assertEqual(self.value("model.layers.stem/conv2d_1.kernel", "model.blocks.unit.parameters.kernel.default=5"),
                         [5, 5])
        self.assertEqual(self.value("model.layers.stem/conv2d_1.stride", "model.blocks.unit.layers.0.conv2d.stride=1"),
                         [1, 1])
        self.write("net.yaml", MODEL.replace('filters: "${in.channels}"', ""))
        self.refused("model.parameters.width=8", 3, "filters")
        self.assertEqual(self.value("model.layers.stem/conv2d_1.filters",
                                    'model.blocks.unit.parameters.filters.default="${in.channels}"'), 8)
        self.write("net.yaml", MODEL)
        self.assertIs(self.value("model.layers.stem/conv2d_1.bias", "model.defaults.conv2d.bias=true"), True)
        self.assertEqual(self.value("model.layers.head.weights_initializer",
                                    "model.defaults.dense.weights_initializer=he_normal"), "he_normal")
        self.refused("model.blocks.unti.layers.0=relu", 2, "no block `unti`", "did you mean `unit`?")
        self.refused("model.defaults.conv2d.bais=true", 3, "did you mean `bias`?")

    def test_layers_by_name_and_index(self):
        self.assertEqual(self.value("model.layers.head.units", "model.layers.head.units=5"), 5)
        self.assertEqual(self.value("model.layers.head.units", "model.layers.head.dense.units=6"), 6)
        self.assertEqual(self.value("model.layers.head.units", "model.layers.3.dense.units=7"), 7)
        self.assertEqual(self.value("model.layers.stem/conv2d_1.filters", "model.layers.stem.filters=3"), 3)
        self.assertEqual(self.value("model.layers.unit_2/conv2d_1.kernel", "model.layers.1.add.0.0.unit.kernel=1"), [1, 1])
        self.refused("model.layers.haed.units=5", 2, "no layer of the list is given the name `haed`",
                     "did you mean `head`?")
        self.refused("model.layers.zzz.units=5", 2, "the layers with names are")
        self.refused("model.layers.head=5", 2, "must name a field")
        self.refused("model.layers.3.units=5", 2, "the layer is `dense`, not `units`", "model.layers.3.dense")
        self.refused("model.layers.9.dense.units=5", 3, "the list has 5 values")
        self.refused("model.layers.head.unit=5", 3, "did you mean `units`?")
        self.refused("modle.name=x", 3, "did you mean `model`?")


if __name__ == "__main__":
    unittest.main(verbosity=2)
