#!/usr/bin/env python3
"""The commands that show a network: summary, graph, schema."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNNC, ROOT, CommandTest

RESIDUAL = os.path.join(ROOT, "specs", "jobs", "digits_residual.yaml")
RESNET20 = os.path.join(ROOT, "specs", "models", "pydtnn", "resnet20.yaml")
RESNET1202 = os.path.join(ROOT, "specs", "models", "pydtnn", "resnet1202.yaml")


class Summary(CommandTest):
    def test_forms_agree(self):
        summary = json.loads(self.expect(self.dtnnc("summary", RESIDUAL, "--format", "json"), 0).stdout)
        rows = list(csv.DictReader(io.StringIO(
            self.expect(self.dtnnc("summary", RESIDUAL, "--format", "csv", "--with", "flops,from"), 0).stdout)))
        self.assertEqual([row["name"] for row in rows], [layer["name"] for layer in summary["layers"]])
        self.assertEqual([int(row["parameters"]) for row in rows],
                         [layer["parameters"] for layer in summary["layers"]])
        self.assertEqual(sum(int(row["flops"]) for row in rows), summary["work"]["forward_flops_per_sample"])
        markdown = self.expect(self.dtnnc("summary", RESIDUAL, "--format", "markdown"), 0).stdout
        self.assertEqual(len(re.findall(r"(?m)^\| \d+ \|", markdown)), len(rows))
        self.assertEqual(self.expect(self.dtnnc("summary", RESIDUAL, "--format", "table"), 0).stdout,
                         self.expect(self.dtnnc("summary", RESIDUAL), 0).stdout)

    def test_a_plan_and_its_spec_have_one_summary(self):
        plan = self.compile()
        columns = ("--with", "flops,bytes,memory,fused,kernel,receptive_field,from,trainable")
        self.assertEqual(self.expect(self.dtnnc("summary", plan, *columns, "--format", "csv"), 0).stdout,
                         self.expect(self.dtnnc("summary", "tiny.yaml", *columns, "--format", "csv"), 0).stdout)

    def test_totals_do_not_depend_on_depth(self):
        totals = set()
        for depth in ((), ("--depth", "1"), ("--depth", "2")):
            summary = json.loads(self.expect(self.dtnnc("summary", RESNET20, "--format", "json", *depth), 0).stdout)
            layers = summary["layers"]
            totals.add((sum(layer["parameters"] for layer in layers), sum(layer["trainable"] for layer in layers),
                        sum(layer["forward_flops"] for layer in layers),
                        sum(layer.get("layers", 1) for layer in layers)))
        self.assertEqual(len(totals), 1, totals)

    def test_the_table_fits_the_terminal(self):
        for width in (60, 80, 100, 140):
            process = self.expect(self.dtnnc("summary", RESNET20, env={"COLUMNS": str(width)}), 0)
            rule = max((line for line in process.stdout.splitlines() if set(line) == {"-"}), key=len)
            self.assertLessEqual(len(rule), width)

    def test_mistakes(self):
        self.expect(self.dtnnc("summary", "tiny.yaml", "--columns", "paramters"), 2, "did you mean `parameters`?")
        self.expect(self.dtnnc("summary", "tiny.yaml", "--with", "quux"), 2, "receptive_field")
        self.expect(self.dtnnc("summary", "tiny.yaml", "--depth", "0"), 2)
        self.expect(self.dtnnc("summary", "tiny.yaml", "--format", "yaml"), 2)


class Graph(CommandTest):
    def test_dot(self):
        dot = self.expect(self.dtnnc("graph", RESIDUAL, "-o", "-"), 0).stdout
        layers = json.loads(self.expect(self.dtnnc("summary", RESIDUAL, "--format", "json"), 0).stdout)["layers"]
        # Every layer, the input and the output; an arrow for every source and one to the output.
        self.assertEqual(len(re.findall(r"(?m)^ +n\d+ \[", dot)), len(layers) + 2)
        self.assertEqual(dot.count(" -> ") - dot.count("style=invis"), sum(len(layer["from"]) for layer in layers) + 1)
        self.assertIn("16\u00d728\u00d728", dot)

    def test_blocks_are_boxes_or_one_node(self):
        whole = self.expect(self.dtnnc("graph", RESNET20, "-o", "-"), 0).stdout
        self.assertIn('label="stage_1"', whole)
        self.assertIn('label="residual_1"', whole)
        self.assertEqual(whole.count("{"), whole.count("}"))
        top = self.expect(self.dtnnc("graph", RESNET20, "-o", "-", "--depth", "1"), 0).stdout
        self.assertNotIn("subgraph", top)
        self.assertLess(top.count(" -> "), 10)

    def test_steps_after_fusion(self):
        evaluate = self.expect(self.dtnnc("graph", RESIDUAL, "-o", "-", "--fused", "--program", "evaluate"), 0).stdout
        self.assertIn("conv2d_3 + batch_norm_3 + add_1 + relu_3", evaluate)
        train = self.expect(self.dtnnc("graph", RESIDUAL, "-o", "-", "--fused"), 0).stdout
        self.assertIn("conv2d_backward_weights", train)
        self.assertIn("sgd_update: weights", train)
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "-", "--program", "evaluat"), 2, "did you mean `evaluate`?")

    def test_operators_have_families(self):
        layers = ("identity", "scale", "log_sigmoid", "arctanh", "log", "log_softmax", "flatten", "reshape: {shape: [-1]}")
        self.write("layers.yaml", "kind: model\nname: layers\ninput: {shape: [1, 4, 4]}\nlayers:\n" +
                   "".join(f"  - {layer}\n" for layer in layers))
        dot = self.expect(self.dtnnc("graph", "layers.yaml", "-o", "-"), 0, "> activation <", "> shape <").stdout
        self.assertNotIn("> other <", dot)

    def test_names_are_escaped(self):
        self.write("odd.yaml", self.read("tiny.yaml").replace("name: tiny\n", "name: a.b-c_d\n", 1))
        self.expect(self.dtnnc("graph", "odd.yaml", "-o", "-"), 0, 'digraph "a.b-c_d"', "<B>a.b-c_d (model tiny)</B>")

    def test_folded_blocks_keep_the_colours_of_their_layers(self):
        top = self.expect(self.dtnnc("graph", RESNET20, "-o", "-", "--depth", "1"), 0).stdout
        stripes = re.findall(r'fillcolor="([^"]*)"[^\n]*style=striped', top)
        self.assertGreater(len(stripes), 2)
        for one in stripes:
            shares = [float(part.split(";")[1]) for part in one.split(":")]
            self.assertGreater(len(shares), 2)
            self.assertAlmostEqual(sum(shares), 1, places=2)
        self.assertIn("> convolution <", top)
        self.assertNotIn("> block <", top)

    def test_long_networks_are_set_in_columns(self):
        def breaks(*arguments):
            return self.expect(self.dtnnc("graph", *arguments, "-o", "-"), 0).stdout.count("style=dashed")
        self.assertEqual(breaks("simplecnn"), 0)
        self.assertEqual(breaks("vgg16"), 2)
        # Both arrows of a shortcut lead to the next column.
        self.assertGreaterEqual(breaks(RESNET20), 2)

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_columns_are_read_from_the_left(self):
        for network in (("vgg16",), ("resnet50",), ("googlenet", "--depth", "2"), ("densenet121", "--depth", "1")):
            dot = self.expect(self.dtnnc("graph", *network, "-o", "-"), 0).stdout
            plain = subprocess.run(["dot", "-Tplain"], input=dot, capture_output=True, text=True, check=True).stdout
            place = {line.split()[1]: float(line.split()[2]) for line in plain.splitlines() if line.startswith("node ")}
            breaks = sorted({(int(foot), int(head)) for foot, head in
                             re.findall(r"n(\d+) -> n(\d+) [^\n]*style=dashed", dot)})
            heads = {}
            for foot, head in breaks:
                heads.setdefault(foot, place[f"n{head}"])
            columns = [place["n0"]] + [heads[foot] for foot in sorted(heads)]
            self.assertGreater(len(columns), 1, network)
            self.assertEqual(columns, sorted(columns), network)

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_a_page_with_search_and_zoom(self):
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net.html"), 0, "wrote net.html")
        page = self.read("net.html")
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertEqual(page.count("<svg"), 1)
        self.assertIn('type="search"', page)
        # A search finds the whole name with type and fields, of every layer.
        self.assertRegex(page, r'xlink:title="conv2d_1: conv2d [^"]*filters=16')
        # The whole is in the window at first, and texts are in the middle of their boxes, whatever font there is.
        self.assertIn("main.clientHeight", page)
        nodes = re.findall(r'class="node">(.*?)\n<!--', page, re.DOTALL)
        self.assertGreater(len(nodes), 3)
        for node in nodes:
            places = [float(x) for x in re.findall(r"(-?[\d.]+),-?[\d.]+", re.search(r' (?:d|points)="([^"]*)"', node)[1])]
            texts = re.findall(r'<text text-anchor="(\w+)" x="([-\d.]+)"', node)
            self.assertTrue(texts)
            for anchor, x in texts:
                self.assertEqual(anchor, "middle")
                self.assertAlmostEqual(float(x), (min(places) + max(places)) / 2, delta=0.1)
        # The page loads no file from elsewhere.
        self.assertEqual([link for link in re.findall(r'(?:src|href)="([^"]*)"', page) if not link.startswith("#")], [])
        self.assertEqual(set(re.findall(r'https?://[^"\s]*', page)),
                         {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"})

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_pictures(self):
        for form, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net." + form), 0, "wrote net." + form)
            with open(self.path("net." + form), "rb") as file:
                self.assertTrue(file.read().startswith(start), form)
        self.assertEqual(sorted(os.listdir(self.folder)), ["net.pdf", "net.png", "net.svg", "tiny.yaml"])
        for options in (("--fused",), ("--program", "evaluate"), ("--depth", "1")):
            self.expect(self.dtnnc("graph", RESNET20, "-o", "net.svg", *options), 0)
        # A browser shows the picture in dark colours where the system has them: the paper, the title, not the legend.
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net.svg"), 0)
        picture = self.read("net.svg")
        style = picture[picture.index("<style>"):picture.index("</style>")]
        self.assertIn("prefers-color-scheme: dark", style)
        for selector in re.findall(r'\.graph > (\w+)\[fill="([^"]+)"\]', style):
            self.assertRegex(picture, r"<{}[^>]* fill=\"{}\"".format(*selector))
        self.assertRegex(picture, r'fill="#111111"> convolution <')
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "no/such/folder/net.svg"), 1, "no/such/folder")
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "picture", "--format", "svg"), 0)
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = self.dtnnc("graph", RESIDUAL, "-o", "-", "--format", "svg", stdout=full)
        self.assertEqual(process.returncode, 1, process.stderr)

    def test_what_cannot_be_drawn(self):
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net.gif"), 2, ".svg")
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net.svg", env={"PATH": self.folder}), 1, "graphviz")
        begin = time.monotonic()
        self.expect(self.dtnnc("graph", RESNET1202, "-o", "net.svg"), 2, "--depth 2")
        self.assertLess(time.monotonic() - begin, 60)
        # A program that fails is told by its own words, and what was there stays.
        self.write("dot", "#!/bin/sh\necho no such font >&2\nexit 3\n")
        os.chmod(self.path("dot"), 0o755)
        self.write("net.svg", "old")
        self.expect(self.dtnnc("graph", RESIDUAL, "-o", "net.svg", env={"PATH": self.folder + ":/bin:/usr/bin"}), 1,
                    "no such font")
        self.assertEqual(self.read("net.svg"), "old")

    @unittest.skipUnless(shutil.which("dot"), "graphviz is not installed")
    def test_dot_reads_every_drawing(self):
        for model in ("inception_small", "unet", "squeezenet1_1"):
            dot = self.expect(self.dtnnc("graph", model, "-o", "-"), 0).stdout
            process = subprocess.run(["dot", "-Tdot"], input=dot, capture_output=True, text=True, check=False)
            self.assertEqual((process.returncode, process.stderr), (0, ""), model)


class Schema(CommandTest):
    def test_output(self):
        whole = json.loads(self.expect(self.dtnnc("schema"), 0).stdout)
        self.assertEqual(whole, json.loads(self.expect(self.dtnnc("schema", "-o", "-"), 0).stdout))
        self.assertEqual(set(whole["properties"]["kind"]["enum"]), {"job", "model", "dataset", "training", "machine", "operator", "loss"})
        self.expect(self.dtnnc("schema", "-o", "folder"), 0)
        self.assertEqual(sorted(os.listdir(self.path("folder"))),
                         [f"{kind}.schema.json" for kind in ("dataset", "definitions", "dtnn", "job", "loss", "machine", "model", "operator", "training")])
        self.expect(self.dtnnc("schema", "--kind", "model"), 0, "conv2d")
        self.expect(self.dtnnc("schema", "--kind", "modle"), 2)
        self.expect(self.dtnnc("schema", "-o", "tiny.yaml"), 1, "tiny.yaml")


if __name__ == "__main__":
    unittest.main()
