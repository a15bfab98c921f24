"""Networks of ours beside ONNX Runtime: weights that keep numbers in reach, exports, both predictions."""

import json
import os
import subprocess
import sys

try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import helper
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
LEAST_OPSET, MOST_OPSET = 17, 23


class Failed(Exception):
    """A command, or a comparison, that went wrong."""


def dtnn(*command):
    process = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], capture_output=True, text=True, check=False,
                             env=dict(os.environ, DTNN_TUNING="", NO_COLOR="1"))
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ends with {process.returncode}:\n{process.stderr}")
    return process


def session(model, optimised=True):
    options = onnxruntime.SessionOptions()
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(model if isinstance(model, str) else model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def first_weights(parameters, rng):
    """By role. Products keep the size of what they read."""
    weights = {}
    for parameter in parameters:
        dims, role = parameter["dims"], parameter["role"]
        if role == "weights":
            fan = max(parameter["initializer"]["fan_in"], 1)
            value = rng.standard_normal(dims) * (2 / fan) ** 0.5
        elif role == "hidden_weights":  # what a cell gives itself must not grow from step to step
            value = rng.standard_normal(dims) * dims[0] ** -0.5
        elif role == "running_variance":
            value = rng.uniform(0.5, 1.5, dims)
        elif role == "gamma":  # branches add to what they join, as trained ones do, rather than drown it
            value = rng.uniform(0.1, 0.5, dims)
        elif role in ("bias", "hidden_bias", "beta", "running_mean"):
            value = 0.2 * rng.standard_normal(dims)
        else:  # of formulas
            value = rng.uniform(0.2, 0.8, dims)
        weights[parameter["name"]] = value.astype("f4")
    return weights


def with_statistics(model):
    """The model with batch norm over the batch, whose statistics are results."""
    made, results = [], []
    for node in model.graph.node:
        if node.op_type != "BatchNormalization":
            made.append(node)
            continue
        x, gamma, beta, mean, variance = node.input
        rank, y = len(bn_shape(model, node)), node.output[0]
        axes = [0, *range(2, rank)]
        name = f"{y}/s"
        by_channel = numpy.array([1, -1] + [1] * (rank - 2), "i8")
        for key, value in (("shape", by_channel), ("epsilon", numpy.array(1e-3, "f4"))):
            model.graph.initializer.append(onnx.numpy_helper.from_array(value, f"{name}_{key}"))
        made += [helper.make_node("ReduceMean", [x], [mean + "?"], axes=axes),
                 helper.make_node("Sub", [x, mean + "?"], [name + "d"]),
                 helper.make_node("Mul", [name + "d", name + "d"], [name + "q"]),
                 helper.make_node("ReduceMean", [name + "q"], [variance + "?"], axes=axes),
                 helper.make_node("Add", [variance + "?", f"{name}_epsilon"], [name + "e"]),
                 helper.make_node("Sqrt", [name + "e"], [name + "r"]),
                 helper.make_node("Div", [name + "d", name + "r"], [name + "n"]),
                 helper.make_node("Reshape", [gamma, f"{name}_shape"], [name + "g"]),
                 helper.make_node("Reshape", [beta, f"{name}_shape"], [name + "b"]),
                 helper.make_node("Mul", [name + "n", name + "g"], [name + "m"]),
                 helper.make_node("Add", [name + "m", name + "b"], [y])]
        results += [mean, variance]
    del model.graph.node[:]
    model.graph.node.extend(made)
    for name in results:
        model.graph.output.append(helper.make_empty_tensor_value_info(name + "?"))
    return results


def bn_shape(model, node):
    if not model.graph.value_info:
        model.CopyFrom(onnx.shape_inference.infer_shapes(model))
    for value in [*model.graph.value_info, *model.graph.input]:
        if value.name == node.input[0]:
            return value.type.tensor_type.shape.dim
    raise Failed(f"no shape of {node.input[0]}")


class Network:
    """A compiled network of ours with weights of its own."""

    def __init__(self, spec, folder, seed=0, batch=4, settings=()):
        self.folder, self.rng = folder, numpy.random.default_rng(seed)
        self.plan, self.weights = self.path("plan.json"), self.path("weights.npz")
        options = [word for setting in settings for word in ("--set", setting)]
        dtnn("dtnnc", "compile", spec, "-o", self.plan, "--threads", "2", *options)
        with open(self.plan, encoding="utf-8") as file:
            plan = json.load(file)
        self.inputs = plan["dataset"]["inputs"]
        self.parameters = [p for p in plan["parameters"] if not p["optimizer_state"]]
        self.values = first_weights(self.parameters, self.rng)
        self.sample = {}
        for feature in self.inputs:
            shape = (batch, *feature["dims"])
            self.sample[feature["name"] or "source"] = (
                self.rng.integers(0, feature["classes"] or 9, shape).astype("i4") if feature["dtype"] == "i32"
                else self.rng.standard_normal(shape).astype("f4"))
        self.save()

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self):
        numpy.savez(self.weights, **self.values)

    def calibrate(self):
        """Moving statistics around those of the activations, and last weights that make numbers of a few: otherwise
        they grow or vanish on their way through a hundred layers, and nothing of them is left behind a softmax."""
        if any(p["role"] == "running_mean" for p in self.parameters):
            model = self.graph()
            results = with_statistics(model)
            found = self.session_of(model).run([name + "?" for name in results], self.sample)
            for at in range(0, len(results), 2):
                square = (found[at].astype("f8") ** 2 + found[at + 1]).reshape(-1)
                size = numpy.sqrt(square) + 1e-3
                # Of the size of the numbers, not of their spread over a few samples, which may be next to nothing.
                self.values[results[at]] = (0.3 * size * self.rng.standard_normal(size.shape)).astype("f4")
                self.values[results[at + 1]] = (size ** 2 * self.rng.uniform(0.5, 1.5, size.shape)).astype("f4")
            self.save()
        weights = [p["name"] for p in self.parameters if p["role"] == "weights"]
        if weights:
            model = self.graph()
            result = next(node.output[0] for node in model.graph.node if weights[-1] in node.input)
            model.graph.output.append(helper.make_empty_tensor_value_info(result))
            spread = self.session_of(model).run([result], self.sample)[0].std()
            self.values[weights[-1]] *= numpy.float32(2 / max(spread, 1e-6))
            self.save()

    def graph(self):
        """The exported network; weights beside it stay there, as no message holds more than 2 GB."""
        return onnx.load(self.export(), load_external_data=False)

    def session_of(self, model):
        path = self.path("changed.onnx")
        onnx.save(model, path)
        return session(path)

    def export(self, name="net.onnx", *options):
        dtnn("dtnnc", "export", self.plan, "--weights", self.weights, "-o", self.path(name), *options)
        return self.path(name)

    def predict(self):
        """What dtnn-run says."""
        if list(self.sample) == ["source"]:
            file = self.path("x.npy")
            numpy.save(file, self.sample["source"])
        else:
            file = self.path("x.npz")
            numpy.savez(file, **self.sample)
        dtnn("dtnn-run", "predict", self.plan, "--weights", self.weights, "--input", file, "-o", self.path("p.npz"))
        with numpy.load(self.path("p.npz")) as predictions:
            return next(predictions[key] for key in ("probabilities", "scores", "values") if key in predictions)

    def difference(self, model, ours):
        """Of ONNX Runtime's predictions from ours, over what is at least 1: all at once, and one sample alone."""
        onnx.checker.check_model(model, full_check=True)
        runtime = session(model)
        theirs = runtime.run(None, self.sample)[0]
        if theirs.shape != ours.shape:
            raise Failed(f"ONNX Runtime gives {theirs.shape}, dtnn-run {ours.shape}")
        alone = runtime.run(None, {key: value[:1] for key, value in self.sample.items()})[0]
        scale = max(1.0, float(numpy.abs(ours).max()))
        if not numpy.isfinite(ours).all():
            raise Failed("predictions are not finite")
        return max(float(numpy.abs(theirs - ours).max()), float(numpy.abs(alone - ours[:1]).max())) / scale
