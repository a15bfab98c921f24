#!/usr/bin/env python3
"""Compares the speed of training, or of inference, with PyTorch, ONNX Runtime and OpenVINO, measured alternately in one run.

    tests/benchmarks/compare_pytorch.py [--models simplecnn,gpt] [--threads 1] [--rounds 5] [--isa avx2] [--json FILE]
    tests/benchmarks/compare_pytorch.py --inference --batch 1 [--forms jit,onnxruntime] ...

Each round runs dtnn-run bench and then PyTorch on the same model, batch and optimizer, in PyTorch's best form (torch_peer.py, and the
allocator's settings below). With --inference the peer is the fastest of eager PyTorch, torch.jit.optimize_for_inference, torch.compile,
ONNX Runtime and OpenVINO (where the interpreter has them, onnx and onnxscript): all are measured in the first round, the fastest of them
in every round. Printed are the medians and, of the rounds' ratios, the median, which survives a machine whose speed
drifts, with the least and the largest. Not a test: it has no verdict unless --at-least MODEL=RATIO is given.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
# model -> (batch, steps of a round)
MODELS = {
    "simplecnn": (64, 200),
    "simplemlp": (64, 200),
    "mobilenetv1_cifar10": (64, 10),
    "resnet20_cifar10": (64, 10),
    "alexnet_cifar10": (64, 10),
    "vgg16_cifar10": (64, 5),
    "densenet_cifar10": (64, 4),
    "googlenet_cifar10": (32, 4),
    "mobilenet_v2": (16, 4),
    "efficientnet_b0": (8, 4),
    "resnet18": (16, 4),
    "resnet50": (16, 3),
}
# Those over sequences, by --models: batch, steps, spec. Without dropout, which keeps PyTorch from its attention in blocks.
LSTM = """kind: model
name: lstm
inputs: {{tokens: {{shape: [64], axes: [step], dtype: i32, values: 256}}}}
layers: [embedding: {{entries: 256, units: {0}}}, lstm: {{units: {0}}}, dense: {{units: 256}}, softmax: {{axis: features}}]
"""
SEQUENCES = {
    "gpt": (8, 3, "kind: model\nextends: gpt\nparameters: {dropout: 0}\n"),
    "gpt_with_dropout": (8, 3, "kind: model\nextends: gpt\n"),
    "gpt2_256_steps": (2, 3, "kind: model\nextends: gpt2\nparameters: {dropout: 0, steps: 256}\n"),
    "vit_tiny": (8, 4, "kind: model\nextends: vit_tiny\n"),
    "lstm_128": (64, 20, LSTM.format(128)),
    "lstm_1024": (64, 3, LSTM.format(1024)),
}
TUNABLES = ("glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=34359738368:"
            "glibc.malloc.top_pad=67108864")


# What each form of the peer's inference needs beside PyTorch.
FORMS = {"eager": (), "jit": (), "compile": (), "onnxruntime": ("onnxruntime", "onnx", "onnxscript"), "openvino": ("openvino", "onnx", "onnxscript")}
SECONDS = 1.5  # of inference in a round


def run(command, environment):
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def rate(command, environment):
    return json.loads(run(command, environment))["samples_per_second"]["median"]


def has(python, *modules):
    return subprocess.run([python, "-c", f"import {', '.join(modules)}"], capture_output=True).returncode == 0


def environments_of(options):
    """Ours and the peer's, in its best form."""
    ours = dict(os.environ, DTNN_SPEC_PATH=os.path.join(ROOT, "specs"))
    peer = dict(os.environ, OMP_NUM_THREADS=str(options.threads), GLIBC_TUNABLES=TUNABLES)
    if options.isa == "avx2":
        peer.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2")
    return ours, peer


