"""Plans, and the networks that they are when they are run."""

from __future__ import annotations

import builtins
import ctypes
import json
import operator
import os
from collections.abc import Iterator, Mapping, MutableMapping
from ctypes import byref, c_int, c_size_t, c_void_p
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, Optional, Union

from . import _arrays, _library
from ._library import call, checked, encoded
from ._show import history_html, plan_html

Job = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class Input(NamedTuple):
    """What a network reads of a sample, in the order of axes that `axes` tells; 0 is any extent."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    values: int  # of integers: how many there are


class Output(NamedTuple):
    """What a network gives for a sample; `meaning`: probabilities, labels, scores or values."""

    dtype: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    meaning: str
    batch: int  # samples that are computed at once


@dataclass
class Epoch:
    """The results of an epoch; `metrics` without the loss, `validation` with it ({}: there is none)."""

    epoch: int
    epochs: int
    step: int
    loss: float
    metrics: dict[str, Any]
    validation: dict[str, Any]
    learning_rate: float
    samples_per_second: float
    seconds: float

    def row(self) -> dict[str, Any]:
        """Everything that is one number, flat."""
        row = {"epoch": self.epoch, "step": self.step, "loss": self.loss, **self.metrics,
               **{f"validation.{name}": value for name, value in self.validation.items()},
               "learning_rate": self.learning_rate, "samples_per_second": self.samples_per_second,
               "seconds": self.seconds}
        return {name: value for name, value in row.items() if not isinstance(value, list)}


class History(list[Epoch]):
    """The epochs of a training so far; curves in a notebook."""

    def frame(self) -> Any:
        """A row for each epoch: a pandas.DataFrame where pandas is there, else a list of dictionaries."""
        rows = [epoch.row() for epoch in self]
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        return history_html([epoch.row() for epoch in self])


class Text(str):
    """A text that a notebook shows as it is."""

    def _repr_html_(self) -> str:
        from ._show import preformatted

        return preformatted(self)


@dataclass
class Difference:
    """What differs between two plans. `document` is that of `dtnnc diff --format json`."""

    text: str
    document: dict[str, Any] = field(repr=False)

    @property
    def same(self) -> bool:
        return bool(self.document["same"])

    @property
    def changes_mathematics(self) -> bool:
        return bool(self.document["changes_the_mathematics"])

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return Text(self.text)._repr_html_()


class Memory(NamedTuple):
    """Bytes of a rank: of the host, at most; what is taken in any case; of a device; and what these are of."""

    host: int
    certain: int
    device: int
    arena: int
    parameters: int
    optimizer: int
    transient: int
    staging: int
    samples: int


class Weights(MutableMapping[str, Any]):
    """Weights and moving statistics by the plan's names, in logical shape. What is read is a copy."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._forms: dict[str, tuple[tuple[int, ...], bool]] = {}
        for index in range(call.weight_count(plan._open())):
            form = _library.ArrayForm()
            call.weight_form(plan._open(), index, byref(form))
            self._forms[form.name.decode()] = _library.shape_of(form), form.dtype == 1

    def __getitem__(self, name: str) -> Any:
        shape, double = self._forms[name]
        array, address, count = _arrays.empty(shape, double)
        checked(call.weight_read, self._plan._open(), encoded(name), address, count)
        return array

    def __setitem__(self, name: str, value: Any) -> None:
        shape, double = self._forms[name]
        if _arrays.numpy() is not None:
            value = _arrays.numpy().ascontiguousarray(value, "f8" if double else "f4")
        described = _library.Array()
        kept = _arrays.describe(value, described)
        if tuple(described.dims[: described.axes_count]) != shape:
            raise ValueError(f"`{name}` has the shape {shape}")
        if described.dtype != int(double):
            raise ValueError(f"`{name}` is of {'doubles' if double else 'floats'}")
        count = 8 if double else 4
        for extent in shape:
            count *= extent
        checked(call.weight_write, self._plan._open(), encoded(name), described.data, count)
        del kept

    def __delitem__(self, name: str) -> None:
        raise TypeError("a network keeps all of its weights")

    def __iter__(self) -> Iterator[str]:
        return iter(self._forms)

    def __len__(self) -> int:
        return len(self._forms)


