#!/usr/bin/env python3
"""Writes schedules.json: the learning rate of every batch as PyTorch's schedulers give it, for each case of this file.

A case names our schedules with all their fields, the division of the training into batches, and the watched values after
each epoch; `rates` has a list for each epoch, a rate for each batch. Needs PyTorch; the test does not.
"""

import json
import math
import pathlib

import torch
from torch.optim import lr_scheduler as torch_schedules

BASE = 0.3


class Update:
    """An optimizer of one parameter, and schedulers stepped once an update or once an epoch."""

    def __init__(self, base, per_update=(), per_epoch=(), plateau=None):
        self.optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=base)
        self.per_update = [make(self.optimizer) for make in per_update]
        self.per_epoch = [make(self.optimizer) for make in per_epoch]
        self.plateau = plateau(self.optimizer) if plateau else None

    def rate(self):
        return self.optimizer.param_groups[0]["lr"]

    def step(self):
        self.optimizer.step()
        for schedule in self.per_update:
            schedule.step()

    def end_epoch(self, value):
        for schedule in self.per_epoch:
            schedule.step()
        if self.plateau:
            self.plateau.step(value)


def case(name, schedules, epochs, batches, accumulation=1, base=BASE, values=None, metric="loss", limit=None, **torch_side):
    """`limit`: PyTorch raises when a scheduler is stepped more often than it was told."""
    update = Update(base, **torch_side)
    rates, steps = [], 0
    for epoch in range(epochs):
        row = []
        for first in range(0, batches, accumulation):
            row += [update.rate()] * min(accumulation, batches - first)
            steps += 1
            if limit is None or steps < limit:
                update.step()
        update.end_epoch(values[epoch] if values else None)
        rates.append(row)
    return {"name": name, "schedules": schedules, "epochs": epochs, "batches": batches, "accumulation": accumulation,
            "base": base, "metric": metric, "values": values or [], "rates": rates}


def with_fields(kind, **fields):
    return {kind: fields}


def plateau_fields(**changed):
    fields = {"metric": "loss", "factor": 0.1, "patience": 2, "minimum": 0.0, "direction": "auto", "cooldown": 0, "threshold": 1e-4}
    fields.update(changed)
    return fields


def plateau_case(name, values, mode="min", metric="loss", **changed):
    fields = plateau_fields(metric=metric, **changed)
    return case(name, [{"reduce_on_plateau": fields}], len(values), 3, values=values, metric=metric,
                plateau=lambda o: torch_schedules.ReduceLROnPlateau(
                    o, mode=mode, factor=fields["factor"], patience=fields["patience"], threshold=fields["threshold"],
                    threshold_mode="rel", cooldown=fields["cooldown"], min_lr=fields["minimum"], eps=0))


