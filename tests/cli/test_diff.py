#!/usr/bin/env python3
"""dtnnc diff as a user runs it: exit codes, the one line, JSON, colours, specs beside plans."""

import json
import unittest

from commands import TINY, CommandTest


class Diff(CommandTest):
    def test_equal_jobs_say_so(self):
        plan = self.compile()
        for a, b in ((plan, plan), ("tiny.yaml", plan), ("tiny.yaml", "tiny.yaml")):
            line = f"{a} and {b}: no difference\n"
            self.assertEqual(self.expect(self.dtnnc("diff", a, b), 0).stdout, line)
            self.assertEqual(self.expect(self.dtnnc("diff", a, b, "--summary"), 0).stdout, line)
            self.assertEqual(self.expect(self.dtnnc("diff", a, b, "--quiet"), 0).stdout, "")
        self.assertEqual(self.expect(self.dtnnc("diff", "-q", plan, "tiny.yaml", "--set", "training.epochs=3"), 1).stdout, "")
        report = json.loads(self.expect(self.dtnnc("diff", plan, plan, "--format", "json"), 0).stdout)
        self.assertEqual((report["same"], report["chosen"], report["consequences"]), (True, [], []))

    def test_a_spec_and_the_plan_of_its_resolved_document(self):
        plan = self.compile()
        with open(self.path(plan), encoding="utf-8") as file:
            self.write("resolved.yaml", json.load(file)["resolved_spec"])
        self.assertEqual(self.expect(self.dtnnc("diff", "resolved.yaml", plan), 0).stdout,
                         f"resolved.yaml and {plan}: no difference\n")

    def test_a_machine_on_one_side_is_a_difference(self):
        self.write("machine.yaml", "kind: machine\nname: small\ncores: 3\nmemory: 8GiB\nisa: baseline\n")
        self.write("there.yaml", TINY + "machine: ./machine.yaml\n")
        there = "small cores=3 memory=8GiB isa=baseline"
        for a, b, words in (("tiny.yaml", "there.yaml", "machine: (none) -> " + there),
                            ("there.yaml", "tiny.yaml", f"machine: {there} -> (none)")):
            lines = self.expect(self.dtnnc("diff", a, b), 1).stdout.splitlines()
            self.assertEqual(lines[4], words)
            # Both sides are compiled for that machine, so that nothing follows.
            self.assertEqual(lines[-1], "1 chosen difference, 1 of performance only; 0 consequences")
        # Beside a plan for another processor what follows is told.
        plan = self.compile()
        report = json.loads(self.expect(self.dtnnc("diff", plan, "there.yaml", "--format", "json"), 1).stdout)
        self.assertEqual([change["what"] for change in report["chosen"]], ["machine"])
        self.assertIn("target.isa", [change["what"] for change in report["consequences"]])

    def test_datasets_at_other_paths_are_read(self):
        table = "a,b,species\n" + "".join(f"{i},{i % 3},{'xy'[i % 2]}\n" for i in range(8))
        for name in ("train.csv", "copy.csv", "test.csv"):
            self.write(name, table)
        self.write("other.csv", table.replace("7,1", "7,2"))
        self.write("dense.yaml", "kind: job\nmodel: {kind: model, name: m, input: {shape: [2, 1, 1]}, "
                   "layers: [flatten, dense: {units: 2}, softmax]}\ntraining: {batch_size: 4}\ndataset: {kind: dataset, "
                   "name: d, type: csv, path: train.csv, test_path: test.csv, shape: [2, 1, 1], classes: 2, "
                   "train_samples: 8, test_samples: 8}\n")
        first = self.compile(spec="dense.yaml", plan="first.json")

        def compared(path, *options):
            plan = self.compile("--set", f"dataset.path={path}", spec="dense.yaml", plan="second.json")
            report = json.loads(self.expect(self.dtnnc("diff", first, plan, "--format", "json", *options), 1).stdout)
            (change,) = report["chosen"]
            self.assertEqual(change["what"], "dataset.path")
            return change["meaning"], change["reason"], report["counts"]["unread"]

        meaning, reason, unread = compared("copy.csv")
        self.assertEqual((meaning, unread), ("performance only", 0))
        self.assertRegex(reason, r"the samples are the same: xxh3:[0-9a-f]{16}$")
        meaning, reason, unread = compared("other.csv")
        self.assertEqual((meaning, unread), ("changes the mathematics", 0))
        self.assertRegex(reason, r"the samples differ: xxh3:[0-9a-f]{16}, xxh3:[0-9a-f]{16}$")
        meaning, reason, unread = compared("elsewhere.csv")
        self.assertEqual((meaning, unread), ("unknown until both are read", 1))
        self.assertIn("second.json cannot be read here: ", reason)
        self.assertIn("elsewhere.csv", reason)
        meaning, reason, unread = compared("other.csv", "--no-data")
        self.assertEqual((meaning, unread), ("unknown until both are read", 1))
        text = self.expect(self.dtnnc("diff", first, "second.json", "--no-data", "--summary"), 1).stdout
        self.assertEqual(text, "path train.csv -> other.csv: unknown until both are read\n"
                               "1 chosen difference, 1 unknown; 0 consequences\n")

    def test_a_rename_says_which_weights_it_renames(self):
        self.write("named.yaml", TINY.replace("dense: {units: 10}", "dense: {units: 10, name: head}"))
        text = self.expect(self.dtnnc("diff", "tiny.yaml", "named.yaml"), 1).stdout
        self.assertIn("dense_1 renamed to head\n", text)
        self.assertIn("  weight files  dense_1.* -> head.*; --map reads files of the other\n", text)

    def test_one_line_and_json(self):
        first, second = self.compile(), self.compile("--set", "training.batch_size=32", plan="second.json")
        process = self.expect(self.dtnnc("diff", first, second, "--summary"), 1)
        headline, counts = process.stdout.splitlines()
        self.assertTrue(headline.startswith("batch 64 -> 32: mathematics; "), headline)
        self.assertIn("; memory ", headline)
        self.assertTrue(counts.startswith("1 chosen difference, 1 of the mathematics; "), counts)
        report = json.loads(self.expect(self.dtnnc("diff", first, second, "--format", "json"), 1).stdout)
        self.assertEqual((report["version"], report["same"], report["headline"]), (4, False, headline))
        (change,) = report["chosen"]
        self.assertEqual((change["what"], change["before"], change["after"], change["meaning"]),
                         ("training.batch_size", 64, 32, "changes the mathematics"))
        for change in report["consequences"]:
            self.assertEqual(set(change), {"section", "action", "what", "before", "after", "meaning", "reason",
                                           "members", "programs"})

    def test_colours_are_the_terminals(self):
        self.write("other.yaml", TINY.replace("epochs: 2", "epochs: 3"))
        self.assertNotIn("\x1b", self.expect(self.dtnnc("diff", "tiny.yaml", "other.yaml"), 1).stdout)
        process = self.dtnnc("diff", "tiny.yaml", "other.yaml", "--color", "always")
        self.assertIn("\x1b[1;31mchanges the mathematics\x1b[0m", self.expect(process, 1).stdout)

    def test_trouble_is_two(self):
        self.write("broken.yaml", TINY.replace("filters", "filtres"))
        self.expect(self.dtnnc("diff", "tiny.yaml", "broken.yaml"), 2, "unknown-field")
        self.expect(self.dtnnc("diff", "tiny.yaml", "missing.yaml"), 2)
        self.expect(self.dtnnc("diff", "tiny.yaml"), 2)


if __name__ == "__main__":
    unittest.main()
