#!/usr/bin/env python3
"""What `dtnnc import` reads, beside ONNX Runtime and ONNX's own tests of its operators.

    python3 tests/peers/onnx/test_import.py                     # ONNX's node tests; small networks of torchvision
    python3 tests/peers/onnx/test_import.py --networks NAME...  # these of torchvision
    python3 tests/peers/onnx/test_import.py --keras NAME...     # these of keras.applications, with channels last
    python3 tests/peers/onnx/test_import.py --operators         # all node tests, and each reason of a refusal

A network comes in, predicts within 1e-4 of ONNX Runtime (four times what that differs by itself with and without its
optimisations), trains, and goes out again. A node test gives what ONNX says, or is refused with a reason; which are
refused is counted by operator, and those of OPERATORS must pass more than so many. It needs onnx, onnxruntime and
numpy, for networks torch and torchvision or keras, tensorflow and tf2onnx too; what is missing is said, and without
onnx it ends with 77."""

import argparse
import collections
import contextlib
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

from peer import BIN, Failed, Network, dtnn, numpy, onnx, session  # first: it ends the test where these are not
import modules
from onnx import helper, numpy_helper

LIMIT = 1e-4
NETWORKS = ["squeezenet1_1", "mobilenet_v2"]
# Of ONNX's node tests of an operator, how many pass at least: those of rows, sequences and images of real numbers.
OPERATORS = {"Abs": 1, "Add": 2, "Atanh": 1, "Attention": 12, "AveragePool": 13, "BatchNormalization": 2, "Ceil": 1,
             "Celu": 1, "Clip": 3, "Concat": 6, "Conv": 6, "ConvTranspose": 7, "Cosh": 1, "DepthToSpace": 2,
             "Div": 2, "Dropout": 5, "Elu": 2, "Erf": 1, "Exp": 1, "Expand": 1, "Flatten": 3, "Floor": 1, "GRU": 3,
             "Gelu": 2, "Gemm": 8, "GlobalAveragePool": 2, "GlobalMaxPool": 2, "Greater": 1, "GreaterOrEqual": 1,
             "GroupNormalization": 2, "HardSigmoid": 2, "HardSwish": 1, "Identity": 1, "InstanceNormalization": 2,
             "LRN": 2, "LSTM": 5, "LayerNormalization": 8, "LeakyRelu": 2, "Less": 1, "LessOrEqual": 1, "Log": 1,
             "LogSoftmax": 6, "MatMul": 2, "MaxPool": 14, "Mul": 2, "Neg": 1, "PRelu": 1, "Pow": 1,
             "RMSNormalization": 8, "RNN": 6, "Reciprocal": 1, "ReduceL2": 6, "ReduceMax": 6, "ReduceMean": 6,
             "ReduceSum": 6, "Relu": 1, "Reshape": 6, "Resize": 5, "Selu": 2, "Sigmoid": 1, "Sinh": 1, "Slice": 2,
             "Softmax": 6, "Softplus": 1, "Softsign": 1, "SpaceToDepth": 4, "Split": 5, "Sqrt": 1, "Squeeze": 1,
             "Sub": 2, "Tanh": 1, "ThresholdedRelu": 2, "Transpose": 1, "Unsqueeze": 6, "Upsample": 1}


def imported(model, folder, name="net"):
    path = {key: os.path.join(folder, f"{name}.{key}") for key in ("onnx", "yaml", "safetensors")}
    if isinstance(model, onnx.ModelProto):
        onnx.save(model, path["onnx"])
    dtnn("dtnnc", "import", path["onnx"], "-o", path["yaml"], "--weights", path["safetensors"])
    return path


def centred_difference(ours, theirs):
    """As a part of what the predictions of two samples are apart, since networks that nobody has trained say nearly the
    same of all; beside that, the last places of large numbers do not count."""
    apart = numpy.abs(theirs - theirs.mean(axis=0)).max()
    return float(numpy.abs(ours - theirs).max() / (apart + 0.1 * numpy.abs(theirs).max()))


# ---- Networks of torchvision and Keras

def torch_file(name, path, dynamo):
    import torch
    import torchvision
    torch.manual_seed(0)
    more = {"init_weights": False, "aux_logits": False} if name in ("googlenet", "inception_v3") else {}
    model = getattr(torchvision.models, name)(weights=None, **more).eval()
    size = 299 if name == "inception_v3" else 224 if name.startswith(("vgg", "alexnet", "vit")) else 128
    opset = 18 if dynamo else 14 if name.startswith("vit") else 13
    return export_torch(model, (3, size, size), path, dynamo, opset_version=opset)