def one_cycle_case(name, epochs, batches, accumulation=1, rise=0.3, start=25.0, end=1e4, shape="cosine"):
    updates = -(-batches // accumulation)
    total = epochs * updates
    return case(name, [with_fields("one_cycle", epochs=0, rise=rise, start_divisor=start, end_divisor=end, shape=shape)], epochs,
                batches, accumulation, limit=total,
                per_update=[lambda o: torch_schedules.OneCycleLR(
                    o, max_lr=BASE, total_steps=total, pct_start=rise, anneal_strategy={"cosine": "cos"}.get(shape, shape),
                    cycle_momentum=False, div_factor=start, final_div_factor=end)])


def cases():
    linear = torch_schedules.LinearLR
    warm = with_fields("warm_up", epochs=0, batches=7, **{"from": 0.1})
    yield case("warm up over batches", [warm], 3, 5,
               per_update=[lambda o: linear(o, start_factor=0.1, end_factor=1, total_iters=7)])
    yield case("warm up over epochs, per batch", [with_fields("warm_up", epochs=2, batches=0, **{"from": 0.25})], 4, 5,
               per_update=[lambda o: linear(o, start_factor=0.25, end_factor=1, total_iters=10)])
    yield case("warm up with accumulation", [with_fields("warm_up", epochs=0, batches=8, **{"from": 0.2})], 3, 6, 2,
               per_update=[lambda o: linear(o, start_factor=0.2, end_factor=1, total_iters=4)])
    yield case("multistep", [with_fields("multistep", epochs=[2, 3, 6], factor=0.2)], 8, 2,
               per_epoch=[lambda o: torch_schedules.MultiStepLR(o, [2, 3, 6], gamma=0.2)])
    yield case("reduce every 3 epochs", [with_fields("reduce_every_n_epochs", epochs=3, factor=0.5, minimum=0.0)], 10, 2,
               per_epoch=[lambda o: torch_schedules.StepLR(o, 3, gamma=0.5)])
    yield case("exponential per epoch", [with_fields("exponential", begin=0, factor=0.9, minimum=0.0)], 6, 1,
               per_epoch=[lambda o: torch_schedules.ExponentialLR(o, 0.9)])
    yield case("exponential per batch", [with_fields("exponential", begin=0, factor=0.9, minimum=0.0)], 6, 4,
               per_update=[lambda o: torch_schedules.ExponentialLR(o, 0.9 ** 0.25)])
    yield case("cosine", [with_fields("cosine", begin=0, epochs=0, minimum=0.0)], 5, 7,
               per_update=[lambda o: torch_schedules.CosineAnnealingLR(o, 35)])
    yield case("cosine to a minimum", [with_fields("cosine", begin=0, epochs=4, minimum=0.05)], 4, 6,
               per_update=[lambda o: torch_schedules.CosineAnnealingLR(o, 24, eta_min=0.05)])
    yield case("cosine with accumulation and a smaller last group", [with_fields("cosine", begin=0, epochs=3, minimum=0.0)], 3, 7, 3,
               per_update=[lambda o: torch_schedules.CosineAnnealingLR(o, 9)])
    yield case("polynomial", [with_fields("polynomial", begin=0, epochs=3, power=2.0, minimum=0.0)], 5, 4,
               per_update=[lambda o: torch_schedules.PolynomialLR(o, 12, power=2.0)])
    yield case("polynomial, linear", [with_fields("polynomial", begin=0, epochs=0, power=1.0, minimum=0.0)], 4, 4,
               per_update=[lambda o: torch_schedules.PolynomialLR(o, 16, power=1.0)])
    yield case("warm up times cosine", [with_fields("warm_up", epochs=1, batches=0, **{"from": 0.1}),
                                        with_fields("cosine", begin=1, epochs=0, minimum=0.0)], 5, 6,
               per_update=[lambda o: torch_schedules.SequentialLR(o, [
                   linear(o, start_factor=0.1, end_factor=1, total_iters=6),
                   torch_schedules.CosineAnnealingLR(o, 24)], [6])])
    yield case("warm up times multistep", [warm, with_fields("multistep", epochs=[1, 3], factor=0.1)], 5, 5,
               per_update=[lambda o: linear(o, start_factor=0.1, end_factor=1, total_iters=7),
                           lambda o: torch_schedules.MultiStepLR(o, [5, 15], gamma=0.1)])
    yield one_cycle_case("one cycle", 4, 5)
    yield one_cycle_case("one cycle, linear", 5, 7, rise=0.25, start=10.0, end=100.0, shape="linear")
    yield one_cycle_case("one cycle with accumulation", 5, 8, 3)
    down = [1.0, 0.8, 0.79999, 0.79998, 0.79997, 0.79996, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.4]
    yield plateau_case("plateau", down)
    yield plateau_case("plateau with patience 0", down, patience=0, factor=0.7)
    yield plateau_case("plateau with cooldown", down, patience=1, cooldown=2)
    yield plateau_case("plateau with a minimum", down, patience=0, minimum=0.02)
    yield plateau_case("plateau without threshold", down, threshold=0.0)
    up = [0.1, 0.3, 0.3, 0.3, 0.3, 0.31, 0.2, 0.2, 0.2, 0.2, 0.2]
    yield plateau_case("plateau of an accuracy", up, mode="max", metric="categorical_accuracy")
    yield plateau_case("plateau told to maximize", up, mode="max", direction="maximize")
    yield plateau_case("plateau told to minimize an accuracy", up, metric="categorical_accuracy", direction="minimize", patience=1)


def main():
    path = pathlib.Path(__file__).resolve().with_name("schedules.json")
    all_cases = list(cases())
    assert all(math.isfinite(rate) for c in all_cases for row in c["rates"] for rate in row)
    head = json.dumps({"torch": torch.__version__})[:-1]
    lines = ",\n".join(json.dumps(c) for c in all_cases)
    path.write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    print(f"{path.name}: {len(all_cases)} cases")


if __name__ == "__main__":
    main()
