"""dtnn: trains neural networks by execution plans, in this process.

    import dtnn
    plan = dtnn.compile("digits_simplecnn", set={"training.epochs": 3})
    for epoch in plan.train():
        print(epoch.epoch, epoch.loss)
    answers = plan.predict(images)          # [samples, channels, height, width]

docs/library.md has more."""

from typing import TYPE_CHECKING, Any, Optional

from ._library import (BudgetError, Diagnostic, DivergedError, DtnnError, DtnnWarning, InternalError, MismatchError,
                       SpecError, UsageError, call)
from ._plan import Difference, Epoch, History, Input, Memory, Output, Plan, Text, Weights, compile, parse, read

if TYPE_CHECKING:  # type checkers see what __getattr__ imports
    from ._estimator import DtnnClassifier

__version__: str = call.version().decode()


def specs() -> Optional[str]:
    """The folder of the specs that are shipped."""
    folder = call.specs()
    return None if folder is None else folder.decode()


__all__ = ["BudgetError", "Diagnostic", "Difference", "DivergedError", "DtnnClassifier", "DtnnError", "DtnnWarning",
           "Epoch", "History", "Input", "InternalError", "Memory", "MismatchError", "Output", "Plan", "SpecError",
           "Text", "UsageError", "Weights", "compile", "parse", "read", "specs"]


def __getattr__(name: str) -> Any:
    if name == "DtnnClassifier":  # scikit-learn is imported where it is used, and need not be there
        from ._estimator import DtnnClassifier

        return DtnnClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