# Of the modules: which exporter, and what it is told.
FORMS = {"TorchScript 11": (False, {"opset_version": 11, "do_constant_folding": False}),
         "TorchScript 17, one sample": (False, {"opset_version": 17, "samples": 1}),
         "TorchScript 17, fixed": (False, {"opset_version": 17, "samples": 2}),
         "torch.export 18": (True, {"opset_version": 18}),
         "torch.export 20, fixed": (True, {"opset_version": 20, "samples": 2})}


def forms_of(name):
    """torch.export writes the steps of nn.RNN one by one, as products: TorchScript alone has the operator."""
    return [form for form, (dynamo, _) in FORMS.items() if not (dynamo and name.startswith("rnn"))]


def module_file(name, form, path):
    import torch
    torch.manual_seed(0)
    model, shape = modules.torch_modules()[name]()
    dynamo, options = FORMS[form]
    return export_torch(model, shape, path, dynamo, **options)


def export_torch(model, shape, path, dynamo, samples=0, **options):
    """`samples` 0: of a batch of any size."""
    import torch
    sample = torch.randn(samples or 2, *shape)
    # Statistics of a batch, which keep images apart through many layers.
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.momentum = 1.0
        # A last layer of zeros says the same of all samples.
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight)
    with torch.no_grad():
        model.train()(torch.randn(4, *shape))
    model.eval()
    names = {"input_names": ["image"], "output_names": ["logits"], **options}
    axes = {"dynamic_shapes": ({0: torch.export.Dim("batch")},)} if dynamo else {"dynamic_axes": {"image": {0: "n"}}}
    axes = {} if samples else axes
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (sample,), path, dynamo=dynamo, **names, **axes)
    return sample.numpy()


def keras_file(name, path):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    keras.utils.set_random_seed(0)
    own = modules.keras_modules()
    model = own[name]() if name in own else getattr(keras.applications, name)(weights=None, input_shape=(96, 96, 3))
    shape = model.input_shape[1:]
    random = numpy.random.default_rng(0)
    for layer in model._flatten_layers():
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0  # statistics of a batch, as above
    model(random.uniform(-1, 1, (4, *shape)).astype("f4"), training=True)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model.predict(numpy.zeros((1, *shape), "f4"), verbose=0)  # who has not predicted cannot be exported
        model.export(path, format="onnx", verbose=False)
    return random.uniform(-1, 1, (2, *shape)).astype("f4")


def input_shape(spec):
    with open(spec, encoding="utf-8") as file:
        return [int(extent) for extent in re.search(r"shape: \[(.*?)\]", file.read()).group(1).split(",")]


def train(spec, weights, folder, classes):
    """Two epochs of the network that came in, over noise."""
    shape = input_shape(spec)
    with open(spec, "a+", encoding="utf-8") as file:
        file.seek(0)
        text = file.read()
        last = text.rstrip().splitlines()[-1]
        if "softmax" not in last:
            file.write("  - softmax\n")
    loss = "negative_log_likelihood" if "log_softmax" in last else "categorical_cross_entropy"
    job = os.path.join(folder, "job.yaml")
    with open(job, "w", encoding="utf-8") as file:
        file.write(f"kind: job\nname: again\nmodel: {spec}\ndataset: {{kind: dataset, name: noise, type: synthetic, "
                   f"shape: {shape}, classes: {classes}, train_samples: 4, test_samples: 2}}\n"
                   f"training: {{kind: training, name: t, optimizer: {{sgd: {{learning_rate: 1.0e-8}}}}, loss: {loss}, "
                   "batch_size: 2, epochs: 2}"
                   "\n")
    dtnn("dtnnc", "compile", job, "-o", os.path.join(folder, "train.json"))
    dtnn("dtnn-run", os.path.join(folder, "train.json"), "--weights", weights, "--output", os.path.join(folder, "run"))


