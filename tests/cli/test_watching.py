#!/usr/bin/env python3
"""What a run tells while and after it goes: CSV, TensorBoard's event files, traces, the page. Each is read by a reader
of its own, written from the format's description, not by the code that wrote it."""

import csv
import glob
import html.parser
import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import CommandTest


def crc32c(data):
    """Bit by bit, as RFC 3720 has it."""
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
    return remainder ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    """The records of a TFRecord file; both checksums of each are verified."""
    with open(path, "rb") as file:
        data = file.read()
    while data:
        header, data = data[:8], data[8:]
        (length,) = struct.unpack("<Q", header)
        assert struct.unpack("<I", data[:4])[0] == masked(header), "checksum of a length"
        record, data = data[4:4 + length], data[4 + length:]
        assert struct.unpack("<I", data[:4])[0] == masked(record), "checksum of a record"
        data = data[4:]
        yield record


def fields(message):
    """(number, value) of a protobuf message; groups do not occur."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 0x7F) << shift
            shift += 7
            at += 1
            if message[at - 1] < 0x80:
                return value, at
    at = 0
    while at < len(message):
        key, at = varint(at)
        kind = key & 7
        if kind == 0:
            value, at = varint(at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", message, at)[0], at + 8
        elif kind == 5:
            value, at = struct.unpack_from("<f", message, at)[0], at + 4
        else:
            assert kind == 2, f"wire type {kind}"
            length, at = varint(at)
            value, at = message[at:at + length], at + length
        yield key >> 3, value


def events(path):
    """Each event as a dictionary, with scalars and histograms by tag."""
    for record in records(path):
        raw = dict(fields(record))
        event = {"time": raw[1], "step": raw.get(2, 0), "scalars": {}, "histograms": {}, "nodes": None}
        event["version"] = raw.get(3)
        if 5 in raw:
            for number, value in fields(raw[5]):
                assert number == 1
                entry = dict(fields(value))
                tag = entry[1].decode()
                if 2 in entry:
                    event["scalars"][tag] = entry[2]
                else:
                    event["histograms"][tag] = dict(fields(entry[5]))
        if 4 in raw:
            event["nodes"] = [list(fields(node)) for number, node in fields(raw[4]) if number == 1]
        yield event


class Page(html.parser.HTMLParser):
    """Notes what a page loads and whether its elements close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.text, self.tags = [], [], "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href", "xlink:href", "data", "action")]
        if tag not in ("meta", "br", "hr", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data


class Watching(CommandTest):
    def setUp(self):
        super().setUp()
        self.compile()
        self.expect(self.dtnn_run("plan.json", "-o", "run", "--tensorboard", "--histograms", "1", "--trace",
                                  "trace.json", "--progress", "none"), 0)
        with open(self.path("run/history.jsonl"), encoding="utf-8") as file:
            self.history = [json.loads(line) for line in file]
        self.epochs = [event for event in self.history if event["event"] == "epoch"]
        with open(self.path("plan.json"), encoding="utf-8") as file:
            self.plan = json.load(file)

    def test_csv_says_what_the_history_says(self):
        with open(self.path("run/history.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(self.epochs))
        for row, epoch in zip(rows, self.epochs):
            self.assertEqual(int(row["epoch"]), epoch["epoch"])
            for split in ("train", "validation"):
                for name, value in epoch[split].items():
                    self.assertEqual(float(row[f"{split}.{name}"]), value)
            self.assertEqual(float(row["learning_rate"]), epoch["learning_rate"])

    def test_an_epoch_has_the_curve_of_its_loss(self):
        batch, samples = self.plan["training"]["batch_size"], self.plan["dataset"]["train_samples"]
        steps = -(-samples // batch)
        self.assertGreater(steps, 3)
        for every in (0, 3, 10**6):
            with self.subTest(every=every):
                self.compile("--set", f"training.history_every={every}", plan="curve.json")
                self.expect(self.dtnn_run("curve.json", "-o", "curve", "--force", "--progress", "none"), 0)
                with open(self.path("curve/history.jsonl"), encoding="utf-8") as file:
                    epochs = [event for event in map(json.loads, file) if event["event"] == "epoch"]
                each = every or -(-steps // 50)
                for number, epoch in enumerate(epochs):
                    curve = epoch["steps"]
                    first = number * steps
                    ends = [min(first + (i + 1) * each, first + steps) for i in range(-(-steps // each))]
                    self.assertEqual(curve["step"], ends)
                    self.assertEqual(curve["step"][-1], epoch["step"])
                    self.assertEqual(curve["learning_rate"][-1], epoch["learning_rate"])
                    # The epoch's loss is the mean of the points', by their samples.
                    sizes = [min((end - first) * batch, samples) for end in ends]
                    weights = [b - a for a, b in zip([0] + sizes, sizes)]
                    mean = sum(loss * weight for loss, weight in zip(curve["loss"], weights)) / samples
                    self.assertAlmostEqual(mean, epoch["train"]["loss"], delta=1e-9)

    def test_event_files_say_what_the_history_says(self):
        (path,) = glob.glob(self.path("run/tensorboard/events.out.tfevents.*"))
        told = list(events(path))
        self.assertEqual(told[0]["version"], b"brain.Event:2")
        scalars = {event["step"]: event["scalars"] for event in told if "train/loss" in event["scalars"]}
        self.assertEqual(sorted(scalars), [epoch["step"] for epoch in self.epochs])
        for epoch in self.epochs:
            said = scalars[epoch["step"]]
            for split in ("train", "validation"):
                for name, value in epoch[split].items():
                    self.assertAlmostEqual(said[f"{split}/{name}"], value, delta=1e-6 * max(1, abs(value)))
        curve = {event["step"]: event["scalars"] for event in told if "steps/loss" in event["scalars"]}
        for epoch in self.epochs:
            for step, loss, rate in zip(*(epoch["steps"][name] for name in ("step", "loss", "learning_rate"))):
                self.assertAlmostEqual(curve[step]["steps/loss"], loss, delta=1e-5 * max(1, abs(loss)))
                self.assertAlmostEqual(curve[step]["steps/learning_rate"], rate, delta=1e-6)
        test = self.history[-1]["test"]
        said = [event["scalars"] for event in told if "test/loss" in event["scalars"]]
        self.assertEqual(len(said), 1)
        self.assertAlmostEqual(said[0]["test/loss"], test["loss"], delta=1e-6)
        # Histograms of every parameter at the start and after every epoch.
        histograms = [(event["step"], tag, value) for event in told for tag, value in event["histograms"].items()]
        parameters = {p["name"]: p for p in self.plan["parameters"] if not p["optimizer_state"]}
        self.assertEqual(len(histograms), len(parameters) * (len(self.epochs) + 1))
        for _, tag, value in histograms:
            elements = 1
            for extent in parameters[tag]["dims"]:
                elements *= extent
            self.assertEqual(value[3], elements)
        (graph,) = [event["nodes"] for event in told if event["nodes"]]
        names = [dict(node)[1].decode() for node in graph]
        self.assertEqual(names, ["input"] + [layer["name"] for layer in self.plan["layers"]])

    def test_a_trace_has_the_trace_event_format(self):
        with open(self.path("trace.json"), encoding="utf-8") as file:
            trace = json.load(file)
        self.assertIn(trace["displayTimeUnit"], ("ms", "ns"))
        spans = []
        for event in trace["traceEvents"]:
            self.assertIn(event["ph"], ("X", "M"))
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            self.assertIsInstance(event["name"], str)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["ts"], 0)
                self.assertGreaterEqual(event["dur"], 0)
                spans.append(event)
        # Steps on a lane do not overlap; they carry operator and spec line.
        lane = sorted((event for event in spans if event["tid"] == 0), key=lambda event: event["ts"])
        for before, after in zip(lane, lane[1:]):
            self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 0.002)
        self.assertTrue(any("tiny.yaml:8" in event["name"] and "conv2d" in event["name"] for event in lane))
        self.assertEqual({event["cat"] for event in lane}, {"forward", "backward", "update", "metric"})
        table = self.read("run/operator_times.txt")
        for event in lane:
            self.assertIn(event["name"].split(" ")[0], table)

    def test_the_page_loads_nothing_and_shows_the_run(self):
        self.expect(self.dtnn_run("report", "run"), 0, "run/report.html")
        text = self.read("run/report.html")
        page = Page()
        page.feed(text)
        self.assertEqual(page.open, [])
        # Links lead to the page's own parts.
        self.assertEqual([load for load in page.loads if not load.startswith("#")], [])
        self.assertNotIn("script", page.tags)
        self.assertNotIn("url(", text)
        for word in ("finished", "tiny", "conv2d_1", "training.batch_size", "tiny.yaml:", "learning rate",
                     "Time by operator"):
            self.assertIn(word, page.text)
        self.assertGreaterEqual(page.tags.count("svg"), 4)
        same = self.expect(self.dtnn_run("report", "run", "-o", "-"), 0).stdout
        self.assertEqual(same, text)

    def test_a_report_of_what_is_no_run_says_so(self):
        os.mkdir(self.path("empty"))
        self.expect(self.dtnn_run("report", "nowhere"), 2, "nowhere", "folder of a run")
        self.expect(self.dtnn_run("report", "empty"), 2, "empty", "folder of a run")
        with open(self.path("run/history.jsonl"), "r+", encoding="utf-8") as file:
            text = file.read()
            file.seek(0)
            file.write(text.replace('"event"', '"evnt"', 1))
            file.truncate()
        self.expect(self.dtnn_run("report", "run"), 1, "history.jsonl:1")

    def test_a_trace_that_cannot_be_written_is_said(self):
        self.expect(self.dtnn_run("plan.json", "-o", "other", "--trace", "missing/trace.json", "--progress", "none"),
                    1, "missing/trace.json")


if __name__ == "__main__":
    unittest.main()
