"""Writes PNG files in plain Python: what the made pictures and masks are written by."""

import os
import struct
import zlib


def write_png(path, rows, channels=3, palette=None):
    """Rows of bytes, top to bottom: 3 channels are colours, 1 is gray, or numbers of colours where a palette (a list
    of red, green and blue) is given. Folders are made."""
    height, width = len(rows), len(rows[0]) // channels
    colour_type = 3 if palette else {1: 0, 3: 2}[channels]

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, colour_type, 0, 0, 0)))
        if palette:
            file.write(chunk(b"PLTE", bytes(value for colour in palette for value in colour)))
        pixels = b"".join(b"\0" + bytes(row) for row in rows)
        file.write(chunk(b"IDAT", zlib.compress(pixels, 1)) + chunk(b"IEND", b""))