def check_network(label, write):
    """`write` writes the file and gives samples for it. None: the exporter has it not, or ONNX Runtime."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "net.onnx")
        try:
            sample = write(file)
            theirs, plainly = (runtime.run(None, {runtime.get_inputs()[0].name: sample})[0]
                               for runtime in (session(file), session(file, optimised=False)))
        except Exception as error:
            print(f"{label:<36} is not exported: {str(error).splitlines()[0][:120]}", flush=True)
            return None
        rounded = centred_difference(plainly, theirs)
        try:
            path = imported(file, folder)
            if list(sample.shape[1:]) != input_shape(path["yaml"]):
                sample = numpy.ascontiguousarray(numpy.moveaxis(sample, -1, 1))
            network = Network.__new__(Network)
            network.folder, network.sample = folder, {"source": sample}
            network.plan, network.weights = os.path.join(folder, "plan.json"), path["safetensors"]
            dtnn("dtnnc", "compile", path["yaml"], "-o", network.plan, "--threads", "2")
            ours = network.predict()
            first = centred_difference(ours, theirs)
            again = centred_difference(session(network.export("again.onnx")).run(None, network.sample)[0], theirs)
            train(path["yaml"], path["safetensors"], folder, theirs.shape[1])
        except Exception as error:  # of ONNX Runtime too, of a file of ours
            print(f"{label}: {error}", flush=True)
            return False
    # What ONNX Runtime rounds differently by itself is no fault of ours.
    good = max(first, again) <= max(LIMIT, 4 * rounded)
    print(f"{label:<36} in {first:.1e}  out again {again:.1e}  ONNX Runtime by itself {rounded:.1e}  {time.monotonic() - began:.0f} s"
          f"{'' if good else '  DIFFERS'}", flush=True)
    return good


# ---- ONNX's node tests

def node_tests():
    from onnx.backend.test.case.node import collect_testcases
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return collect_testcases(None)


def with_batch_first(model, inputs, outputs):
    """Recurrent operators have their steps first, or the ways (`layout` 0), and behind them the batch: a network reads
    the batch first, and gives it first."""
    node, outputs = model.graph.node[0], list(outputs)
    if node.op_type not in ("LSTM", "GRU", "RNN") or any(a.name == "layout" and a.i == 1 for a in node.attribute):
        return list(inputs), outputs
    source, result = model.graph.input[0], outputs[0]
    turned = numpy.ascontiguousarray(numpy.moveaxis(inputs[0], 1, 0))
    node.input[0] = f"{source.name}_by_step"
    model.graph.node.insert(0, helper.make_node("Transpose", [source.name], [f"{source.name}_by_step"], perm=[1, 0, 2]))
    source.CopyFrom(helper.make_tensor_value_info(source.name, onnx.TensorProto.FLOAT, turned.shape))
    batch = result.ndim - 2
    perm = [batch] + [axis for axis in range(result.ndim) if axis != batch]
    name = model.graph.output[0].name
    model.graph.node.append(helper.make_node("Transpose", [name], [f"{name}_by_sample"], perm=perm))
    model.graph.output[0].name = f"{name}_by_sample"
    return [turned, *inputs[1:]], [result.transpose(perm), *outputs[1:]]


def as_network(case, inputs_that_vary):
    """The case's model with all inputs behind these as weights."""
    model, (inputs, outputs) = onnx.ModelProto(), case.data_sets[0]
    model.CopyFrom(case.model)
    inputs, outputs = with_batch_first(model, inputs, outputs)
    values = list(zip(list(model.graph.input), inputs))
    del model.graph.output[1:]
    del model.graph.input[:]
    for index, (value, array) in enumerate(values):
        if index < inputs_that_vary:
            model.graph.input.append(value)
        else:
            model.graph.initializer.append(numpy_helper.from_array(numpy.asarray(array), value.name))
    # A network alone is compiled where it gives rows, of more than one number.
    result, expected = model.graph.output[0].name, outputs[0].reshape(outputs[0].shape[0], -1)
    model.graph.node.append(helper.make_node("Flatten", [result], ["flat"], axis=1))
    model.graph.node.append(helper.make_node("Relu", ["flat"], ["positive"]))
    model.graph.node.append(helper.make_node("Concat", ["flat", "positive"], ["rows"], axis=1))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("rows", onnx.TensorProto.FLOAT, None))
    return model, inputs[:inputs_that_vary], numpy.concatenate([expected, numpy.maximum(expected, 0)], axis=1)


