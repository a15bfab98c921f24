#!/usr/bin/env python3
"""Writes samples.json: what PyTorch, NumPy and Pillow make of small samples, for samples_test.cpp. Needs all three; the
test does not. `tolerance` says how exact the other's value is: Pillow's enhancements work on bytes.
"""

import json
import math
import pathlib

import numpy
import torch
from PIL import Image, ImageEnhance


def sample(channels, height, width, seed):
    generator = numpy.random.default_rng(seed)
    bytes_ = generator.integers(0, 256, (channels, height, width), dtype=numpy.uint8)
    return bytes_, (bytes_ / 255.0).astype(numpy.float32)


def case(name, step, fields, before, after, tolerance):
    return {"name": name, "step": step, "fields": fields, "before_shape": list(before.shape),
            "before": [round(float(x), 9) for x in before.reshape(-1)], "after_shape": list(after.shape),
            "after": [round(float(x), 9) for x in after.reshape(-1)], "tolerance": tolerance}


def resizes():
    sizes = [((1, 8, 8), (4, 4)), ((3, 7, 5), (3, 4)), ((1, 5, 7), (10, 11)), ((2, 9, 4), (4, 9)), ((1, 3, 3), (1, 1)),
             ((1, 1, 6), (4, 3)), ((3, 32, 20), (9, 9)), ((1, 6, 6), (6, 6))]
    for number, (shape, size) in enumerate(sizes):
        _, before = sample(*shape, seed=number)
        for antialias in (False, True):
            after = torch.nn.functional.interpolate(torch.from_numpy(before)[None].double(), size=size, mode="bilinear",
                                                    align_corners=False, antialias=antialias)[0].numpy()
            yield case(f"torch {shape} to {size}, antialias {antialias}", "resize",
                       {"size": list(size), "antialias": antialias}, before, after, 1e-6)
        planes = [numpy.asarray(Image.fromarray(plane, mode="F").resize((size[1], size[0]), Image.BILINEAR))
                  for plane in before]
        yield case(f"Pillow {shape} to {size}", "resize", {"size": list(size), "antialias": True}, before,
                   numpy.stack(planes), 1e-6)


def rotations():
    for number, (shape, degrees, fill) in enumerate([((1, 5, 5), 90, 0.0), ((3, 6, 9), 30, 0.0), ((2, 8, 5), -77.5, 0.25),
                                                     ((1, 7, 7), 180, 0.5), ((1, 4, 4), 0, 0.0)]):
        _, before = sample(*shape, seed=100 + number)
        _, height, width = shape
        angle = math.radians(degrees)
        # In normalized coordinates an axis is its extent's half long.
        matrix = torch.tensor([[[math.cos(angle), -math.sin(angle) * height / width, 0],
                                [math.sin(angle) * width / height, math.cos(angle), 0]]], dtype=torch.float64)
        grid = torch.nn.functional.affine_grid(matrix, (1, *shape), align_corners=False)
        # Zeros outside of (image - fill) are `fill` outside of the image.
        moved = torch.nn.functional.grid_sample(torch.from_numpy(before)[None].double() - fill, grid, mode="bilinear",
                                                padding_mode="zeros", align_corners=False)[0] + fill
        yield case(f"{shape} by {degrees}", "rotate", {"degrees": degrees, "fill": fill}, before, moved.numpy(), 2e-5)
    _, before = sample(1, 6, 6, seed=120)
    yield case("a quarter turn", "rotate", {"degrees": 90, "fill": 0.0}, before, numpy.rot90(before, axes=(1, 2)), 1e-5)


def windows():
    for number, (top, left, height, width) in enumerate([(0, 0, 4, 5), (1, 2, 2, 2), (-2, -1, 6, 6), (3, 4, 4, 4),
                                                         (-3, 1, 2, 3), (9, 9, 2, 2)]):
        _, before = sample(2, 4, 5, seed=200 + number)
        padded = numpy.pad(before, ((0, 0), (12, 12), (12, 12)), constant_values=0.5)
        after = padded[:, top + 12:top + 12 + height, left + 12:left + 12 + width]
        yield case(f"{height}x{width} from {top},{left}", "crop",
                   {"top": top, "left": left, "height": height, "width": width, "fill": 0.5}, before, after, 0)
    _, before = sample(3, 4, 5, seed=210)
    yield case("left to right", "flip", {}, before, numpy.flip(before, axis=2), 0)
    yield case("top to bottom", "vertical_flip", {}, before, numpy.flip(before, axis=1), 0)


def colours():
    enhancers = {"brightness": ImageEnhance.Brightness, "contrast": ImageEnhance.Contrast, "saturation": ImageEnhance.Color}
    for name, enhancer in enhancers.items():
        for number, factor in enumerate((0.0, 0.4, 1.0, 1.7)):
            bytes_, before = sample(3, 6, 5, seed=300 + number)
            after = numpy.asarray(enhancer(Image.fromarray(bytes_.transpose(1, 2, 0))).enhance(factor))
            # Pillow rounds gray, the mean of gray and the result.
            yield case(f"{name} {factor}", name, {"factor": factor}, before, after.transpose(2, 0, 1) / 255.0,
                       (1 + abs(1 - factor)) / 255)
    bytes_, before = sample(3, 6, 5, seed=310)
    gray = numpy.asarray(Image.fromarray(bytes_.transpose(1, 2, 0)).convert("L"))
    yield case("gray", "to_gray", {}, before, gray[None] / 255.0, 0.51 / 255)


def main():
    cases = [*resizes(), *rotations(), *windows(), *colours()]
    path = pathlib.Path(__file__).with_name("samples.json")
    lines = ",\n".join(json.dumps(one) for one in cases)
    path.write_text(f'{{"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{path}: {len(cases)} cases")


if __name__ == "__main__":
    main()
