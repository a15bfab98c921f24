#!/usr/bin/env python3
"""dtnnc diff as a user runs it: exit codes, the one line, JSON, colours, specs beside plans."""

import json
import unittest

from commands import TINY, CommandTest


class Diff(CommandTest):
    def test_equal_jobs_print_nothing(self):
        plan = self.compile()
        for a, b in ((plan, plan), ("tiny.yaml", plan), ("tiny.yaml", "tiny.yaml")):
            self.assertEqual(self.expect(self.dtnnc("diff", a, b), 0).stdout, "")
            self.assertEqual(self.expect(self.dtnnc("diff", a, b, "--summary"), 0).stdout, "")
        report = json.loads(self.expect(self.dtnnc("diff", plan, plan, "--format", "json"), 0).stdout)
        self.assertEqual((report["same"], report["chosen"], report["consequences"]), (True, [], []))

    def test_a_spec_and_the_plan_of_its_resolved_document(self):
        plan = self.compile()
        with open(self.path(plan), encoding="utf-8") as file:
            self.write("resolved.yaml", json.load(file)["resolved_spec"])
        self.assertEqual(self.expect(self.dtnnc("diff", "resolved.yaml", plan), 0).stdout, "")

    def test_one_line_and_json(self):
        first, second = self.compile(), self.compile("--set", "training.batch_size=32", plan="second.json")
        process = self.expect(self.dtnnc("diff", first, second, "--summary"), 1)
        headline, counts = process.stdout.splitlines()
        self.assertTrue(headline.startswith("batch 64 -> 32: mathematics; "), headline)
        self.assertIn("; memory ", headline)
        self.assertTrue(counts.startswith("1 chosen difference, 1 of the mathematics; "), counts)
        report = json.loads(self.expect(self.dtnnc("diff", first, second, "--format", "json"), 1).stdout)
        self.assertEqual((report["version"], report["same"], report["headline"]), (2, False, headline))
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