def check_node(case, folder, inputs_that_vary):
    """None: it passes; else why it does not; whether it is refused in words."""
    model, inputs, expected = as_network(case, inputs_that_vary)
    for entry in model.opset_import:
        if entry.domain == "" and entry.version > 23:  # the tests are of the newest
            entry.version = 23
    file = os.path.join(folder, "node.onnx")
    onnx.save(model, file)
    spec, weights, back = (os.path.join(folder, name) for name in ("node.yaml", "node.safetensors", "back.onnx"))
    for stale in (weights, back):
        if os.path.exists(stale):
            os.unlink(stale)
    process = subprocess.run([os.path.join(BIN, "dtnnc"), "import", file, "-o", spec, "--weights", weights],
                             capture_output=True, text=True, check=False)
    if process.returncode == 5:
        return process.stderr.split("\n")[1].strip(), True
    if process.returncode != 0:
        return process.stderr, False
    dtnn("dtnnc", "export", spec, *(["--weights", weights] if os.path.exists(weights) else []), "-o", back)
    runtime = session(back)
    found = runtime.run(None, {value.name: numpy.asarray(x).astype("f4")
                               for value, x in zip(runtime.get_inputs(), inputs)})[0]
    if found.shape != expected.shape:
        return f"{found.shape} instead of {expected.shape}", False
    if not numpy.allclose(found, expected, rtol=1e-3, atol=1e-5, equal_nan=True):
        return f"differs by {numpy.abs(found - expected).max():.1e}", False
    return None, False


def is_of_numbers(case):
    """Rows, sequences or images of f32; the others are refused in the same words each."""
    x = numpy.asarray(case.data_sets[0][0][0]) if case.data_sets[0][0] else numpy.zeros(())
    return x.dtype == numpy.float32 and 2 <= x.ndim <= 4


def check_operators(verbose):
    passed, refused, failed = (collections.Counter() for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        for case in node_tests():
            operators = {node.op_type for node in case.model.graph.node} if case.model else set()
            if len(operators) != 1 or not operators & set(READ):
                continue
            operator = operators.pop()
            if not verbose and not is_of_numbers(case):
                continue
            try:
                why, in_words = check_node(case, folder, 1)
                if in_words and len(case.data_sets[0][0]) > 1:
                    again, words_again = check_node(case, folder, len(case.data_sets[0][0]))
                    if again is None or not words_again:
                        why, in_words = again, words_again
            except (NotImplementedError, TypeError, AttributeError, IndexError, ValueError):
                continue  # types that NumPy has not, sequences, numbers without a batch
            except Failed as error:
                why, in_words = str(error), False
            counter = passed if why is None else refused if in_words else failed
            counter[operator] += 1
            if why and (verbose or not in_words):
                print(f"  {case.name}: {why}", flush=True)
    for operator in sorted(passed | refused | failed):
        print(f"{operator:<24} {passed[operator]:>3} pass  {refused[operator]:>3} refused  {failed[operator]:>3} fail")
    few = [operator for operator, least in OPERATORS.items() if passed[operator] < least]
    print(f"node tests: {passed.total()} pass, {refused.total()} refused, {failed.total()} fail"
          + (f"; too few of {few}" if few else ""))
    return not failed and not few


def read_operators():
    """Those that have a rule, or are formulas."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "compiler", "onnx")
    names = set()
    for file, pattern in (("in/rules.def", r"DTNN_ONNX_READ\((\w+),"), ("same.def", r'DTNN_ONNX_SAME\(\w+, "(\w+)"'),
                          ("in/elementwise.cpp", r'\{"([A-Z]\w+)",')):
        with open(os.path.join(root, file), encoding="utf-8") as text:
            names |= set(re.findall(pattern, text.read()))
    return names | {"Gelu", "Softplus", "Swish"}


READ = read_operators()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", nargs="*")
    parser.add_argument("--keras", nargs="*", help="of keras.applications and of modules.py; without names all of the latter")
    parser.add_argument("--modules", nargs="*", help="of PyTorch, of modules.py; without names all of them")
    parser.add_argument("--operators", action="store_true")
    given = parser.parse_args()
    results = []
    if given.keras is not None:
        results += [check_network(f"{name} (keras)", functools.partial(keras_file, name)) for name in given.keras or modules.keras_modules()]
        sys.exit(0 if all(results) else 1)
    if given.modules is not None:
        results += [check_network(f"{name} ({form})", functools.partial(module_file, name, form))
                    for name in given.modules or modules.torch_modules() for form in forms_of(name)]
        results = [result for result in results if result is not None]
        print(f"{sum(results)} of {len(results)} agree")
        sys.exit(0 if all(results) else 1)
    if given.networks is None:
        results.append(check_operators(given.operators))
    if not given.operators:
        try:
            import torchvision
            results += [check_network(f"{name} ({'torch.export' if dynamo else 'TorchScript'})",
                                      functools.partial(torch_file, name, dynamo=dynamo))
                        for name in given.networks or NETWORKS
                        for dynamo in ((False, True) if given.networks else (False,))]
        except ImportError as missing:
            print(f"networks are skipped: {missing}")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
