"""Formats of files: what is written is what its number says, a run of an earlier build is read, other numbers are refused by name.

    test_formats.py --make    makes tests/formats/run again, which the change of a number asks for
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import DTNN_RUN, DTNNC, ROOT, CommandTest, run

FORMATS = os.path.join(ROOT, "tests", "formats")
RUN = os.path.join(FORMATS, "run")
REWRITES = bool(os.environ.get("DTNN_REWRITE_GOLDENS"))
# The least network, whose schedules make its history have every event of a training without faults.
SMALLEST = """kind: job
name: smallest
model: {kind: model, name: line, input: {shape: [2, 1, 1]}, layers: [flatten, dense: {units: 3}, softmax]}
dataset: {kind: dataset, name: made_up, type: synthetic, shape: [2, 1, 1], classes: 3, train_samples: 20, test_samples: 4}
training: {kind: training, name: short, optimizer: sgd, batch_size: 4, epochs: 6, validation_split: 0.2,
           metrics: [categorical_accuracy], checkpoint: {keep: 1},
           schedules: [early_stopping: {patience: 1, threshold: 10, restore_best: true}]}
"""


def numbers():
    """The formats' numbers by the names of their files."""
    with open(os.path.join(ROOT, "base", "formats.hpp"), encoding="utf-8") as file:
        return {name.lower(): int(number) for name, number in re.findall(r"Format k(\w+)\{\"[^\"]*\", (\d+)\}", file.read())}


def shape(value, way=""):
    """A line for each member of a JSON document: its way from the root, and its type."""
    if isinstance(value, dict):
        return {line for name, inner in value.items() for line in shape(inner, f"{way}.{name}" if way else name)}
    if isinstance(value, list):
        return {line for inner in value for line in shape(inner, way + "[]")} or {way + "[]"}
    kinds = {str: "text", bool: "flag", int: "number", float: "number", type(None): "nothing"}
    return {f"{way}: {kinds[type(value)]}"}


def metadata(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))["__metadata__"]


def make(folder):
    """A plan and its finished training, for any machine."""
    with open(os.path.join(folder, "smallest.yaml"), "w", encoding="utf-8") as file:
        file.write(SMALLEST)
    for command in ((DTNNC, "compile", "smallest.yaml", "--set", "machine.isa=baseline", "--threads", "1", "-o", "plan.json"),
                    (DTNN_RUN, "plan.json", "-o", "run")):
        done = run(*command, cwd=folder)
        if done.returncode != 0:
            sys.exit(done.stderr)
    return os.path.join(folder, "run")


def forget_system(history):
    """What computed is nobody's business; the checkpoint counts bytes."""
    with open(history, encoding="utf-8") as file:
        text = file.read()
    with open(history, "w", encoding="utf-8") as file:
        file.write(re.sub(r'"(host|system|processor)":"([^"]*)"', lambda found: f'"{found[1]}":"{"?" * len(found[2])}"', text))


