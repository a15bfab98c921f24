#!/usr/bin/env python3
"""Random networks over sequences beside PyTorch, in double: predictions before the training, losses of its steps, loss and
metrics of the test behind it, last weights, to 1e-9 over what is at least 1.

    python3 tests/peers/sequences/test_random_sequences.py                      # networks 0 to 19: less than a minute
    python3 tests/peers/sequences/test_random_sequences.py --networks 0 500     # of these numbers
    python3 tests/peers/sequences/test_random_sequences.py --spec 7             # prints what number 7 is

It needs torch and numpy, says so and ends with 77 where they are not. Odd numbers are compiled for one thread, even ones for
two. The programs are those of DTNN_BIN, else of build/release/bin."""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import torch

    from torch_sequences import trained
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

from random_sequences import Network

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
LIMIT = 1e-9


class Failed(Exception):
    """A command, or a comparison, that went wrong."""


def dtnn(*command):
    environment = {"DTNN_SPEC_PATH": os.path.join(ROOT, "specs"), **os.environ, "DTNN_TUNING": "", "NO_COLOR": "1"}
    process = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], capture_output=True, text=True, check=False,
                             env=environment)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ends with {process.returncode}:\n{process.stderr}")


def samples(network, count, rng):
    """Of one split: inputs by name, labels."""
    inputs = {}
    for name, feature in network.inputs.items():
        shape = (count, *feature["shape"])
        inputs[name] = rng.integers(0, feature["values"], shape) if "values" in feature else rng.standard_normal(shape)
    shape = (count, *network.label_shape)
    labels = rng.integers(0, max(network.classes, 2), shape)
    if network.ending == "values":
        labels = rng.standard_normal(shape)
    if network.ending == "multiple":
        labels = labels % 2 * 1.0
    return {"inputs": inputs, "labels": next(iter(inputs.values())) if network.ending == "input" else labels}


def write_samples(path, network, splits):
    arrays = {}
    for split, data in splits.items():
        for name, value in data["inputs"].items():
            arrays[f"{'x' if network.one_name else name}_{split}"] = value
        if network.ending != "input":
            arrays[f"y_{split}"] = data["labels"]
    numpy.savez(path, **arrays)


def first_weights(plan, rng):
    """By role. Products keep the size of what they read, so that no state of a recurrent layer runs wild."""
    weights = {}
    for parameter in plan["parameters"]:
        if parameter["optimizer_state"]:
            continue
        dims, role = parameter["dims"], parameter["role"]
        if role in ("weights", "hidden_weights"):
            value = rng.standard_normal(dims) * (0.8 / dims[0] ** 0.5 if len(dims) > 1 else 1)
        elif role in ("gamma", "running_variance"):
            value = rng.uniform(0.5, 1.5, dims)
        else:
            value = 0.3 * rng.standard_normal(dims)
        weights[parameter["name"]] = value
    return weights


