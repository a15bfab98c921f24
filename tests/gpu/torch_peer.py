#!/usr/bin/env python3
"""Trains a model with PyTorch on made-up data, in its best forms on a GPU, and prints samples per second of each as JSON.

Forms: eager (float32, no TF32, channels last), graphs (the same, a whole step captured as a CUDA graph), compile
(torch.compile of the same), compile_graphs (both), max_graphs (both, by max-autotune, which takes minutes); those that
begin with bf16 are the same with autocast to bfloat16. Layers and parameter counts are those of specs/models.
"""

import argparse
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


def simplecnn():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)), (1, 28, 28), 10


class Basic(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != width:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride), nn.BatchNorm2d(width))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


def resnet20_cifar10():
    layers = [nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU()]
    channels = 16
    for width, stride in ((16, 1), (32, 2), (64, 2)):
        for block in range(3):
            layers.append(Basic(channels, width, stride if block == 0 else 1))
            channels = width
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 10)]
    return nn.Sequential(*layers, *head), (3, 32, 32), 10


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride, project):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.shortcut = nn.Sequential()
        if project:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.bn3(self.conv3(y)) + self.shortcut(x))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride if block == 0 else 1, block == 0))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)), (3, 224, 224), 1000


# By the plans' summaries.
PARAMETERS = {"simplecnn": 202_458, "resnet20_cifar10": 277_546, "resnet50": 25_557_032}


class Trainer:
    def __init__(self, name, batch, device, reduced):
        torch.manual_seed(0)
        model, shape, classes = globals()[name]()
        assert sum(p.numel() for p in model.parameters()) == PARAMETERS[name]
        self.device = device
        self.model = model.to(device=device, memory_format=torch.channels_last).train()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9, foreach=True)
        self.loss = nn.CrossEntropyLoss()
        self.reduced = reduced
        self.source = torch.rand(batch, *shape, device=device).contiguous(memory_format=torch.channels_last)
        self.labels = torch.randint(0, classes, (batch,), device=device)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.reduced):
            loss = self.loss(self.model(self.source), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss


def as_graph(trainer):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            trainer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    trainer.optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        trainer.step()
    return graph.replay


def compiled(trainer, mode="default"):
    trainer.model = torch.compile(trainer.model, mode=mode)
    return trainer.step


def compiled_as_graph(trainer, mode="default"):
    compiled(trainer, mode)
    return as_graph(trainer)


def max_as_graph(trainer):
    return compiled_as_graph(trainer, "max-autotune-no-cudagraphs")


PREPARE = {"eager": lambda trainer: trainer.step, "graphs": as_graph, "compile": compiled, "compile_graphs": compiled_as_graph,
           "max_graphs": max_as_graph}
FORMS = {name: (False, prepare) for name, prepare in PREPARE.items()}
FORMS |= {"bf16_" + name: (True, prepare) for name, prepare in PREPARE.items()}


def profile(step):
    """Milliseconds of each kernel in a step, the longest first."""
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiled:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    events = sorted(profiled.key_averages(), key=lambda e: -e.self_device_time_total)
    return [{"kernel": e.key, "milliseconds": e.self_device_time_total / 3e3, "launches": e.count / 3} for e in events[:80]]


def rate(step, batch, steps, device):
    def wait():
        if device == "cuda":
            torch.cuda.synchronize()
    for _ in range(10):
        step()
    times = []
    for _ in range(5):
        wait()
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        times.append((time.perf_counter() - begin) / steps)
    return batch / statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["simplecnn", "resnet20_cifar10", "resnet50"])
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--forms", default="eager,graphs,compile")
    parser.add_argument("--profile", metavar="FILE", help="the times of the first form's kernels go there")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if options.profile:
        reduced, prepare = FORMS[options.forms.split(",")[0]]
        with open(options.profile, "w", encoding="utf-8") as file:
            json.dump(profile(prepare(Trainer(options.model, options.batch, options.device, reduced))), file, indent=1)
        return 0
    rates = {}
    for form in options.forms.split(","):
        reduced, prepare = FORMS[form]
        trainer = Trainer(options.model, options.batch, options.device, reduced)
        try:
            rates[form] = rate(prepare(trainer), options.batch, options.steps, options.device)
        except Exception as error:  # a form that PyTorch cannot do here is none of its best
            print(f"{form}: {error}", file=sys.stderr)
    print(json.dumps({"samples_per_second": rates, "torch": torch.__version__}))
    return 0 if rates else 1


if __name__ == "__main__":
    sys.exit(main())
