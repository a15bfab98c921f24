"""Arrays of callers as the library reads them, where they lie: NumPy's, what has __dlpack__, and buffers."""

from __future__ import annotations

import ctypes
import sys
from ctypes import addressof, c_char, c_int64
from typing import Any

from ._library import Array

TYPES = {"f4": 0, "f8": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "u4": 6, "i4": 7, "u8": 8, "i8": 9, "b1": 10}
FORMATS = {"f": 0, "d": 1, "B": 2, "b": 3, "H": 4, "h": 5, "I": 6, "i": 7, "L": 8, "l": 9, "Q": 8, "q": 9, "?": 10}
_SIZE = ctypes.sizeof(Array)
_extents: dict[int, Any] = {}


def numpy() -> Any:
    """NumPy where somebody has imported it, or it can be; else None."""
    module = sys.modules.get("numpy")
    if module is None:
        try:
            import numpy as module  # type: ignore[no-redef]
        except ImportError:
            return None
    return module


def of_numpy(value: Any) -> bool:
    """Whether its class is one of NumPy's own, not one that is made from them."""
    return type(value).__module__ == "numpy"


def extents(values: Any) -> Any:
    """An array of int64 of these numbers."""
    kind = _extents.get(len(values))
    if kind is None:
        kind = _extents[len(values)] = c_int64 * len(values)
    return kind(*values)


def describe(value: Any, array: Array) -> Any:
    """Fills in the struct; what it points to lives as long as the result."""
    interface = getattr(value, "__array_interface__", None)
    if interface is None and hasattr(value, "__dlpack__") and numpy() is not None:
        value = numpy().from_dlpack(value)
        interface = value.__array_interface__
    if interface is None and numpy() is not None and not isinstance(value, (bytes, bytearray, memoryview)):
        value = numpy().asarray(value)
        interface = value.__array_interface__
    array.size = _SIZE
    if interface is not None:
        kind = interface["typestr"]
        if kind[0] == ">" or kind[1:] not in TYPES:  # half precision and the like; other orders of bytes
            value = numpy().ascontiguousarray(value, dtype="f8" if kind[1:] in ("f16", "g16") else "f4")
            interface = value.__array_interface__
            kind = interface["typestr"]
        shape, strides = interface["shape"], interface["strides"]
        array.data, array.dtype = interface["data"][0], TYPES[kind[1:]]
    else:
        value = memoryview(value)
        shape, strides = value.shape, value.strides
        if value.format not in FORMATS:
            raise TypeError(f"a buffer of the format {value.format!r} holds no numbers that can be read")
        array.dtype = FORMATS[value.format]
        flat = value if value.contiguous else memoryview(value.tobytes())
        strides = None if value.contiguous else strides
        if flat.readonly:  # ctypes shows no memory that may not be written
            flat = bytearray(flat.tobytes())
        elif flat.ndim != 1 or flat.format != "B":
            flat = flat.cast("B")
        holder = (c_char * len(flat)).from_buffer(flat) if len(flat) else ctypes.create_string_buffer(1)
        array.data, value, strides = addressof(holder), holder, None
    array.axes_count = len(shape)
    dims = extents(shape)
    array.dims = dims
    steps = None if strides is None else extents(strides)
    array.strides = steps
    return value, dims, steps


class Inputs:
    """The arrays of one call after another as the library reads them. What describes NumPy's arrays stays as long
    as they have one form, so that of the next one only the address is asked."""

    def __init__(self, count: int):
        self.structs = (Array * count)()
        self.samples = 0
        self._one_by_one = list(self.structs)
        self._forms: list[Any] = [None] * count

    def take(self, values: tuple[Any, ...]) -> Any:
        """Describes an array for each input; what the structs point to lives as long as the result."""
        kept = []
        for index, value in enumerate(values):
            array = self._one_by_one[index]
            plain = of_numpy(value)
            if plain and self._forms[index] == (value.shape, value.strides, value.dtype):
                try:
                    array.data = addressof(c_char.from_buffer(value))
                except (TypeError, ValueError):  # it may not be written, has gaps, or no elements
                    array.data = value.__array_interface__["data"][0]
                continue
            self._forms[index] = None
            kept.append(describe(value, array))
            if index == 0:
                self.samples = array.dims[0] if array.axes_count else 0
            if plain and kept[-1][0] is value:
                self._forms[index] = value.shape, value.strides, value.dtype
        return kept


def empty(shape: tuple[int, ...], double: bool) -> tuple[Any, int, int]:
    """A new array of real numbers, its address and its bytes: NumPy's, else a memoryview of that shape."""
    count = 8 if double else 4
    for extent in shape:
        count *= extent
    module = numpy()
    if module is not None:
        made = module.empty(shape, module.float64 if double else module.float32)
        return made, addressof(c_char.from_buffer(made)) if count else 0, count
    memory = bytearray(count)
    view = memoryview(memory).cast("d" if double else "f", shape) if count else memoryview(memory)
    return view, addressof((c_char * max(count, 1)).from_buffer(memory)) if count else 0, count