def safetensors(path):
    """The numbers of a file of weights."""
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}
    return {name: numpy.frombuffer(data[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
            for name, entry in header.items() if name != "__metadata__"}


def ours_of(network, folder, splits):
    """What our programs make of it, and the weights that it began with."""
    def path(name):
        return os.path.join(folder, name)

    write_samples(path("data.npz"), network, splits)
    with open(path("job.yaml"), "w", encoding="utf-8") as file:
        file.write(network.spec(path("data.npz")))
    dtnn("dtnnc", "compile", path("job.yaml"), "-o", path("plan.json"), "--threads", str(2 - network.number % 2))
    with open(path("plan.json"), encoding="utf-8") as file:
        first = first_weights(json.load(file), numpy.random.default_rng(network.number))
    numpy.savez(path("first.npz"), **first)
    dtnn("dtnn-run", "predict", path("plan.json"), "--weights", path("first.npz"), "--layout", "own", "--input", "test",
         "-o", path("given.npz"))
    with numpy.load(path("given.npz")) as given:
        predictions = next(given[key] for key in ("probabilities", "scores", "values") if key in given)
    dtnn("dtnn-run", path("plan.json"), "--weights", path("first.npz"), "--layout", "own", "--output", path("run"))
    losses, test = [], None
    with open(path("run/history.jsonl"), encoding="utf-8") as file:
        for event in map(json.loads, file):
            if event["event"] == "epoch":
                losses += event["steps"]["loss"]
            elif event["event"] == "evaluate":
                test = event["test"]
    return first, {"predictions": predictions, "losses": numpy.array(losses), "test": test,
                   "weights": safetensors(path("run/weights.safetensors"))}


def difference(ours, theirs):
    """The largest, over what is at least 1."""
    ours, theirs = numpy.asarray(ours), numpy.asarray(theirs)
    if ours.shape != theirs.shape:
        raise Failed(f"ours has the shape {ours.shape}, PyTorch's {theirs.shape}")
    if not numpy.isfinite(theirs).all():
        raise Failed("PyTorch's are not finite")
    apart = numpy.abs(ours - theirs) / numpy.maximum(1, numpy.abs(theirs))
    return float(apart.max(initial=0)) if numpy.isfinite(ours).all() else numpy.inf


def apart_from(theirs, others):
    apart = {key: difference(others[key], theirs[key]) for key in ("predictions", "losses")}
    for key in ("test", "weights"):
        apart[key] = max(difference(value, theirs[key][name]) for name, value in others[key].items())
    return apart


def compare(network, folder):
    """How far the four are apart, and how far they may be: a training that moves by more when PyTorch's own first weights are
    moved by their last place, because it runs away, proves nothing."""
    rng = numpy.random.default_rng(network.number)
    splits = {split: samples(network, count, rng) for split, count in network.samples().items()}
    first, ours = ours_of(network, folder, splits)
    theirs = trained(network, first, splits["train"], splits["test"])
    if theirs["used"] != set(first):
        raise Failed(f"the parameters are not those that the spec has: {sorted(theirs['used'] ^ set(first))}")
    if set(ours["weights"]) != set(first):
        raise Failed(f"the file of weights has others than the plan: {sorted(set(ours['weights']) ^ set(first))}")
    if network.loss == "negative_log_likelihood":
        theirs["predictions"] = numpy.exp(theirs["predictions"])
    apart, limits = apart_from(theirs, ours), dict.fromkeys(("predictions", "losses", "test", "weights"), LIMIT)
    if max(apart.values()) > LIMIT:
        moved = {name: value * (1 + 2e-16 * rng.choice([-1, 1], value.shape)) for name, value in first.items()}
        again = trained(network, moved, splits["train"], splits["test"])
        own = apart_from(theirs, {**again, "predictions": theirs["predictions"]})
        limits = {key: max(LIMIT, 100 * value) for key, value in own.items()}
    return apart, limits


def check(number, keep):
    """Whether a network agrees, and by how much it does where it can."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            if keep:
                folder = os.path.join(keep, str(number))
                os.makedirs(folder)
            apart, limits = compare(Network(number), folder)
        except (Failed, LookupError) as error:
            print(f"{number}: {error}", flush=True)
            return False, 0.0
    good = all(value <= limits[key] for key, value in apart.items())
    away = max(limits.values()) > LIMIT
    text = "  ".join(f"{key} {value:.1e}" for key, value in apart.items())
    judged = "  DIFFERS" if not good else "  runs away" if away else ""
    print(f"{number:<6} {text}  {time.monotonic() - began:.1f} s{judged}", flush=True)
    return good, 0.0 if good and away else max(apart.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", nargs=2, type=int, default=(0, 20), metavar=("FIRST", "END"))
    parser.add_argument("--spec", type=int, help="print the job of this number")
    parser.add_argument("--keep", help="leave the files of each number in this folder")
    given = parser.parse_args()
    if given.spec is not None:
        print(Network(given.spec).spec("data.npz"), end="")
        return
    torch.set_num_threads(1)
    results = [check(number, given.keep) for number in range(*given.networks)]
    if not results:
        parser.error("no network has a number from FIRST up to END")
    good = sum(agree for agree, _ in results)
    print(f"{good} of {len(results)} within {LIMIT:.0e}; worst {max((worst for _, worst in results), default=0):.1e}")
    sys.exit(0 if good == len(results) else 1)


if __name__ == "__main__":
    main()
