#!/usr/bin/env python3
"""Weights of Hugging Face's transformers, in and out: small networks whose files and predictions are committed
(tests/peers/transformers), by the maps that ship."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, read_npz, read_safetensors, write_npz
from commands import ROOT, CommandTest

PEER = os.path.join(ROOT, "tests", "peers", "transformers")
JOB = """kind: job
name: tiny
model: {{extends: {model}, parameters: {parameters}}}
dataset: {{type: synthetic, {labels}classes: {classes}, train_samples: 4, test_samples: 4}}
training: {{batch_size: 2}}
"""
# The map of each.
MAPS = {"gpt2": "huggingface/gpt2", "bert_base": "huggingface/bert", "llama_3_2_1b": "huggingface/llama"}


class TransformersWeights(CommandTest):
    def check(self, model, shipped):
        theirs = os.path.join(PEER, f"tiny_{model}.safetensors")
        with open(os.path.join(PEER, f"tiny_{model}.json"), encoding="utf-8") as file:
            facts = json.load(file)
        write_npz(self.path("x.npz"), {name: Array("<i4", (len(rows), len(rows[0])), [number for row in rows for number in row])
                                      for name, rows in facts["inputs"].items()})
        spec = JOB.format(model=model, parameters=json.dumps(facts["parameters"]), classes=facts["parameters"]["classes"],
                          labels="" if model == "bert_base" else "labels: step, ")
        plan = self.compile(spec=self.write("job.yaml", spec))
        self.expect(self.dtnn_run("predict", plan, "--weights", theirs, "--input", "x.npz", "-o", "p.npz"), 0)
        wanted = facts["probabilities"]
        for ours, probability in zip(read_npz(self.path("p.npz"))["probabilities"].data, wanted, strict=True):
            self.assertAlmostEqual(ours, probability, delta=1e-6 * max(wanted))
        self.expect(self.dtnn_run("weights", "import", theirs, "--plan", plan, "-o", "w.safetensors"), 0, "names of " + shipped)
        self.expect(self.dtnn_run("weights", "export", "w.safetensors", "--plan", plan, "--map", "huggingface", "-o",
                                  "back.safetensors"), 0)
        self.assertEqual(read_safetensors(self.path("back.safetensors"))[0], read_safetensors(theirs)[0])

    def test_predictions_are_theirs_and_the_way_back_gives_their_file(self):
        for model, shipped in MAPS.items():
            with self.subTest(model=model):
                self.check(model, shipped)


if __name__ == "__main__":
    unittest.main()