DTYPES = {0: "float32", 1: "float64", 7: "int32"}
MEANINGS = ("probabilities", "labels", "scores", "values")


class Plan:
    """An execution plan, and its network, which is opened when it is first asked something.

    One thread at a time; several plans may be used at once."""

    def __init__(self, handle: c_void_p, weights: Optional[str] = None):
        self._handle = handle
        self._network: Optional[c_void_p] = None
        self._options: dict[str, Any] = {"weights": weights}
        self._asked: Optional[tuple[Output, _arrays.Inputs]] = None
        self.history = History()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()
            call.plan_free(self._handle)

    # ---- What it is

    @property
    def name(self) -> str:
        return call.plan_name(self._handle).decode()

    @property
    def checksum(self) -> str:
        return call.plan_checksum(self._handle).decode()

    @property
    def text(self) -> str:
        """The plan's file."""
        count = c_size_t()
        address = call.plan_text(self._handle, byref(count))
        return ctypes.string_at(address, count.value).decode()

    @property
    def resolved(self) -> str:
        """The job with everything resolved, as YAML."""
        return call.plan_resolved(self._handle).decode()

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the plan, as `dtnn-run` takes it."""
        checked(call.plan_write, self._handle, encoded(path))

    def summary(self, form: str = "table", width: int = 0) -> Text:
        """The layer table, parameters, memory and work: table, markdown, csv or json."""
        return Text(_library.taken_text(call.plan_summary, self._handle, encoded(form), width))

    def diff(self, other: Plan) -> Difference:
        """What differs in the other plan, and what that means."""
        found = []
        for form in (b"text", b"json"):
            text = c_void_p()
            checked(call.plan_diff, self._handle, other._handle, form, byref(text), None)
            found.append(_library.owned_text(text))
        return Difference(found[0], json.loads(found[1]))

    def forecast(self, machine: Optional[str] = None, ranks: Any = ()) -> Any:
        """What the job takes on a machine, a row for each number of ranks: a pandas.DataFrame where pandas is
        there, else a list of dictionaries."""
        numbers = (c_int * len(ranks))(*ranks)
        name = None if machine is None else encoded(machine)
        text = _library.taken_text(call.plan_forecast, self._handle, name, numbers, len(ranks))
        rows = json.loads(text)["rows"]
        try:
            import pandas
        except ImportError:
            return rows
        return pandas.DataFrame(rows)

    @property
    def memory(self) -> Memory:
        memory = _library.CMemory()
        call.plan_memory(self._handle, byref(memory))
        return Memory(*(getattr(memory, name) for name in Memory._fields))

    def __repr__(self) -> str:
        return f"<dtnn.Plan {self.name} {self.checksum}>"

    def _repr_html_(self) -> str:
        return plan_html(json.loads(self.summary("json")))

    # ---- Its network

    def open(self, *, threads: int = 0, weights: Any = None, run_folder: Any = None, replace: bool = False) -> Plan:
        """Opens the network anew: with these threads (0: the plan's), with the weights of a file (none: first
        values by the plan's seed), with a folder that a training writes as dtnn-run does."""
        self.close()
        self._options = {"threads": threads, "weights": weights, "run_folder": run_folder, "replace": replace}
        self._open()
        return self

    def close(self) -> None:
        """Gives the network's memory and threads back; its weights are lost, and so is where it stood."""
        if self._network is not None:
            call.close(self._network)
        self._network = self._asked = None
        self.history = History()

    def _open(self) -> c_void_p:
        if self._network is None:
            given = self._options
            text = {name: None if given.get(name) is None else encoded(given[name]) for name in ("weights", "run_folder")}
            options = _library.OpenOptions(threads=given.get("threads", 0), replace_run=int(given.get("replace", False)),
                                           **text)
            network = c_void_p()
            checked(call.open, self._handle, byref(options), byref(network))
            self._network = network
        return self._network

    @property
    def inputs(self) -> list[Input]:
        found = []
        for index in range(call.input_count(self._open())):
            form = _library.ArrayForm()
            call.input_form(self._open(), index, byref(form))
            found.append(Input(form.name.decode(), DTYPES[form.dtype], _library.shape_of(form),
                               tuple(name.decode() for name in form.axes[: form.axes_count]), form.values))
        return found

    @property
    def output(self) -> Output:
        return self._answers()[0]

    def _answers(self) -> tuple[Output, _arrays.Inputs]:
        """The output, and room to describe arrays for the inputs."""
        if self._asked is None:
            form, array = _library.PredictionForm(), _library.ArrayForm()
            status = call.prediction(self._open(), byref(form)) or call.output_form(self._open(), byref(array))
            if status:
                _library.say(status, c_void_p())
            output = Output(DTYPES[array.dtype], _library.shape_of(array),
                            tuple(name.decode() for name in array.axes[: array.axes_count]), MEANINGS[form.meaning],
                            form.batch)
            self._asked = output, _arrays.Inputs(call.input_count(self._open()))
        return self._asked

    @property
    def classes(self) -> list[str]:
        """The names of classes or labels; [] where they have none."""
        names: list[str] = []
        while (name := call.class_name(self._open(), len(names))) is not None:
            names.append(name.decode())
        return names

    def predict(self, *arrays: Any) -> Any:
        """Predictions [samples, ...] for arrays [samples, ...], one for each input, or a dictionary of them by name.

        NumPy's arrays, what has __dlpack__ and buffers are read where they lie, whatever their strides. Bytes of
        images are divided by 255, other numbers are taken as they are; the dataset's transforms follow."""
        network = self._network or self._open()
        output, inputs = self._asked or self._answers()
        if len(arrays) == 1 and not _arrays.of_numpy(arrays[0]) and isinstance(arrays[0], Mapping):
            arrays = tuple(arrays[0][one.name] for one in self.inputs)
        kept = inputs.take(arrays) if len(arrays) == len(inputs.structs) else None  # else the library tells
        double = output.dtype == "float64"
        result, address, size = _arrays.empty((inputs.samples, *output.shape), double)
        checked(call.predict, network, inputs.structs, len(arrays), address, int(double), size)
        del kept
        return result

    def evaluate(self, split: str = "test") -> dict[str, Any]:
        """The loss and the metrics on a split of the dataset: train, validation or test."""
        measures = _library.Measures()
        checked(call.evaluate, self._open(), encoded(split), byref(measures))
        return _library.measures_of(measures)

    def train(self, epochs: int = 0, *, on_step: Optional[Callable[[dict[str, Any]], Any]] = None) -> Iterator[Epoch]:
        """Trains on, an epoch each time that the next one is asked for: `for epoch in plan.train(): ...`. So many
        epochs more; 0: to the end of the training. Who leaves the loop can go on later, to the same bits.

        `on_step` is told of every step: {"epoch", "step", "steps", "loss", ...}; if it returns True, the training
        stops there."""
        wanted = operator.index(epochs)
        if wanted < 0:
            raise ValueError(f"{wanted} epochs cannot be trained; 0 are all that are left")
        return self._epochs(wanted, on_step)

    def _epochs(self, wanted: int, on_step: Optional[Callable[[dict[str, Any]], Any]]) -> Iterator[Epoch]:
        done = 0
        while wanted == 0 or done < wanted:
            epoch, training = self._train_epoch(on_step)
            if epoch is not None:
                self.history.append(epoch)
                yield epoch
                done += 1
            if training.ended or training.stopped or epoch is None:
                return

    def fit(self, epochs: int = 0) -> History:
        """Trains to the end, or so many epochs more; the history."""
        for _ in self.train(epochs):
            pass
        return self.history

    def _train_epoch(self, on_step: Any) -> tuple[Optional[Epoch], Any]:
        found: list[Epoch] = []
        raised: list[BaseException] = []

        def tell(progress: Any, _: Any) -> int:
            # An exception must not cross the library: also Ctrl-C, which comes when Python runs again.
            try:
                now = progress.contents
                train = _library.measures_of(now.train)
                loss = train.pop("loss")
                if now.event == 0:
                    return int(on_step is not None and bool(on_step(
                        {"epoch": now.epoch, "step": now.step, "steps": now.steps, "loss": loss, **train})))
                found.append(Epoch(now.epoch, now.epochs, now.total_steps, loss, train,
                                   _library.measures_of(now.validation), now.learning_rate, now.samples_per_second,
                                   now.seconds))
                return 0
            except BaseException as error:  # noqa: B902
                raised.append(error)
                return 1

        callback = _library.Callback(tell)
        options = _library.TrainOptions(epochs=1, callback=callback, every_step=1)
        training = _library.Training()
        checked(call.train, self._open(), byref(options), byref(training))
        if raised:
            raise raised[0]
        return (found[0] if found else None), training

    # ---- Weights

    @property
    def weights(self) -> Weights:
        return Weights(self)

    def save_weights(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes a safetensors file."""
        checked(call.weights_save, self._open(), encoded(path))

    def load_weights(self, path: Union[str, os.PathLike[str]], *, map: Optional[str] = None,
                     layout: Optional[str] = None, match: Optional[str] = None, allow_missing: bool = False,
                     cast: bool = False) -> None:
        """Takes the weights of a safetensors or .npz file, as the options of `dtnn-run` say."""
        given = {name: None if value is None else encoded(value)
                 for name, value in (("map", map), ("layout", layout), ("match", match))}
        options = _library.LoadOptions(allow_missing=int(allow_missing), cast=int(cast), **given)
        checked(call.weights_load, self._open(), encoded(path), byref(options))


def compile(job: Job, *, set: Optional[Mapping[str, Any]] = None, spec_path: Any = (), device: Optional[str] = None,
            isa: Optional[str] = None, threads: int = 0, ranks: int = 0, memory_budget: int = 0,
            tuning: bool = True) -> Plan:
    """The plan of a job: a file or a name on the spec path, a text of YAML (of several lines), or a dictionary.
    `set` changes fields: {"training.epochs": 3}."""
    settings = [_library.setting(path, value) for path, value in (set or {}).items()]
    folders = [spec_path] if isinstance(spec_path, (str, os.PathLike)) else list(spec_path)
    options = _library.CompileOptions(
        settings=_library.texts(settings), settings_count=len(settings), spec_path=_library.texts(folders),
        spec_path_count=len(folders), device=None if device is None else encoded(device),
        isa=None if isa is None else encoded(isa), threads=threads, ranks=ranks, memory_budget=memory_budget,
        without_tuning=int(not tuning))
    handle = c_void_p()
    if isinstance(job, Mapping):
        text: Optional[str] = json.dumps({"kind": "job", **job}, default=_library.plain, indent=1)
    else:
        text = job if isinstance(job, builtins.str) and "\n" in job else None
    if text is None:
        checked(call.compile_file, encoded(job), byref(options), byref(handle))
    else:
        raw = text.encode()
        name = b"job" if isinstance(job, Mapping) else b"job.yaml"
        checked(call.compile_text, raw, len(raw), name, byref(options), byref(handle))
    return Plan(handle)


def read(path: Union[str, os.PathLike[str]]) -> Plan:
    """The plan of a file; of the folder of a run its plan, with its weights."""
    plan, weights = os.fspath(path), None
    if os.path.isdir(plan):
        weights = os.path.join(plan, "weights.safetensors")
        plan = os.path.join(plan, "plan.json")
    handle = c_void_p()
    checked(call.plan_read, encoded(plan), byref(handle))
    return Plan(handle, weights)


def parse(text: str) -> Plan:
    """The plan of the text of a plan's file."""
    raw, handle = text.encode(), c_void_p()
    checked(call.plan_parse, raw, len(raw), b"the plan", byref(handle))
    return Plan(handle)
