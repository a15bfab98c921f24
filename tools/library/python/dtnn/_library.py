"""libdtnn.so by ctypes: its structs, its functions, and how a call that fails becomes an exception."""

from __future__ import annotations

import ctypes
import glob
import json
import os
import warnings
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, NamedTuple, Optional

HERE = os.path.dirname(os.path.abspath(__file__))


class Diagnostic(NamedTuple):
    """A mistake or a warning: the place (line 0: none), the fact, the remedy."""

    severity: str
    code: str
    file: str
    line: int
    column: int
    text: str
    help: str


class DtnnError(Exception):
    """A call that has failed. `status` is the exit code that the programs would have had."""

    def __init__(self, status: int, text: str, diagnostics: list[Diagnostic]):
        super().__init__(text.rstrip("\n"))
        self.status = status
        self.diagnostics = diagnostics


class UsageError(DtnnError, ValueError):
    """An argument is wrong."""


class SpecError(DtnnError):
    """A spec is invalid."""


class BudgetError(DtnnError):
    """The plan does not fit the memory budget."""


class MismatchError(DtnnError):
    """Plan, machine or weights do not match."""


class DivergedError(DtnnError):
    """A loss or a prediction is not a number."""


class InternalError(DtnnError):
    """An error of the library: please report it."""


class DtnnWarning(UserWarning):
    """What a call says though it has not failed."""


ERRORS = {2: UsageError, 3: SpecError, 4: BudgetError, 5: MismatchError, 6: DivergedError, 70: InternalError}


class Sized(Structure):
    """A struct that tells the library how large it is."""

    def __init__(self, **members: Any):
        super().__init__(size=ctypes.sizeof(type(self)), **members)


class CDiagnostic(Sized):
    _fields_ = [("size", c_size_t), ("severity", c_int), ("code", c_char_p), ("file", c_char_p), ("line", c_int),
                ("column", c_int), ("width", c_int), ("text", c_char_p), ("help", c_char_p)]


class CompileOptions(Sized):
    _fields_ = [("size", c_size_t), ("settings", POINTER(c_char_p)), ("settings_count", c_size_t),
                ("spec_path", POINTER(c_char_p)), ("spec_path_count", c_size_t), ("device", c_char_p),
                ("isa", c_char_p), ("threads", c_int), ("ranks", c_int), ("memory_budget", c_int64),
                ("without_tuning", c_int)]


class CMemory(Sized):
    _fields_ = [("size", c_size_t)] + [(name, c_int64) for name in (
        "host", "certain", "device", "arena", "parameters", "optimizer", "transient", "staging", "samples")]


class OpenOptions(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("weights", c_char_p), ("run_folder", c_char_p),
                ("replace_run", c_int)]


class ArrayForm(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("dtype", c_int), ("axes_count", c_size_t),
                ("dims", POINTER(c_int64)), ("axes", POINTER(c_char_p)), ("values", c_int64)]


class PredictionForm(Sized):
    _fields_ = [("size", c_size_t), ("meaning", c_int), ("batch", c_int64)]


class Array(Structure):
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("dtype", c_int), ("axes_count", c_size_t),
                ("dims", POINTER(c_int64)), ("strides", POINTER(c_int64))]


class Measure(Structure):
    _fields_ = [("name", c_char_p), ("numbers", POINTER(c_double)), ("count", c_size_t), ("columns", c_size_t)]


class Measures(Structure):
    _fields_ = [("samples", c_int64), ("list", POINTER(Measure)), ("count", c_size_t)]


class Progress(Structure):
    _fields_ = [("size", c_size_t), ("event", c_int), ("epoch", c_int64), ("epochs", c_int64), ("step", c_int64),
                ("steps", c_int64), ("total_steps", c_int64), ("learning_rate", c_double),
                ("samples_per_second", c_double), ("seconds", c_double), ("train", Measures), ("validation", Measures)]


