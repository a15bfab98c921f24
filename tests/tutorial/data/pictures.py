#!/usr/bin/env python3
"""pictures.py FOLDER [COUNT [CLASS ...]]: pictures of mixed sizes, a folder for each class.

FOLDER/train/CLASS/*.png (COUNT of a class, 100 unless given), FOLDER/test/CLASS/*.png (a third as many), and a few
pictures without a class in FOLDER/new. Classes: circle, square, triangle, and when asked for cross and ring."""

import os
import random
import sys

from drawing import SHAPES, Picture
from png import write_png


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    draw = random.Random(7)
    for shape in sys.argv[3:] or SHAPES:
        for split, number in (("train", count), ("test", max(count // 3, 1))):
            for i in range(number):
                picture = Picture(draw, draw.randrange(32, 57), draw.randrange(32, 57))
                picture.add(shape)
                write_png(os.path.join(folder, split, shape, f"{shape}_{i:03}.png"), picture.rows)
        picture = Picture(draw, 48, 64)
        picture.add(shape)
        write_png(os.path.join(folder, "new", f"a_{shape}.png"), picture.rows)


main()
