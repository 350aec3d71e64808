"""svengine.check and svengine.compare: what the shell's commands of these names do, with results to look at."""
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _engine
from .sources import inputs_of, on_disk


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a model, or odd about it. `level`: error, warning or note; `rule`: its name in VALIDATING.md; `where` is empty
    for the model as a whole; `nodes`: names of the nodes that it is about."""

    level: str
    rule: str
    where: str
    message: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class CheckReport:
    """What check() has found, errors first. `left_out`: findings beyond the first 200 of their rules."""

    findings: list[Finding]
    nodes: int
    tensors: int
    errors: int
    warnings: int
    notes: int
    left_out: int

    @property
    def passed(self) -> bool:
        """Nothing is an error."""
        return self.errors == 0

    def __bool__(self) -> bool:
        return self.passed


def check(model: Any, *, opset: int = 0, weights: bool = True, folder: str = '') -> CheckReport:
    """Everything that is wrong with a model: a path, bytes or an onnx.ModelProto. `opset`: also what ai.onnx has not in it, or in another form;
    `weights`: look at their values. Raises svengine.Error only where it is no model at all."""
    made = _engine.check(model, opset, weights, folder)
    made['findings'] = [Finding(**finding) for finding in made['findings']]
    return CheckReport(**made)


@dataclass(frozen=True)
class Difference:
    """How far a value lies from the reference's. Errors are absolute; `relative` is the worst beside the largest value. `over` counts elements
    over the bound; `nans` and `infinities` are pairs of the tested and the expected; `elements` are the worst ones, with index, got, expected and
    error; `histogram` counts errors by their size beside the largest value."""

    mismatch: str
    passed: bool
    count: int
    over: int
    worst: float
    mean: float
    relative: float
    nans: tuple[int, int]
    infinities: tuple[int, int]
    elements: list[dict[str, Any]]
    histogram: dict[str, int]


@dataclass(frozen=True)
class ComparedValue:
    """A value that both sides have. `node` makes it, a pair of name and operator; `fused` are all nodes of its step. `local` is the error of the step
    on the reference's inputs, None where the reference has not all of them; `accumulated` that of the whole run. `guilty`: more than
    precision explains."""

    value: str
    node: tuple[str, str]
    fused: tuple[tuple[str, str], ...]
    local: Difference | None
    accumulated: Difference
    problem: str
    guilty: bool


@dataclass(frozen=True)
class Guilt:
    """The first step whose error is not explained, looked at closely. `node`: by itself the first that is wrong, a pair of name and operator; None: no
    node of the step alone, but what fusing them made."""

    node: tuple[str, str] | None
    value: str
    difference: Difference
    problem: str
    between: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CompareReport:
    """What compare() has found: `values` in the order of the run, `outputs` by name (None: the reference has no such value), `first` the first
    guilty node. `guilty` counts steps, of `steps`. `whole`: the outputs of the network run as a Session runs it, where that was asked for."""

    passed: bool
    values: list[ComparedValue]
    outputs: dict[str, Difference | None]
    first: Guilt | None
    guilty: int
    steps: int
    without_reference: int
    whole: dict[str, Difference]

    def __bool__(self) -> bool:
        return self.passed


def _difference(made: dict[str, Any] | None) -> Difference | None:
    return None if made is None else Difference(**made)


def compare(
    model: Any,
    inputs: Mapping[str, Any] | Sequence[Any],
    against: Any = 'reference',
    *,
    html: str = '',
    rtol: float | None = None,
    atol: float | None = None,
    threads: int | None = None,
    kernels: str = '',
    optimize: bool = True,
    exact_convolution: bool = False,
    whole: bool = False,
) -> CompareReport:
    """Runs a model beside a reference, a step at a time, and says where it first computes something else.

    `against` is a kernel set, by default the one in double precision, or 'no-optimize', for the same model node by node; another model (path, bytes,
    onnx.ModelProto); a folder or .npz of recorded values; or a dict of arrays by the names of the model's values, as another program has
    computed them. `html` names a file to write a page to. `whole` runs the network as a Session does, too, and compares its outputs.
    """
    # References are opened by name.
    with contextlib.nullcontext(dict(against)) if isinstance(against, Mapping) else on_disk(against) as other:
        made = _engine.compare(model, inputs_of(inputs), other, 'svengine.compare' if html else '', rtol, atol, threads, kernels, optimize, exact_convolution, whole)
    page = made.pop('page')
    if html:
        with open(html, 'w', encoding='utf-8') as file:
            file.write(page)
    for value in made['values']:
        value.update(local=_difference(value['local']), accumulated=_difference(value['accumulated']))
    made['values'] = [ComparedValue(**value) for value in made['values']]
    made['whole'] = {output['name']: Difference(**output['whole']) for output in made['outputs'] if output['whole']}
    made['outputs'] = {output['name']: _difference(output['accumulated']) for output in made['outputs']}
    if made['first']:
        made['first'] = Guilt(**{**made['first'], 'difference': _difference(made['first']['difference'])})
    return CompareReport(**made)


@dataclass(frozen=True)
class NotFinite:
    """A node that makes NaN or infinity, a pair of name and operator. `value` is what it makes, `inputs` what it reads, each a dict of name, type,
    nans, infinities, and min and max of what is finite. `from_finite`: it begins here, for all of the inputs are finite."""

    node: tuple[str, str]
    value: dict[str, Any]
    inputs: list[dict[str, Any]]
    from_finite: bool


@dataclass(frozen=True)
class FiniteReport:
    """What find_not_finite() has found: how many values of real numbers there are and how many are not finite, the model's inputs that are not, and
    the first 20 nodes that make one, in the order of the run."""

    checked: int
    not_finite: int
    inputs: list[dict[str, Any]]
    first: list[NotFinite]

    def __bool__(self) -> bool:
        return self.not_finite == 0 and not self.inputs


def find_not_finite(model: Any, inputs: Mapping[str, Any] | Sequence[Any], *, threads: int | None = None, kernels: str = '') -> FiniteReport:
    """Runs a model node by node and says which first makes NaN or infinity. The report is true where none does."""
    made = _engine.find_not_finite(model, inputs_of(inputs), threads, kernels)
    made['first'] = [NotFinite(**found) for found in made['first']]
    return FiniteReport(**made)