Callback = ctypes.CFUNCTYPE(c_int, POINTER(Progress), c_void_p)


class TrainOptions(Sized):
    _fields_ = [("size", c_size_t), ("epochs", c_int64), ("steps", c_int64), ("callback", Callback),
                ("context", c_void_p), ("every_step", c_int)]


class Training(Sized):
    _fields_ = [("size", c_size_t), ("epoch", c_int64), ("step", c_int64), ("ended", c_int), ("stopped", c_int)]


class LoadOptions(Sized):
    _fields_ = [("size", c_size_t), ("map", c_char_p), ("layout", c_char_p), ("match", c_char_p),
                ("allow_missing", c_int), ("cast", c_int)]


def _find() -> str:
    """Where the library is: named, in a wheel, in an installed tree, in a build tree."""
    if "DTNN_LIBRARY" in os.environ:
        return os.environ["DTNN_LIBRARY"]
    prefix = os.path.join(HERE, "..", "..", "..", "..")  # of PREFIX/share/dtnn/python/dtnn
    places = [os.path.join(HERE, "lib"), os.path.join(prefix, "lib"), os.path.join(prefix, "lib64"),
              os.path.join(prefix, "lib", "*"), os.path.join(prefix, "build", "release", "bin")]
    for place in places:
        for found in glob.glob(os.path.join(place, "libdtnn.so.1")):
            return os.path.abspath(found)
    raise ImportError("libdtnn.so.1 is in none of " + ", ".join(map(os.path.normpath, places)) +
                      "; build the target `dtnn`, or set DTNN_LIBRARY to its path")


library = ctypes.CDLL(_find())

# Results and arguments of every function, without the report, which comes last where there is one.
_TEXT, _TEXT_OUT, _HANDLE_OUT = c_char_p, POINTER(c_void_p), POINTER(c_void_p)
_FUNCTIONS = {
    "version": (_TEXT, []), "specs": (_TEXT, []), "free": (None, [c_void_p]),
    "report_free": (None, [c_void_p]), "report_status": (c_int, [c_void_p]), "report_text": (_TEXT, [c_void_p]),
    "report_json": (_TEXT, [c_void_p]), "report_count": (c_size_t, [c_void_p]),
    "report_diagnostic": (c_int, [c_void_p, c_size_t, POINTER(CDiagnostic)]),
    "plan_free": (None, [c_void_p]), "plan_text": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "plan_name": (_TEXT, [c_void_p]), "plan_checksum": (_TEXT, [c_void_p]), "plan_resolved": (_TEXT, [c_void_p]),
    "plan_memory": (c_int, [c_void_p, POINTER(CMemory)]),
    "close": (None, [c_void_p]), "threads": (c_int, [c_void_p]), "input_count": (c_size_t, [c_void_p]),
    "input_form": (c_int, [c_void_p, c_size_t, POINTER(ArrayForm)]),
    "prediction": (c_int, [c_void_p, POINTER(PredictionForm)]),
    "output_form": (c_int, [c_void_p, POINTER(ArrayForm)]), "class_name": (_TEXT, [c_void_p, c_size_t]),
    "weight_count": (c_size_t, [c_void_p]), "weight_form": (c_int, [c_void_p, c_size_t, POINTER(ArrayForm)]),
}
_REPORTING = {
    "compile_file": [_TEXT, POINTER(CompileOptions), _HANDLE_OUT],
    "compile_text": [_TEXT, c_size_t, _TEXT, POINTER(CompileOptions), _HANDLE_OUT],
    "plan_read": [_TEXT, _HANDLE_OUT], "plan_parse": [_TEXT, c_size_t, _TEXT, _HANDLE_OUT],
    "plan_write": [c_void_p, _TEXT], "plan_summary": [c_void_p, _TEXT, c_int, _TEXT_OUT],
    "plan_diff": [c_void_p, c_void_p, _TEXT, _TEXT_OUT, POINTER(c_int)],
    "plan_forecast": [c_void_p, _TEXT, POINTER(c_int), c_size_t, _TEXT_OUT],
    "open": [c_void_p, POINTER(OpenOptions), _HANDLE_OUT],
    "predict": [c_void_p, POINTER(Array), c_size_t, c_void_p, c_int, c_size_t],
    "evaluate": [c_void_p, _TEXT, POINTER(Measures)],
    "train": [c_void_p, POINTER(TrainOptions), POINTER(Training)],
    "weight_read": [c_void_p, _TEXT, c_void_p, c_size_t], "weight_write": [c_void_p, _TEXT, c_void_p, c_size_t],
    "weights_save": [c_void_p, _TEXT], "weights_load": [c_void_p, _TEXT, POINTER(LoadOptions)],
}


