"""Circles, squares and the like on a noisy ground: what pictures.py and masks.py draw."""

import math
import random

SHAPES = ["circle", "square", "triangle"]


def inside(shape, x, y):
    """Whether a point lies in the shape of radius 1 around 0."""
    if shape == "circle":
        return x * x + y * y <= 1
    if shape == "square":
        return max(abs(x), abs(y)) <= 0.85
    if shape == "ring":
        return 0.3 <= x * x + y * y <= 1
    if shape == "cross":
        return min(abs(x), abs(y)) <= 0.25 and max(abs(x), abs(y)) <= 1
    return -0.7 <= y <= 0.9 and abs(x) <= (y + 0.7) / 1.6


class Picture:
    """A noisy ground of one random colour."""

    def __init__(self, draw: random.Random, height, width):
        self.draw, self.height, self.width = draw, height, width
        ground = [draw.randrange(30, 110) for _ in range(3)]
        self.rows = [bytearray(value + draw.randrange(-20, 21) for _ in range(width) for value in ground)
                     for _ in range(height)]

    def add(self, shape, radius=None):
        """Draws a bright shape at a random place, a little turned, and returns the pixels (row, column) that it takes."""
        draw, side = self.draw, min(self.height, self.width)
        radius = side * (radius or draw.uniform(0.25, 0.4))
        row, column = draw.uniform(radius, self.height - radius), draw.uniform(radius, self.width - radius)
        turn = draw.uniform(-0.25, 0.25)
        cosine, sine = math.cos(turn), math.sin(turn)
        colour = [draw.randrange(150, 235) for _ in range(3)]
        taken = []
        for y in range(self.height):
            for x in range(self.width):
                down, right = (y - row) / radius, (x - column) / radius
                if inside(shape, right * cosine + down * sine, down * cosine - right * sine):
                    taken.append((y, x))
                    self.rows[y][3 * x:3 * x + 3] = bytes(value + draw.randrange(-20, 21) for value in colour)
        return taken
