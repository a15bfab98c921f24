"""Readers and writers of arrays' files in plain Python, for the tests beside this file: what dtnn-run writes is judged
by code that shares nothing with it. Formats: numpy.lib.format (NumPy's manual), safetensors (its README)."""

import ast
import json
import math
import os
import struct
import subprocess
import zipfile

CODES = {"<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|u1": "B"}
SAFETENSORS = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "|u1"}


class Array:
    """Row-major elements with NumPy's name of their type."""

    def __init__(self, descr, shape, data):
        assert len(data) == math.prod(shape), (len(data), shape)
        self.descr, self.shape, self.data = descr, tuple(shape), list(data)

    def __eq__(self, other):
        return (self.descr, self.shape, self.data) == (other.descr, other.shape, other.data)

    def __repr__(self):
        return f"Array({self.descr}, {self.shape}, {self.data[:4]}...)"

    def reshape(self, *shape):
        return Array(self.descr, shape, self.data)

    def transpose(self, *axes):
        """As numpy.transpose: axis i of the result is axis axes[i] of this."""
        strides = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        shape = [self.shape[axis] for axis in axes]
        steps = [strides[axis] for axis in axes]
        places = [0]
        for extent, step in zip(shape, steps):
            places = [place + i * step for place in places for i in range(extent)]
        return Array(self.descr, shape, [self.data[place] for place in places])

    def astype(self, descr):
        return Array(descr, self.shape, self.data)


def npy_bytes(array, fortran=False):
    text = f"{{'descr': '{array.descr}', 'fortran_order': {fortran}, 'shape': {array.shape!r}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    data = array
    if fortran:
        data = array.transpose(*reversed(range(len(array.shape))))
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
            + struct.pack(f"<{len(data.data)}{CODES[array.descr]}", *data.data))


def parse_npy(data):
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    length, = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b"\n"
    header = ast.literal_eval(data[10:10 + length].decode("ascii"))
    assert sorted(header) == ["descr", "fortran_order", "shape"] and header["fortran_order"] is False
    body, count = data[10 + length:], math.prod(header["shape"])
    if header["descr"].startswith("<U"):
        width = 4 * int(header["descr"][2:])
        assert len(body) == width * count
        texts = [body[i * width:(i + 1) * width].decode("utf-32-le").rstrip("\0") for i in range(count)]
        return Array(header["descr"], header["shape"], texts)
    return Array(header["descr"], header["shape"], struct.unpack(f"<{count}{CODES[header['descr']]}", body))


def read_npz(path):
    """By name, in the file's order; zipfile verifies the checksums."""
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        for info in file.infolist():
            assert info.compress_type == zipfile.ZIP_STORED and info.filename.endswith(".npy"), info
        return {info.filename[:-4]: parse_npy(file.read(info)) for info in file.infolist()}


def write_npz(path, arrays, compressed=False):
    """Compressed is what numpy.savez_compressed, and so PyDTNN, writes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            file.writestr(name + ".npy", npy_bytes(array))


def read_safetensors(path):
    """Arrays by name and the metadata; every rule of the format is checked."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        assert length <= 100_000_000 and 8 + length <= size
        text = file.read(length)
        assert text[:1] == b"{", "the header begins with {"
        keys = []

        def once(pairs):
            keys.append([key for key, _ in pairs])
            assert len(set(keys[-1])) == len(keys[-1]), "a key comes twice"
            return dict(pairs)

        header = json.loads(text.decode("utf-8").rstrip(" "), object_pairs_hook=once)
        data = file.read()
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert sorted(entry) == ["data_offsets", "dtype", "shape"], entry
        first, last = entry["data_offsets"]
        descr = SAFETENSORS[entry["dtype"]]
        count = math.prod(entry["shape"])
        assert first == end, f"a gap or an overlap before {name}"
        assert last - first == count * struct.calcsize("<" + CODES[descr])
        arrays[name] = Array(descr, entry["shape"], struct.unpack(f"<{count}{CODES[descr]}", data[first:last]))
        end = last
    assert end == len(data), "bytes behind the last tensor"
    return arrays, metadata


def write_safetensors(path, arrays):
    header, body = {}, b""
    names = {descr: name for name, descr in SAFETENSORS.items()}
    for name, array in arrays.items():
        data = struct.pack(f"<{len(array.data)}{CODES[array.descr]}", *array.data)
        header[name] = {"dtype": names[array.descr], "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def numpy_python():
    """A Python that has NumPy, or None."""
    for python in ("python3", "/usr/bin/python3"):
        try:
            found = subprocess.run([python, "-c", "import numpy"], capture_output=True, timeout=60)
        except OSError:
            continue
        if found.returncode == 0:
            return python
    return None