class Model:
    """Both sides' commands for a model, in a folder of its own."""

    def __init__(self, name, options, folder, environments):
        self.ours_environment, self.peer_environment = environments
        self.inference = options.inference
        spec = name
        if name in SEQUENCES:
            self.batch, self.steps, text = SEQUENCES[name]
            spec = os.path.join(folder, "model.yaml")
            with open(spec, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            self.batch, self.steps = MODELS[name]
        if options.batch:
            self.batch = options.batch
        plan, summary = os.path.join(folder, "plan.json"), os.path.join(folder, "summary.json")
        dtnnc = os.path.join(options.bin, "dtnnc")
        settings = ["--set", f"training.batch_size={self.batch}", "--set", f"dataset.train_samples={self.batch * 8}",
                    "--set", "training.optimizer={sgd: {learning_rate: 0.01, momentum: 0.9}}"]
        run([dtnnc, "compile", spec, "-o", plan, "--threads", str(options.threads)] + settings +
            (["--isa", options.isa] if options.isa else []), self.ours_environment)
        with open(summary, "w", encoding="utf-8") as file:
            file.write(run([dtnnc, "summary", spec, "--format", "json"], self.ours_environment))
        with open(plan, encoding="utf-8") as file:
            source = json.load(file)["dataset"]["inputs"][0]
        self.ours_command = [os.path.join(options.bin, "dtnn-run"), "bench", plan, "--format", "json"]
        if self.inference:
            self.ours_command += ["--program", "predict"]
        self.network = [summary, "--shape", ",".join(map(str, source["dims"])), "--values",
                        str(source["classes"]), "--batch", str(self.batch), "--threads", str(options.threads)]
        self.peer_command = [options.python, os.path.join(HERE, "torch_peer.py")] + self.network
        if self.inference:
            self.steps = 3
            self.steps = max(3, min(5000, int(SECONDS * self.ours() / self.batch)))

    def ours(self):
        return rate(self.ours_command + ["--steps", str(self.steps)], self.ours_environment)

    def peer(self, form):
        how = ["--inference", form] if self.inference else ["--compile"] if form == "compile" else []
        return rate(self.peer_command + ["--steps", str(self.steps)] + how, self.peer_environment)


def measure(model, forms, rounds):
    """Rates of both sides in every round, and by form those of the first."""
    ours, peers = [model.ours()], []
    first = {form: model.peer(form) for form in forms}
    best = max(first, key=first.get)
    peers.append(first[best])
    for _ in range(rounds - 1):
        ours.append(model.ours())
        peers.append(model.peer(best))
    return ours, peers, best, first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inference", action="store_true", help="predictions instead of training steps")
    parser.add_argument("--batch", type=int, help="samples of a batch; the table's when not given, of inference 64")
    parser.add_argument("--forms", help=f"of the peer's inference: {', '.join(FORMS)}; all that there are when not given")
    parser.add_argument("--isa", choices=["avx2", "avx512"], help="for both sides; the machine's best when not given")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has torch")
    parser.add_argument("--compile", action="store_true", help="PyTorch's training by torch.compile, too: the faster way counts")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--at-least", action="append", default=[], metavar="MODEL=RATIO")
    options = parser.parse_args()
    bars = dict(bar.split("=") for bar in options.at_least)
    if options.inference and not options.batch:
        options.batch = 64

    environments = environments_of(options)
    if not has(options.python, "torch"):
        print("skipped: no PyTorch (python3-torch, or an environment of its own by --python)")
        return 0
    forms = ["eager", "compile"] if options.compile else ["eager"]
    if options.inference:
        forms = options.forms.split(",") if options.forms else list(FORMS)
        for form in [form for form in forms if FORMS[form] and not has(options.python, *FORMS[form])]:
            print(f"without {form}: {options.python} lacks one of {', '.join(FORMS[form])}")
            forms.remove(form)
    status = 0
    figures = []
    print(f"{'model':<20} {'batch':>5} {'threads':>7} {'dtnn':>9} {'peer':>9} {'ratio':>6}   {'rounds':<12}  peer's form")
    for name in options.models.split(","):
        with tempfile.TemporaryDirectory() as folder:
            model = Model(name, options, folder, environments)
            ours, peers, form, first = measure(model, forms, options.rounds)
        ratios = [a / b for a, b in zip(ours, peers)]
        ratio = statistics.median(ratios)
        figures.append({"model": name, "batch": model.batch, "threads": options.threads, "ours": ours, "peer": peers, "form": form,
                        "forms": first, "ratio": ratio})
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(f"{name:<20} {model.batch:>5} {options.threads:>7} {statistics.median(ours):9.1f} {statistics.median(peers):9.1f} "
              f"{ratio:6.2f}   {spread:<12}  {form}", flush=True)
        if name in bars and ratio < float(bars[name]):
            print(f"{name}: {ratio:.2f} is below {bars[name]}")
            status = 1
    mean = math.exp(statistics.fmean(math.log(one["ratio"]) for one in figures))
    print(f"{'geometric mean':<53} {mean:6.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"models": figures, "geometric_mean": mean}, file, indent=1)
    return status


if __name__ == "__main__":
    sys.exit(main())
