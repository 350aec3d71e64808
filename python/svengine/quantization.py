"""svengine.quantize and svengine.sensitivity: what the shell's commands of these names do, on samples that Python gives."""
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _engine
from .sources import inputs_of

Sample = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class OutputNoise:
    """What quantising does to an output, over all samples. `snr`: signal-to-noise ratio in dB, infinite where nothing changes; `relative`: the error's
    norm beside the output's; `largest`: absolute error of an element; `mismatch`: what type or shape differs."""

    output: str
    snr: float
    relative: float
    largest: float
    elements: int
    mismatch: str


def _noise(made: list[dict[str, Any]]) -> list[OutputNoise]:
    return [OutputNoise(**noise) for noise in made]


def _worst(outputs: list[OutputNoise]) -> float:
    return min((noise.snr for noise in outputs), default=float('inf'))


@dataclass(frozen=True)
class QuantizeReport:
    """What quantize() has written. `values` are written with 8 bits; `outputs` are those of both networks on the samples, none without samples."""

    quantized_nodes: int
    nodes_left: int
    values: int
    bytes_before: int
    bytes_after: int
    samples: int
    outputs: list[OutputNoise]

    @property
    def snr(self) -> float:
        """Of the worst output."""
        return _worst(self.outputs)


def _options(method: str, percentile: float, activations: str, per_tensor: bool, exclude: Sequence[str] | os.PathLike[str], only: Sequence[str],
             threads: int | None, kernels: str) -> dict[str, Any]:
    if isinstance(exclude, os.PathLike):
        with open(exclude, encoding='utf-8') as file:
            exclude = _engine.parse_exclusions(file.read())
    elif isinstance(exclude, str):
        raise TypeError('exclude is a list of nodes, or a path (pathlib.Path) of a file that lists them')
    return {'method': method, 'percentile': float(percentile), 'activations': activations, 'per_tensor': per_tensor, 'exclude': list(exclude),
            'only': list(only), 'threads': threads, 'kernels': kernels}


def quantize(
    model: Any,
    output: str | os.PathLike[str],
    samples: Iterable[Sample] = (),
    *,
    dynamic: bool = False,
    method: str = 'min-max',
    percentile: float = 99.999,
    activations: str = 'uint8',
    per_tensor: bool = False,
    exclude: Sequence[str] | os.PathLike[str] = (),
    only: Sequence[str] = (),
    threads: int | None = None,
    kernels: str = '',
) -> QuantizeReport:
    """Writes a network (path, bytes, onnx.ModelProto) with integers of 8 bits to the file `output`, and says what that costs.

    `samples` are inputs, each a dict by name or a list in order, on which ranges of values are measured (`method`: min-max, percentile or entropy)
    and both networks compared. `dynamic`: MatMul and Gemm alone, every run measures its ranges, and samples only serve to compare. `exclude` are
    nodes to leave out ('*' is any text), or the path of a file that sensitivity() has written; `only`: of Conv, ConvTranspose, MatMul,
    Gemm those to take.
    """
    options = _options(method, percentile, activations, per_tensor, exclude, only, threads, kernels)
    made = _engine.quantize(model, os.fspath(output), [inputs_of(sample) for sample in samples], {**options, 'dynamic': dynamic})
    made['outputs'] = _noise(made['outputs'])
    return QuantizeReport(**made)


@dataclass(frozen=True)
class NodeSensitivity:
    """What quantising one node alone does to each output; `snr` is that of the worst. `node` is what quantize() takes to leave it out."""

    node: str
    operator: str
    snr: float
    outputs: list[OutputNoise]


@dataclass(frozen=True)
class Exclusions:
    """Nodes to leave out, and the signal-to-noise ratio in dB that is left then, measured. `text` is the list as a file for quantize()."""

    nodes: tuple[str, ...]
    snr: float
    text: str


@dataclass(frozen=True)
class SensitivityReport:
    """What sensitivity() has measured: the nodes, the most sensitive first; all of them quantised together; and, if wanted, what to leave out."""

    nodes: list[NodeSensitivity]
    all_quantized: list[OutputNoise]
    exclusions: Exclusions | None

    @property
    def snr(self) -> float:
        """Of the worst output when all nodes are quantised."""
        return _worst(self.all_quantized)


def sensitivity(
    model: Any,
    samples: Iterable[Sample],
    *,
    keep_snr: float | None = None,
    write_exclusions: str | os.PathLike[str] = '',
    method: str = 'min-max',
    percentile: float = 99.999,
    activations: str = 'uint8',
    per_tensor: bool = False,
    exclude: Sequence[str] | os.PathLike[str] = (),
    only: Sequence[str] = (),
    threads: int | None = None,
    kernels: str = '',
) -> SensitivityReport:
    """Quantises every node of a network by itself and ranks them by what that does to the outputs, on samples as quantize() takes them.

    `keep_snr`: find the fewest nodes to leave out so that the outputs keep this ratio in dB; `write_exclusions` names a file for their list.
    """
    if write_exclusions and keep_snr is None:
        raise TypeError('write_exclusions goes with keep_snr')
    options = _options(method, percentile, activations, per_tensor, exclude, only, threads, kernels)
    wanted = None if keep_snr is None else float(keep_snr)
    made = _engine.sensitivity(model, [inputs_of(sample) for sample in samples], {**options, 'keep_snr': wanted})
    nodes = [NodeSensitivity(**{**node, 'outputs': _noise(node['outputs'])}) for node in made['nodes']]
    exclusions = Exclusions(**made['exclusions']) if made['exclusions'] else None
    if write_exclusions and exclusions:
        with open(write_exclusions, 'w', encoding='utf-8') as file:
            file.write(exclusions.text)
    return SensitivityReport(nodes, _noise(made['all_quantized']), exclusions)
