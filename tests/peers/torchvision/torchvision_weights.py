#!/usr/bin/env python3
"""Weights of torchvision's models, in and out, beside torchvision itself.

    python3 tests/peers/torchvision/torchvision_weights.py            # the nine architectures
    python3 tests/peers/torchvision/torchvision_weights.py --all      # every model that has a map
    python3 tests/peers/torchvision/torchvision_weights.py resnet50   # some
    python3 tests/peers/torchvision/torchvision_weights.py --write    # modules.txt and the tiny network beside this file

Each model gets random weights and random statistics, and is saved by safetensors.torch. `dtnn-run weights import` and
`predict` read the file by the map that ships, and must say what torchvision says to 1e-4 of the largest logit; what
`dtnn-run weights export` writes must pass load_state_dict(strict=True) into a new model and give the same tensors.
It needs torch, torchvision, safetensors and numpy, says so and ends with 77 where they are not, and 1 GiB of memory
for the largest model. The programs are those of DTNN_BIN, else of build/release/bin."""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy
    import safetensors.torch
    import torch
    import torchvision
    from torchvision.models.resnet import BasicBlock, Bottleneck, conv1x1
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("DTNN_BIN", os.path.join(ROOT, "build", "release", "bin"))
ARCHITECTURES = ["resnet18", "resnet50", "mobilenet_v2", "vgg16", "densenet121", "googlenet", "inception_v3",
                 "efficientnet_b0", "squeezenet1_1"]
LIMIT = 1e-4  # of the largest logit, and of the largest probability


def shipped_models():
    """What torchvision calls every model that has a map, by our name."""
    models = {}
    folder = os.path.join(ROOT, "specs", "weights", "torchvision")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            models.update(json.load(file)["models"])
    return models


def build(name, auxiliary):
    """torchvision's model, with the auxiliary heads of those that have them or without."""
    more = {"aux_logits": auxiliary, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return getattr(torchvision.models, name)(weights=None, **more)


def randomise(model, sample):
    """Random weights, and statistics that are random around the size of the activations that come: otherwise numbers
    grow or vanish on their way through a hundred layers. The means are not those of the activations: what random
    layers make of two images is nearly alike, and to subtract that would leave PyTorch's own rounding."""
    def set_statistics(module, inputs):
        size = inputs[0].square().mean(dim=(0, 2, 3)).sqrt() + 1e-3
        module.running_mean.copy_(0.3 * size * torch.randn_like(size))
        module.running_var.copy_(size.square() * torch.empty_like(size).uniform_(0.5, 1.5))

    hooks = []
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.2)
            hooks.append(module.register_forward_pre_hook(set_statistics))
    model.eval()
    with torch.no_grad():
        model(sample)
        for hook in hooks:
            hook.remove()
        # The logits differ by a few, so that no probability is 0 and none is 1.
        last = [m for m in model.modules() if isinstance(m, (torch.nn.Linear, torch.nn.Conv2d))][-1]
        spread = model(sample).std()
        last.weight *= 2 / max(float(spread), 1e-6)


def dtnn(*command):
    process = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], capture_output=True, text=True,
                             check=False)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ends with {process.returncode}:\n{process.stderr}")
    return process


def job(name, size):
    return (f"kind: job\nname: {name}\nmodel: {name}\n"
            f"dataset: {{kind: dataset, name: noise, type: synthetic, shape: [3, {size}, {size}], classes: 1000, "
            "train_samples: 2, test_samples: 2}\n"
            "training: {kind: training, name: one, optimizer: sgd, batch_size: 2, epochs: 1}\n")


def centred(logits):
    return logits - logits.mean(axis=1, keepdims=True)


def difference(probabilities, logits):
    """The largest of logits, and of probabilities, each relative to the largest there is."""
    logits = centred(logits.astype("f8"))
    expected = numpy.exp(logits) / numpy.exp(logits).sum(axis=1, keepdims=True)
    ours = centred(numpy.log(probabilities.astype("f8")))
    return (numpy.abs(ours - logits).max() / numpy.abs(logits).max(),
            numpy.abs(probabilities - expected).max() / expected.max())