class _Calls:
    """The functions by their names without `dtnn_`."""


call: Any = _Calls()
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(library, "dtnn_" + _name)
    _function.restype, _function.argtypes = _result, _arguments
    setattr(call, _name, _function)
for _name, _arguments in _REPORTING.items():
    _function = getattr(library, "dtnn_" + _name)
    _function.restype, _function.argtypes = c_int, [*_arguments, POINTER(c_void_p)]
    setattr(call, _name, _function)


def encoded(text: Any) -> bytes:
    """A text or a path as the library takes it."""
    return os.fsencode(text)


def _text(raw: Optional[bytes]) -> str:
    return (raw or b"").decode("utf-8", "replace")


def say(status: int, report: c_void_p) -> None:
    """Raises what a report says, or warns of it."""
    if not report.value:
        if status:
            raise ERRORS.get(status, DtnnError)(status, f"the call has failed with status {status}", [])
        return
    try:
        text, diagnostics = _text(call.report_text(report)), []
        for index in range(call.report_count(report)):
            one = CDiagnostic()
            call.report_diagnostic(report, index, byref(one))
            diagnostics.append(Diagnostic("warning" if one.severity else "error", _text(one.code), _text(one.file),
                                          one.line, one.column, _text(one.text), _text(one.help)))
    finally:
        call.report_free(report)
    if status:
        raise ERRORS.get(status, DtnnError)(status, text, diagnostics)
    warnings.warn(text.rstrip("\n"), DtnnWarning, stacklevel=4)


def checked(function: Any, *arguments: Any) -> None:
    """Calls a function that gives a report."""
    report = c_void_p()
    status = function(*arguments, byref(report))
    if status or report.value:
        say(status, report)


def taken_text(function: Any, *arguments: Any) -> str:
    """Calls a function whose last argument becomes a text."""
    text = c_void_p()
    checked(function, *arguments, byref(text))
    return owned_text(text)


def owned_text(text: c_void_p) -> str:
    try:
        return _text(ctypes.string_at(text.value))
    finally:
        call.free(text)


def texts(values: Any) -> Any:
    return (c_char_p * len(values))(*map(encoded, values))


def shape_of(form: ArrayForm) -> tuple[int, ...]:
    return tuple(form.dims[: form.axes_count])


def measures_of(measures: Measures) -> dict[str, Any]:
    """The loss and the metrics by name: numbers, lists, or lists of rows."""
    values: dict[str, Any] = {}
    for index in range(measures.count):
        one = measures.list[index]
        numbers: Any = one.numbers[: one.count]
        if one.columns > 1:
            numbers = [numbers[at : at + one.columns] for at in range(0, len(numbers), one.columns)]
        values[_text(one.name)] = numbers[0] if len(numbers) == 1 else numbers
    return values


def setting(path: str, value: Any) -> str:
    """`training.epochs=3`, as --set has it; lists and dictionaries as YAML's flow, which JSON is."""
    return f"{path}={value if isinstance(value, str) else json.dumps(value, default=plain)}"


def plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} cannot stand in a spec")
