"""Formulas that users write in specs: a network with them learns as the one does that has the built-in operators."""

import json
import unittest

from commands import CommandTest

MODEL = """kind: job
name: {name}
model:
  input: {{shape: [1, 28, 28]}}
  operators: {{{operators}}}
  layers:
    - conv2d: {{filters: 8, kernel: 3, stride: 2}}
    - {activation}
    - flatten
    - dense: {{units: 10}}
    - {end}
dataset: {{extends: digits, train_samples: 600, test_samples: 200}}
training: {{epochs: 3, batch_size: 20, optimizer: {{sgd: {{learning_rate: {rate}}}}}, dtype: f64, loss: {loss}, schedules: {schedules}}}
"""
BUILT_IN = {"operators": "", "activation": "relu", "end": "softmax", "loss": "mean_squared_error", "schedules": "[]", "rate": 0.5}


class Formulas(CommandTest):
    def losses(self, name, **changes):
        values = {**BUILT_IN, **changes}
        with open(self.path(f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(MODEL.format(name=name, **values))
        self.expect(self.dtnnc("compile", f"{name}.yaml", "-o", f"{name}.json"), 0)
        self.expect(self.dtnn_run(f"{name}.json", "--output", name), 0)
        return [(event["train"]["loss"], event["validation"].get("loss") if event["validation"] else None, event["learning_rate"])
                for event in self.history(name) if event["event"] == "epoch"]

    def test_an_activation_by_its_formula_is_the_built_in_one_to_the_bit(self):
        known = self.losses("known")
        self.assertEqual(len(known), 3)
        self.assertLess(known[-1][0], 0.8 * known[0][0])
        self.assertEqual(self.losses("written", operators='mine: {forward: "max(x, 0)"}', activation="mine"), known)

    def test_an_activation_with_numbers_is_what_they_make_it(self):
        known = self.losses("known", activation="elu: {alpha: 0.5}")
        written = self.losses(
            "written", activation="mine: {a: 0.5}",
            operators='mine: {parameters: {a: real}, forward: "where(x > 0, x, a * expm1(x))"}')
        for ours, theirs in zip(written, known):
            self.assertAlmostEqual(ours[0], theirs[0], delta=1e-12)

    def test_a_loss_by_its_formula_is_the_built_in_one(self):
        known = self.losses("known")
        written = self.losses("written", loss='{formula: {expression: "(p - t) ** 2"}}')
        for ours, theirs in zip(written, known):
            self.assertAlmostEqual(ours[0], theirs[0], delta=1e-12)

    def test_a_schedule_by_its_formula_is_the_built_in_one(self):
        known = self.losses("known", schedules="[{reduce_every_n_epochs: {epochs: 1, factor: 0.5}}]")
        self.assertEqual([round(rate, 6) for _, _, rate in known], [0.5, 0.25, 0.125])
        self.assertEqual(self.losses("written", schedules='[{formula: {factor: "0.5 ** epoch"}}]'), known)

    def test_a_factor_that_falls_below_zero_ends_the_run_with_its_place(self):
        with open(self.path("falls.yaml"), "w", encoding="utf-8") as file:
            file.write(MODEL.format(name="falls", **{**BUILT_IN, "schedules": '[{formula: {factor: "1 - step / 40"}}]'}))
        self.expect(self.dtnnc("compile", "falls.yaml", "-o", "falls.json"), 0)
        self.expect(self.dtnn_run("falls.json", "--output", "falls"), 6, "the schedule formula gives the factor -0.02",
                    "when epoch is 1 and step is 41", "help:")

    def test_what_a_formula_becomes_is_in_the_plan_and_told_by_diff(self):
        self.losses("a", operators='mine: {parameters: {b: {type: real, default: 1}}, forward: "x * sigmoid(b * x)"}',
                    activation="mine: {b: 2}")
        self.losses("b", operators='mine: {parameters: {b: {type: real, default: 1}}, forward: "x * sigmoid(b * x)"}',
                    activation="mine: {b: 3}")
        with open(self.path("a.json"), encoding="utf-8") as file:
            plan = json.load(file)
        self.assertIn("x0 2 x0 mul sigmoid mul", json.dumps(plan))
        self.expect(self.dtnnc("diff", "a.json", "b.json"), 1, "expression: x0 2 x0 mul sigmoid mul -> x0 3 x0 mul sigmoid mul")


if __name__ == "__main__":
    unittest.main()