def check(name, theirs, folder):
    """One model, both ways; what is printed is a line of a table."""
    began = time.monotonic()
    torch.manual_seed(len(name) * 1000 + sum(map(ord, name)))
    size = 299 if name == "inception_v3" else 224
    sample = torch.randn(4, 3, size, size)
    model = build(theirs, True)
    randomise(model, sample)
    sample = sample[:2].contiguous()
    with torch.no_grad():
        logits = model(sample).numpy()
    state = {key: value.contiguous() for key, value in model.state_dict().items()}
    path = {key: os.path.join(folder, key) for key in ("job.yaml", "plan.json", "theirs.safetensors", "x.npy",
                                                       "ours.safetensors", "back.safetensors", "p.npz")}
    safetensors.torch.save_file(state, path["theirs.safetensors"])
    numpy.save(path["x.npy"], sample.numpy())
    with open(path["job.yaml"], "w", encoding="utf-8") as file:
        file.write(job(name, size))
    dtnn("dtnnc", "compile", path["job.yaml"], "-o", path["plan.json"])
    dtnn("dtnn-run", "weights", "import", path["theirs.safetensors"], "--plan", path["plan.json"], "-o",
         path["ours.safetensors"])
    worst = [0.0, 0.0]
    # As it was saved, and as it was imported.
    for weights in ("theirs.safetensors", "ours.safetensors"):
        dtnn("dtnn-run", "predict", path["plan.json"], "--weights", path[weights], "--input", path["x.npy"], "-o",
             path["p.npz"])
        with numpy.load(path["p.npz"]) as predictions:
            worst = [max(*pair) for pair in zip(worst, difference(predictions["probabilities"], logits))]
    dtnn("dtnn-run", "weights", "export", path["ours.safetensors"], "--plan", path["plan.json"], "--map",
         "torchvision", "-o", path["back.safetensors"])
    again = build(theirs, False)
    again.load_state_dict(safetensors.torch.load_file(path["back.safetensors"]), strict=True)
    again.eval()
    same = all(torch.equal(value, state[key]) for key, value in again.state_dict().items()
               if not key.endswith("num_batches_tracked"))
    with torch.no_grad():
        returned = numpy.abs(again(sample).numpy() - logits).max() / numpy.abs(logits).max()
    good = same and max(*worst, returned) <= LIMIT
    print(f"{name:<16} {len(state):>4} tensors  logits {worst[0]:.1e}  probabilities {worst[1]:.1e}  "
          f"back: {'the same tensors' if same else 'OTHER TENSORS'}, logits {returned:.1e}  "
          f"{time.monotonic() - began:.0f} s  {'' if good else 'WRONG'}", flush=True)
    return good


def modules_of(model):
    """The modules that have parameters: their name, the shape of the weights, and `bias` or `norm`."""
    modules = []
    for name, module in model.named_modules():
        own = dict(module.named_parameters(recurse=False))
        if not own:
            continue
        shape = "x".join(map(str, own["weight"].shape))
        norm = isinstance(module, torch.nn.BatchNorm2d)
        modules.append((name, shape + (" norm" if norm else " bias" if "bias" in own else "")))
    return modules


def lines_of(modules):
    """A line for the modules, one behind the other, that stand within the same one."""
    for within, inner in itertools.groupby(modules, lambda module: module[0].rpartition(".")[0]):
        yield f"{within or '.'}: " + ", ".join(f"{name.rpartition('.')[2]} {rest}" for name, rest in inner)


