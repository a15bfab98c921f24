#!/usr/bin/env python3
"""masks.py FOLDER [COUNT]: pictures of 32 x 32 with a circle and a cross, and the class of each of their pixels.

FOLDER/SPLIT/images/*.png and FOLDER/SPLIT/masks/*.png of the same names; SPLIT is train (COUNT pictures, 80 unless
given) and test (a quarter as many). A mask is a PNG with a palette: 0 is ground, 1 circle, 2 cross."""

import os
import random
import sys

from drawing import Picture
from png import write_png

PALETTE = [(0, 0, 0), (220, 60, 60), (60, 60, 220)]


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 80
    draw = random.Random(11)
    for split, number in (("train", count), ("test", max(count // 4, 1))):
        for i in range(number):
            picture, mask = Picture(draw, 32, 32), [bytearray(32) for _ in range(32)]
            for label, shape in ((1, "circle"), (2, "cross")):
                for y, x in picture.add(shape, 0.25):
                    mask[y][x] = label
            write_png(os.path.join(folder, split, "images", f"{i:03}.png"), picture.rows)
            write_png(os.path.join(folder, split, "masks", f"{i:03}.png"), mask, 1, PALETTE)


main()
