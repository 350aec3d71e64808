"""svengine.diff, svengine.convert and svengine.reduce: what the shell's commands of these names do, with results to look at."""
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _engine
from ._engine import Error
from .sources import inputs_of, on_disk


@dataclass(frozen=True)
class ModelDifference:
    """One thing that is different. `kind`: structure, weights, names, types, docs or metadata; `change`: added, removed, changed or renamed;
    `scope`: empty, or the body or function it is in; `subject`: node, input, output, weight, value, opset, function, model or graph; `name` as in
    the first model (in the second of what was added), `new_name` in the second; `op`: of a node its operator; `property`: what of the
    subject; `weight`: of elements that differ, how far and how many."""

    kind: str
    change: str
    scope: str
    subject: str
    name: str
    new_name: str
    op: str
    property: str
    before: str
    after: str
    weight: dict[str, Any] | None


@dataclass(frozen=True)
class DiffReport:
    """What diff() has found. `nodes` and `weights` count those of each model, `nodes_matched` the nodes that both have. True where the models are equal."""

    differences: list[ModelDifference]
    nodes: tuple[int, int]
    weights: tuple[int, int]
    nodes_matched: int

    @property
    def equal(self) -> bool:
        """There is no difference, or only what was to be ignored."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.equal


def diff(a: Any, b: Any, *, ignore: Sequence[str] = (), atol: float = 0.0) -> DiffReport:
    """What is different between two models: each a path, bytes or an onnx.ModelProto.

    Nodes are matched by what they compute, not by their names. `ignore`: of weights, names, types, docs, metadata what does not count; `atol`: how far
    apart elements of weights may be and still be equal.
    """
    made = _engine.diff(a, b, list(ignore), atol)
    made['differences'] = [ModelDifference(**difference) for difference in made['differences']]
    return DiffReport(**made)


@dataclass(frozen=True)
class VerifiedOutput:
    """An output of the converted model beside the original's. `over` counts elements over the tolerance of the type, `worst` is the largest
    error; `mismatch`: what type or shape differs."""

    name: str
    passed: bool
    over: int
    elements: int
    worst: float
    mismatch: str


@dataclass(frozen=True)
class ConvertReport:
    """What convert() has written. `simplified`: nodes and bytes of constants before and after; `saturated`: how many elements of which weights are
    now the largest number of their type; `problems`: what check() finds wrong with the new model by rules that the old one keeps; `outputs`: both models
    on the same inputs, None where they were not run. True where nothing is wrong."""

    opset: int
    simplified: dict[str, int] | None
    saturated: dict[str, int]
    problems: list[str]
    outputs: list[VerifiedOutput] | None

    @property
    def passed(self) -> bool:
        """The new model is as valid as the old one, and computes the same where that was looked at."""
        return not self.problems and all(output.passed for output in self.outputs or ())

    def __bool__(self) -> bool:
        return self.passed


def convert(
    model: Any,
    output: str | os.PathLike[str],
    inputs: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    verify: bool = True,
    opset: int | None = None,
    simplify: bool = False,
    growth: int = 1 << 20,
    type: str = '',
    keep_io: bool = False,
    keep_float32: Sequence[str] = (),
    from_: Sequence[str] = (),
    to: Sequence[str] = (),
    data: str = 'as_is',
    threads: int | None = None,
    kernels: str = '',
) -> ConvertReport:
    """Writes a model (path, bytes, onnx.ModelProto) in another opset or type, simplified, or a part of it, to the file `output`.

    Unless `verify` is false, `inputs`, those of the new model, or random ones are run through both, and the outputs compared. `growth` bounds the bytes that folding constants may
    add; `type` is float16, bfloat16 or double, for what is float32, but for the operators or nodes in `keep_float32` and, with `keep_io`, inputs and
    outputs; `from_` and `to` name the values between which the part lies; `data` is as_is, external (weights in OUTPUT.data) or embedded.
    """
    options = {'opset': opset, 'simplify': simplify, 'growth': growth, 'type': type, 'keep_io': keep_io, 'keep_float32': list(keep_float32),
               'from': list(from_), 'to': list(to), 'data': data, 'threads': threads, 'kernels': kernels,
               'verify': verify, 'inputs': None if inputs is None else inputs_of(inputs)}
    with on_disk(model) as path:
        made = _engine.convert(path, os.fspath(output), options)
    if made['outputs'] is not None:
        made['outputs'] = [VerifiedOutput(**verified) for verified in made['outputs']]
    return ConvertReport(**made)


@dataclass(frozen=True)
class ReduceReport:
    """What reduce() has left of a model, which lies at `path`. `complete`: it was not stopped before no node could go any more; `inputs_without_data`:
    inputs for which nothing was recorded; `exact`: what is left computes what that part of the whole model does, nothing of it was changed."""

    path: str
    nodes_before: int
    nodes_after: int
    complete: bool
    checks: int
    seconds: float
    operators: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs_without_data: tuple[str, ...]
    frozen_inputs: int
    dropped_attributes: int
    dropped_inputs: int
    dropped_outputs: int
    exact: bool
    inlined_bodies: int
    bypassed_nodes: int
    shrunk_sizes: int
    shrunk_weights: int
    zeroed_weights: int


def reduce(
    model: Any,
    output: str | os.PathLike[str] = 'reduced',
    inputs: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    against: Any = None,
    check: Callable[[str], Any] | str | None = None,
    rtol: float = 1e-3,
    atol: float | None = None,
    timeout: float = 0.0,
    max_seconds: float = 0.0,
    freeze: bool = False,
    exact: bool = False,
    on_progress: Callable[[str, int, int, float], Any] | None = None,
    threads: int | None = None,
    kernels: str = '',
) -> ReduceReport:
    """Cuts a model (path, bytes, onnx.ModelProto) down to the nodes that still have a fault, and writes it to the new folder `output`:
    reduced.onnx, and its inputs and outputs as test_data_set_0.

    The fault is that outputs differ from those of `against`, which is another model, a kernel set or 'no-optimize'; or what `check` tells: a function
    of a candidate's path that is true while the fault is there, or a command for the shell that exits with 0 then. Values that lose their
    nodes become inputs, with what they were in a run on `inputs`, or on random ones, as data. `timeout` is for one run of a command, `max_seconds`
    for all of it; `freeze` makes weights of inputs where the fault stays; `exact` only cuts, and changes no attribute, size or weight.
    `on_progress` is called with stage, nodes, checks and seconds.
    """
    if (against is None) == (check is None):
        raise TypeError('reduce() takes either against or check')
    folder = os.fspath(output)
    for there in ('reduced.onnx', 'test_data_set_0'):
        if os.path.exists(os.path.join(folder, there)):
            raise Error(f'{os.path.join(folder, there)} is there already: name another folder')
    options = {'inputs': None if inputs is None else inputs_of(inputs), 'check': check, 'rtol': rtol, 'atol': atol, 'timeout': timeout,
               'max_seconds': max_seconds, 'freeze': freeze, 'exact': exact, 'on_progress': on_progress, 'threads': threads, 'kernels': kernels}
    with on_disk(model) as path, on_disk('' if against is None else against) as other, \
            tempfile.TemporaryDirectory(prefix='svengine_reduce_') as scratch:
        for part in ('values', 'candidate'):
            os.mkdir(os.path.join(scratch, part))
        made = _engine.reduce(path, folder, scratch, {**options, 'against': other})
    return ReduceReport(path=os.path.join(folder, 'reduced.onnx'), **made)