class TinyResidual(torch.nn.Module):
    """A residual network of `width: 2` and one block a stage, of torchvision's own blocks, by its names."""

    def __init__(self, classes, block, **more):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 2, 7, stride=2, padding=3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(2)
        planes = 2
        for stage, width in enumerate((2, 4, 8, 16), 1):
            shortcut, stride, wide = None, 1 if stage == 1 else 2, width * block.expansion
            if wide != planes:
                shortcut = torch.nn.Sequential(conv1x1(planes, wide, stride), torch.nn.BatchNorm2d(wide))
            setattr(self, f"layer{stage}", torch.nn.Sequential(block(planes, width, stride, shortcut, **more)))
            planes = wide
        self.fc = torch.nn.Linear(planes, classes)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.nn.functional.max_pool2d(x, 3, stride=2, padding=1)
        for stage in range(1, 5):
            x = getattr(self, f"layer{stage}")(x)
        return self.fc(x.mean(dim=(2, 3)))


class TinyAlexNet(torch.nn.Module):
    """Our alexnet2014 with `width: 1` and `features: 4`, by torchvision's names and with its pooling."""

    def __init__(self, classes):
        super().__init__()
        made, taken = torch.nn.Conv2d, 3
        layers = []
        for width, kernel, stride, padding, pooled in ((1, 11, 4, 2, True), (3, 5, 1, 2, True), (6, 3, 1, 1, False),
                                                       (4, 3, 1, 1, False), (4, 3, 1, 1, True)):
            layers += [made(taken, width, kernel, stride=stride, padding=padding), torch.nn.ReLU()]
            layers += [torch.nn.MaxPool2d(3, 2)] if pooled else []
            taken = width
        self.features = torch.nn.Sequential(*layers)
        self.avgpool = torch.nn.AdaptiveAvgPool2d(6)
        self.classifier = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Linear(4 * 36, 4), torch.nn.ReLU(),
                                              torch.nn.Dropout(), torch.nn.Linear(4, 4), torch.nn.ReLU(),
                                              torch.nn.Linear(4, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def write_tiny(name, model, size):
    """A small network and what it predicts of two images of this size."""
    # Any program can compute it: no file of inputs is needed.
    count = 2 * 3 * size * size
    sample = torch.sin(torch.arange(count, dtype=torch.float64) * 0.37).float().reshape(2, 3, size, size)
    randomise(model, sample)
    state = {key: value.contiguous() for key, value in model.state_dict().items()}
    safetensors.torch.save_file(state, os.path.join(HERE, name + ".safetensors"))
    with torch.no_grad():
        probabilities = torch.softmax(model(sample).double(), dim=1)
    with open(os.path.join(HERE, name + ".json"), "w", encoding="utf-8") as file:
        json.dump({"input": f"sin(0.37 i) of element i, in float32, [2,3,{size},{size}]", "size": size,
                   "probabilities": probabilities.tolist()}, file, indent=2)
        file.write("\n")


def write():
    """What the tests that have no torchvision read."""
    with open(os.path.join(HERE, "modules.txt"), "w", encoding="utf-8") as file:
        file.write(f"# The modules of torchvision {torchvision.__version__}, written by torchvision_weights.py --write:"
                   " of each model its modules, a line for those within the same one: the name, the shape of the weight,"
                   " and whether there is a bias or it is a batch norm.\n")
        for ours, theirs in shipped_models().items():
            with torch.device("meta"):
                lines = lines_of(modules_of(build(theirs, True)))
            file.write(f"\n[{ours} {theirs}]\n" + "\n".join(lines) + "\n")
    torch.manual_seed(17)
    write_tiny("tiny_residual", TinyResidual(5, BasicBlock), 32)
    # As our resnext50_32x4d with `groups: 2` and `group_width: 64`.
    write_tiny("tiny_grouped", TinyResidual(5, Bottleneck, groups=2, base_width=64), 32)
    # The size is one at which the adaptive pooling has something to do.
    write_tiny("tiny_alexnet", TinyAlexNet(5), 160)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="our names")
    parser.add_argument("--all", action="store_true", help="every model that has a map")
    parser.add_argument("--write", action="store_true", help="write the files beside this one")
    options = parser.parse_args()
    if options.write:
        write()
        return 0
    models = shipped_models()
    wanted = options.models or (list(models) if options.all else ARCHITECTURES)
    good = True
    print(f"torch {torch.__version__}, torchvision {torchvision.__version__}")
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            good = check(name, models[name], folder) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
