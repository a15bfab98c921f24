"""Formulas that users write in specs: a network with them learns as the one does that has the built-in operators."""

import json
import os
import struct
import unittest
from unittest import mock

from commands import CommandTest

MODEL = """kind: job
name: {name}
model:
  input: {{shape: [1, 28, 28]}}
  operators: {{{operators}}}
  layers:
    - conv2d: {{{bias}filters: 8, kernel: 3, stride: 2}}
    - {activation}
    - flatten
    - dense: {{units: 10}}
    - {end}
dataset: {{extends: digits, train_samples: 600, test_samples: 200}}
training: {{epochs: 3, batch_size: 20, optimizer: {{sgd: {{learning_rate: {rate}}}}}, dtype: f64, loss: {loss}, schedules: {schedules}, metrics: {metrics}}}
"""
BUILT_IN = {"operators": "", "activation": "relu", "end": "softmax", "loss": "mean_squared_error", "schedules": "[]", "rate": 0.5,
            "bias": "", "metrics": "[categorical_accuracy]"}


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

    def test_numbers_by_channel_are_learned_as_a_bias_is(self):
        """A convolution's bias, an operator that adds a number to every channel, and one that adds one to all of one."""
        known = self.losses("known", activation="relu")
        shift = 'shift: {parameters: {b: {type: real, default: 0, trainable: per_channel}}, forward: "x + b"}'
        written = self.losses("written", operators=shift, activation="shift\n    - relu", bias="bias: false, ")
        for ours, theirs in zip(written, known):
            self.assertAlmostEqual(ours[0], theirs[0], delta=1e-12)
            self.assertAlmostEqual(ours[1] or 0, theirs[1] or 0, delta=1e-12)
        self.expect(self.dtnnc("summary", "written.json"), 0, "shift_1", "expression=x0 c1 add")
        # With generated code and without it the bits are the same, and a number that is not learned stays what it is.
        frozen = self.losses("frozen", operators=shift.replace(", trainable: per_channel", ""), activation="shift\n    - relu",
                             bias="bias: false, ")
        self.assertNotEqual(frozen, written)

    def test_a_learned_number_moves_and_is_in_the_weights(self):
        swish = 'swish: {parameters: {beta: {type: real, default: 1, trainable: %s}}, forward: "x * sigmoid(beta * x)"}'
        sizes = {"one": 1, "per_channel": 8}
        for trained, size in sizes.items():
            losses = self.losses(trained, operators=swish % trained, activation="swish: {beta: 0.5}")
            self.assertLess(losses[-1][0], 0.8 * losses[0][0])
            with open(self.path(f"{trained}/weights.safetensors"), "rb") as file:
                data = file.read()
            length = int.from_bytes(data[:8], "little")
            header = json.loads(data[8:8 + length])
            entry = header["swish_1.beta"]
            self.assertEqual(entry["shape"], [size])
            begin, end = entry["data_offsets"]
            values = struct.unpack(f"<{size}d", data[8 + length + begin:8 + length + end])
            for value in values:
                self.assertNotEqual(value, 0.5)
                self.assertLess(abs(value - 0.5), 0.5)

    def test_learned_numbers_give_the_same_bits_interpreted(self):
        swish = 'swish: {parameters: {beta: {type: real, default: 1, trainable: per_channel}}, forward: "x * sigmoid(beta * x)"}'
        generated = self.losses("generated", operators=swish, activation="swish")
        with mock.patch.dict(os.environ, {"DTNN_CODEGEN": "off"}):
            self.assertEqual(self.losses("interpreted", operators=swish, activation="swish"), generated)

    def test_a_metric_by_its_formula_is_the_built_in_one(self):
        losses = self.losses("measured", metrics='[mean_absolute_error, formula: {name: off, expression: "abs(p - t)"}, '
                                                 'formula: {name: sum_off, expression: "abs(p - t)", over: rows}]')
        self.assertEqual(len(losses), 3)
        for event in self.history("measured"):
            if event["event"] != "epoch":
                continue
            values = event["train"]
            self.assertAlmostEqual(values["off"], values["mean_absolute_error"], delta=1e-12)
            self.assertAlmostEqual(values["sum_off"], 10 * values["mean_absolute_error"], delta=1e-11)

    def test_operators_are_found_by_name(self):
        own = self.losses("own", activation="mine",
                          operators='mine: {parameters: {b: {type: real, default: 1, trainable: per_channel}}, forward: "x * sigmoid(b * x)"}')
        self.assertEqual(self.losses("found", activation="mine", operators="mine: swish_beta"), own)
        with open(self.path("gate.yaml"), "w", encoding="utf-8") as file:
            file.write("kind: operator\nextends: swish_beta\ndescription: ours\n")
        self.assertEqual(self.losses("beside", activation="mine", operators="mine: ./gate.yaml"), own)
        with open(self.path("found.yaml"), encoding="utf-8") as file:
            listed = file.read().replace("{mine: swish_beta}", "[gate]").replace("- mine", "- gate")
        with open(self.path("listed.yaml"), "w", encoding="utf-8") as file:
            file.write(listed)
        self.expect(self.dtnnc("summary", "listed.yaml"), 0, "gate_1", "expression=x0 c1 x0 mul sigmoid mul")
        self.expect(self.dtnnc("check", "gate.yaml"), 0)

    def test_explain_says_what_an_operator_of_a_file_computes(self):
        with open(self.path("told.yaml"), "w", encoding="utf-8") as file:
            file.write(MODEL.format(name="told", **{
                **BUILT_IN, "activation": "mine", "loss": '{formula: {expression: "(p - t) ** 2"}}',
                "operators": 'mine: {description: "of ours", parameters: {b: {type: real, default: 2, trainable: per_channel}, '
                             'c: {type: real, default: 3}}, forward: "x * sigmoid(b * x) + c"}'}))
        self.expect(self.dtnnc("explain", "told.yaml#mine"), 0, "of ours", "x * sigmoid(b * x) + c",
                    "a real number, learned, one for each channel, 2 by default", "a real number, 3 by default",
                    "by x         sigmoid(b * x) + x * (sigmoid(b * x) * (1 - sigmoid(b * x)) * b)", "by b ", "keeps        x")
        self.expect(self.dtnnc("explain", "told.yaml#loss"), 0, "by p         2 * (p - t)")
        self.expect(self.dtnnc("explain", "told.yaml#other"), 2, "declares no operator `other`; it has mine, loss")
        self.expect(self.dtnnc("explain", "nowhere.yaml#mine"), 2, "cannot read")
        told = json.loads(self.dtnnc("explain", "told.yaml#mine", "--format", "json").stdout)
        self.assertEqual(told["sections"][0]["name"], "mine")

    def test_a_loss_by_its_formula_is_the_built_in_one(self):
        known = self.losses("known")
        written = self.losses("written", loss='{formula: {expression: "(p - t) ** 2"}}')
        for ours, theirs in zip(written, known):
            self.assertAlmostEqual(ours[0], theirs[0], delta=1e-12)

    def test_a_loss_is_found_by_its_name(self):
        """Declared by the model with and without numbers, a spec of its own, or one that ships: the bits of the formula itself."""
        known = self.losses("known", loss='{formula: {expression: "where(abs(p - t) < 0.5, (p - t) ** 2, abs(p - t) - 0.25)"}}')
        declared = 'mine: {kind: loss, forward: "where(abs(p - t) < 0.5, (p - t) ** 2, abs(p - t) - 0.25)"}'
        self.assertEqual(self.losses("declared", operators=declared, loss="mine"), known)
        numbers = ('mine: {kind: loss, parameters: {d: {type: real, default: 1}, n: {type: integer, default: 2}}, '
                   'forward: "where(abs(p - t) < d, (p - t) ** n, abs(p - t) - 0.5 * d)"}')
        self.assertEqual(self.losses("numbers", operators=numbers, loss="{mine: {d: 0.5}}"), known)
        with open(self.path("own.yaml"), "w", encoding="utf-8") as file:
            file.write('kind: loss\nforward: "where(abs(p - t) < 0.5, (p - t) ** 2, abs(p - t) - 0.25)"\n')
        self.assertEqual(self.losses("beside", loss="own"), known)
        self.assertEqual(self.losses("path", loss="./own.yaml"), known)
        self.expect(self.dtnnc("check", "own.yaml"), 0)
        with open(self.path("training.yaml"), "w", encoding="utf-8") as file:
            file.write("kind: training\nloss: own\n")
        self.expect(self.dtnnc("check", "training.yaml"), 0)
        half = self.losses("half", loss="mean_absolute_error")
        quantile = self.losses("halved", loss="quantile", rate=1.0)  # half the absolute difference
        for ours, theirs in zip(quantile, half):
            self.assertAlmostEqual(2 * ours[0], theirs[0], delta=1e-12)
        folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "specs", "losses")
        for name in sorted(os.path.splitext(file)[0] for file in os.listdir(folder)):
            losses = self.losses(name, loss=name, rate=0.05 if name == "focal" else 0.5)
            self.assertLess(losses[-1][0], 0.95 * losses[0][0], name)
        self.expect(self.dtnnc("explain", "numbers.yaml#mine"), 0, "a loss of numbers.yaml", "an integer, 2 by default", "by p  ")
        self.expect(self.dtnnc("explain", "numbers.yaml#loss"), 0, "the loss of numbers.yaml")

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
        self.expect(self.dtnnc("diff", "a.json", "b.json"), 1, "expression: x * sigmoid(2 * x) -> x * sigmoid(3 * x)")


if __name__ == "__main__":
    unittest.main()