class Formats(CommandTest):
    def expect_committed(self, name, lines):
        """The members are those that were committed for the format's number."""
        path = os.path.join(FORMATS, f"{name}_{numbers()[name]}.txt")
        text = "".join(f"{line}\n" for line in sorted(lines))
        if REWRITES and not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, f"the form of a {name} has changed: raise its number in base/formats.hpp, and write the "
                             "members of the new one with DTNN_REWRITE_GOLDENS=1 (tests/formats/README.md)")

    def test_members_of_what_is_written_are_those_of_their_numbers(self):
        made = make(self.folder)
        checkpoints = os.path.join(made, "checkpoints")
        with open(os.path.join(checkpoints, "latest"), encoding="utf-8") as file:
            newest = os.path.join(checkpoints, file.read().strip())
        with open(os.path.join(newest, "state.json"), encoding="utf-8") as file:
            self.expect_committed("checkpoint", shape(json.load(file)))
        os.remove(os.path.join(made, "weights.safetensors"))
        self.expect(self.dtnn_run("--resume", "run"), 0)
        events = self.history("run")
        self.assertEqual({event["event"] for event in events}, {"start", "epoch", "stopped", "restored", "resume", "evaluate"})
        self.expect_committed("history", {line for event in events for line in shape(event, event["event"])})
        files = {"weights": os.path.join(made, "weights.safetensors"), "checkpoint": os.path.join(newest, "parameters.safetensors")}
        for folder, _, names in os.walk(os.path.join(made, "best")):
            files.update({"best": os.path.join(folder, name) for name in names})
        self.assertEqual(len(files), 3)
        self.expect_committed("weights", {line for kind, path in files.items() for line in shape(metadata(path), kind)})
        self.expect(self.dtnnc("compile", "smallest.yaml", "--sweep", "training.seed=1,2", "-o", "swept"), 0)
        self.expect_committed("sweep", shape(json.loads(self.read("swept/index.json"))))

    def test_run_of_an_earlier_build_is_read(self):
        shutil.copytree(RUN, self.path("kept"))
        self.expect(self.dtnnc("summary", "kept/plan.json"), 0, "dense")
        self.expect(self.dtnn_run("report", "kept", "-o", "page.html"), 0)
        self.expect(self.dtnn_run("evaluate", "kept"), 0, "accuracy ")
        self.expect(self.dtnn_run("weights", "list", "kept/weights.safetensors"), 0, "3")
        before = self.history("kept")
        self.expect(self.dtnn_run("--resume", "kept"), 0)
        told = [(event["epoch"], event["train"]) for event in before if event["event"] == "epoch"]
        self.assertEqual([(event["epoch"], event["train"]) for event in self.history("kept") if event["event"] == "epoch"], told)

    def test_other_numbers_are_refused_by_name(self):
        number = numbers()
        shutil.copytree(RUN, self.path("kept"))
        text = self.read("kept/plan.json")
        newer = text.replace(f'"version": {number["plan"]}', '"version": 77', 1)
        newer = re.sub(r'"generator": "dtnnc [^"]*"', '"generator": "dtnnc 7.3.0"', newer)
        self.write("newer.json", newer)
        fact = f"plan of format 77 is of dtnnc 7.3.0; this program reads {number['plan']}: compile the job again"
        for refused, code in ((self.dtnn_run("newer.json"), 5), (self.dtnn_run("--dry-run", "newer.json"), 5),
                              (self.dtnnc("summary", "newer.json"), None), (self.dtnnc("diff", "newer.json", "kept/plan.json"), None)):
            self.assertNotEqual(refused.returncode, 0)
            self.expect(refused, code or refused.returncode, fact)
        # One that says nothing of its writer, or no more than can be shown.
        self.write("newer.json", newer.replace("dtnnc 7.3.0", "\\u001b[31m" * 30))
        self.expect(self.dtnn_run("newer.json"), 5, "plan of format 77 is of")
        self.write("newer.json", newer.replace('"generator"', '"writer"'))
        self.expect(self.dtnn_run("newer.json"), 5, "plan of format 77 is of another release")

        self.write("kept/history.jsonl", self.read("kept/history.jsonl").replace(f'"format":{number["history"]}', '"format":77', 1))
        self.expect(self.dtnn_run("report", "kept", "-o", "page.html"), 1, "history.jsonl: history of format 77 is of dtnn-run ",
                    f"this program reads {number['history']}", "help: read the run with the release that wrote it")
        with open(self.path("kept/weights.safetensors"), "rb") as file:
            weights = file.read()
        with open(self.path("other.safetensors"), "wb") as file:
            file.write(weights.replace(f'"format_version":"{number["weights"]}"'.encode(), b'"format_version":"7"', 1))
        self.expect(self.dtnn_run("weights", "list", "other.safetensors"), 5, "file of weights of format 7 is of another release",
                    f"this program reads {number['weights']}", "help: ")
        self.expect(self.dtnnc("compile", "tiny.yaml", "--sweep", "training.seed=1,2", "-o", "swept"), 0)
        self.write("swept/index.json", self.read("swept/index.json").replace(f'"version": {number["sweep"]}', '"version": 77', 1))
        self.expect(self.dtnn_run("report", "swept", "--format", "text"), 5, "index of a sweep of format 77", "help: write the sweep again")
        self.write("tuning.json", f'{{"format": "dtnn-tuning", "version": {number["tuning"] + 1}, "entries": []}}')
        self.expect(self.dtnnc("compile", "tiny.yaml", "-o", "plan.json", env={"DTNN_TUNING": self.path("tuning.json")}), 2,
                    f"history of tuning of format {number['tuning'] + 1}")

    def test_the_page_has_every_format_and_its_number(self):
        with open(os.path.join(ROOT, "docs", "formats.md"), encoding="utf-8") as file:
            stated = dict(re.findall(r"^\| [^|]*\(`k(\w+)`\) \| (\d+) ", file.read(), re.M))
        self.assertEqual({name.lower(): int(number) for name, number in stated.items()}, numbers())


if __name__ == "__main__":
    if sys.argv[1:] == ["--make"]:
        with tempfile.TemporaryDirectory() as made_in:
            shutil.rmtree(RUN, ignore_errors=True)
            shutil.copytree(make(made_in), RUN)
            forget_system(os.path.join(RUN, "history.jsonl"))
            print(subprocess.run(["du", "-sb", RUN], stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
    else:
        unittest.main(verbosity=2)
