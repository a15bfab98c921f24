"""Random networks over sequences and their trainings: the layers of random_layers.py behind inputs, under a loss, and the job's
YAML that they are."""

import random

from random_layers import OPERATORS, Layers


def flow(value):
    """A value as YAML of one line; a layer as its name, or as its name with its fields."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, dict) and "op" in value:
        fields = {key: item for key, item in value.items() if key != "op"}
        if list(fields) == ["branches"]:
            fields = fields["branches"]
        return f"{value['op']}: {flow(fields)}" if fields else value["op"]
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow(item)}" for key, item in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) and (" " in value or "*" in value) else str(value)


class Network:
    """A network and its training: inputs by name, layers, blocks, how samples and labels look, the recipe."""

    def __init__(self, number):
        self.number, self.rng = number, random.Random(number)
        self.large = self.rng.random() < 0.15
        self.made = Layers(self.rng, self.large)
        self.inputs, self.layers, self.classes = {}, [], 1
        self.one_name = False
        shape = self.begin()
        lines, shape = self.made.some(shape, 2, 6)
        self.layers += lines
        self.end(shape)
        self.blocks = {name: lines for name, (_, _, lines) in self.made.blocks.items()}
        self.training = self.recipe()

    def begin(self):
        """One input or two, up to a sequence of real numbers."""
        made, rng = self.made, self.rng
        steps = rng.randrange(2, 80 if self.large else 10) if made.flag(0.9) else 1
        kinds = [made.pick("integers", "reals")]
        if made.flag(0.3):
            kinds.append(made.pick("integers", "reals", "row", "one_hot"))
        shape = self.read(0, kinds[0], steps, None)
        if len(kinds) == 1:
            self.one_name = kinds[0] == "reals" and made.flag()
            return shape
        first = made.name("first")
        self.layers.append({"op": "identity", "name": first})
        self.read(1, kinds[1], steps, shape[1])
        second = made.name("second")
        self.layers.append({"op": "identity", "name": second})
        join = made.pick("add", "features", "steps", "multiply")
        if join in ("add", "multiply"):
            self.layers.append({"op": join, "from": [first, second]})
            return shape
        self.layers.append({"op": "concat", "axis": join, "from": [second, first]})
        return (2 * steps, shape[1]) if join == "steps" else (steps, 2 * shape[1])

    def read(self, place, kind, steps, units):
        """The layers behind an input; of a second one as many features as the first gives."""
        made, name = self.made, ("first_one", "second_one")[place]
        read = {"from": name} if place else {}
        if kind == "reals":
            features = made.units(9)
            self.inputs[name] = {"shape": [steps, features], "axes": ["step", "feature"]}
            if units is None and made.flag():
                return steps, features
            units = units or made.units()
            self.layers.append({**made.dense((steps, features), units)[0][0], **read})
            return steps, units
        if kind == "row":
            self.inputs[name] = {"shape": [5]}
            self.layers += [{"op": "dense", "name": made.name("row"), "units": steps * units, **read},
                            {"op": "reshape", "shape": [steps, units]}]
            return steps, units
        values = self.rng.randrange(3, 14)
        self.inputs[name] = {"shape": [steps], "axes": ["step"], "dtype": "i32", "values": values}
        if kind == "one_hot":
            del self.inputs[name]["axes"]  # of a row
            self.layers += [{"op": "one_hot", "classes": values, **read}, {"op": "reshape", "shape": [steps, values]}]
            self.layers.append(made.dense((steps, values), units)[0][0])
            return steps, units
        units = units or made.units()
        entries = values + (2 if made.flag(0.2) else 0)
        shared, tables = {}, [layer for layer, _ in made.owners if layer["op"] == "embedding"]
        if tables and made.flag():
            self.inputs[name]["values"] = entries = tables[0]["entries"]
            shared = {"share": tables[0]["name"]}
        self.layers.append({**made.own("embedding", (steps, values), entries=entries, units=units, **shared), **read})
        return steps, units

    def end(self, shape):
        """A class or numbers for each sample, or a class for each step."""
        made = self.made
        first = next(iter(self.inputs.values()))
        kind = made.pick("step", "step", "step", "class", "class", "values", "multiple")
        if kind == "class" and self.one_name and made.flag():
            kind = "input"
        self.ending, self.loss = kind, "categorical_cross_entropy"
        tables = [layer for layer, _ in made.owners if layer["op"] == "embedding"]
        self.classes = made.pick(2, 3, 5)
        if kind == "step":
            if shape[0] != first["shape"][0]:
                shape = first["shape"][0], shape[1]
                self.layers += self.as_many_steps(shape[0])
            table = self.rng.choice(tables) if tables else None
            if table and made.flag(0.6):
                if shape[1] != table["units"]:
                    self.layers += made.dense(shape, table["units"])[0]
                self.classes = table["entries"]
                bias = {"bias": False} if made.flag() else {}
                self.layers.append({"op": "dense", "name": "last", "units": self.classes, "share": table["name"], **bias})
            else:
                self.layers.append({"op": "dense", "name": "last", "units": self.classes})
            self.label_shape = [shape[0]]
            self.probabilities({"axis": "features"})
            return
        self.label_shape = []
        if kind == "input":
            self.layers += self.back(shape, first["shape"])
            self.loss = made.pick("mean_squared_error", "huber")
            return
        if made.flag(0.3):
            self.layers.append({"op": "flatten"})
        else:
            self.layers.append({"op": made.pick("mean", "first_step", "last_step", "global_max_pool1d")})
        if made.flag(0.3):
            self.layers += [{"op": "dense", "name": "hidden", "units": made.units()}, {"op": "tanh"}]
        if kind == "values":
            self.classes = made.pick(1, 2, 3)
            self.label_shape = [self.classes]
            self.loss = made.pick("mean_squared_error", "mean_absolute_error", "huber")
        self.layers.append({"op": "dense", "name": "last", "units": self.classes})
        if kind == "multiple":
            self.label_shape, self.loss = [self.classes], "binary_cross_entropy"
            self.layers.append({"op": "sigmoid"})
        if kind == "class":
            self.probabilities({})

    def probabilities(self, axis):
        if self.made.flag(0.25):
            self.loss = "negative_log_likelihood"
            self.layers.append({"op": "log_softmax", **axis})
        else:
            self.layers.append({"op": "softmax", **axis})

    def back(self, shape, wanted):
        """What leads to the shape of the input."""
        lines = [] if shape[1] == wanted[1] else self.made.dense(shape, wanted[1])[0]
        if shape[0] != wanted[0]:
            lines += self.as_many_steps(wanted[0])
        return lines

    def as_many_steps(self, steps):
        return [{"op": "transpose"}, {"op": "dense", "name": "steps", "units": steps}, {"op": "transpose"}]

    def recipe(self):
        """Small steps, most of them of clipped gradients, because products of products soon leave all bounds."""
        made, clipped = self.made, self.made.flag(0.7)
        if made.flag(0.6):
            optimizer = {"sgd": {"learning_rate": made.pick(0.1, 0.03) if clipped else 0.003, "momentum": made.pick(0, 0.5, 0.9)}}
            if optimizer["sgd"]["momentum"] and made.flag(0.3):
                optimizer["sgd"]["nesterov"] = True
        else:
            optimizer = {"adam": {"learning_rate": 0.01, "epsilon": 1.0e-4}}
        if made.flag(0.2):
            next(iter(optimizer.values()))["weight_decay"] = 0.01
        batch = made.pick(3, 4, 5)
        loss = self.loss
        if loss == "categorical_cross_entropy" and made.flag(0.2):
            loss = {loss: {"smoothing": 0.1}}
        metrics = {"step": ["categorical_accuracy", "cross_entropy"], "class": ["categorical_accuracy", "cross_entropy"],
                   "multiple": ["binary_accuracy"]}.get(self.ending, ["mean_squared_error", "mean_absolute_error"])
        training = {"dtype": "f64", "loss": loss, "metrics": metrics, "shuffle": False, "epochs": 4, "batch_size": batch,
                    "history_every": 1, "optimizer": optimizer}
        if clipped:
            training["clip"] = {"norm": made.pick(0.1, 0.5)}
        if made.flag(0.2):
            training["accumulation"] = 2
        owners = [layer["name"] for layer, _ in made.owners if "share" not in layer and layer.get("affine", True)]
        if owners and made.flag(0.25):
            field = made.pick({"frozen": True}, {"learning_rate_scale": 0.5})
            training["groups"] = [{"parameters": f"{self.rng.choice(owners)}.*", **field}]
        return training

    def samples(self):
        """Of the training and of the test: whole batches, or a rest behind them."""
        batch = self.training["batch_size"]
        return {"train": 2 * batch + self.number % batch, "test": batch + (self.number + 1) % batch}

    def spec(self, data):
        """The job, whose samples are an .npz."""
        count = self.samples()
        dataset = {"type": "archive", "path": f'"{data}"', "train_samples": count["train"], "test_samples": count["test"]}
        if self.ending == "input":
            dataset["target"] = "input"
        dataset["classes"] = self.classes
        if self.ending == "step":
            dataset["labels"] = "step"
        if self.ending in ("values", "multiple"):
            dataset["label_kind"] = self.ending
        model = [f"  inputs: {flow(self.inputs)}"]
        if self.one_name:
            model = [f"  input: {flow(next(iter(self.inputs.values())))}"]
        used = [name for name in OPERATORS if f"{name}: " in flow(self.layers) + flow(list(self.blocks.values()))]
        if used:
            model.append(f"  operators: {flow({name: OPERATORS[name] for name in used})}")
        if self.blocks:
            model.append("  blocks:")
            model += [f"    {name}: {{layers: {flow(lines)}}}" for name, lines in self.blocks.items()]
        layers = [f"    - {flow(layer)}" for layer in self.layers]
        lines = ["kind: job", f"name: random_{self.number}", "model:", *model, "  layers:", *layers,
                 f"dataset: {flow(dataset)}", f"training: {flow(self.training)}"]
        return "\n".join(lines) + "\n"
