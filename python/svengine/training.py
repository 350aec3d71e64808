"""svengine.train: the training run of the shell's `svengine train`, on arrays or on the same data sets."""
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from . import _engine


@dataclass(frozen=True)
class TrainingResult:
    """How a run went. `epochs` has a dict an epoch: epoch, loss, rate, samples_per_second; accuracy of losses on labels; held_out_loss and
    held_out_accuracy where data were held out."""

    epochs: list[dict[str, float]]
    steps: int
    parameters: int
    finished: bool
    stopped_by: str
    notes: list[str]


def train(
    model: Any,
    data: Mapping[str, Any] | str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    held_out: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    fields: Mapping[str, str] | None = None,
    loss: str = 'cross_entropy',
    loss_of: str = '',
    optimizer: str = 'sgd',
    lr: float = 0.1,
    schedule: str = 'constant',
    epochs: int = 1,
    batch: int = 32,
    shuffle: bool = True,
    drop_last: bool = False,
    seed: int = 1,
    initialise: bool = False,
    freeze: Sequence[str] = (),
    accumulate: int = 1,
    clip_norm: float = 0.0,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    class_axis: int | None = None,
    class_weights: Sequence[float] = (),
    mean: Sequence[float] = (),
    std: Sequence[float] = (),
    detect_anomaly: bool = False,
    checkpoint: str | os.PathLike[str] = '',
    keep: int = 3,
    save_every: int = 0,
    resume: bool = False,
    log_dir: str | os.PathLike[str] = '',
    max_seconds: float = 0.0,
    on_epoch: Callable[[dict[str, float]], Any] | None = None,
    threads: int | None = None,
    kernels: str = '',
    topology: str = '',
) -> TrainingResult:
    """Trains the constants of a model, and writes it with them to `output`.

    `data` are arrays by the names of the model's inputs, and 'target', with which its first output (or `loss_of`) is compared; row i of
    each is sample i. Or a path, as `svengine train --data` takes it; `fields` then says which field is which input: {'x': 'image', 'target':
    'label'}. The other options are the shell's (`svengine train --help`), and the same options compute the same bits there. `on_epoch` is
    called after every epoch and ends the run where it returns something true. Ctrl-C, too, ends it after a checkpoint, if there is a
    folder for them.
    """
    options = {name: value for name, value in locals().items() if name not in ('model', 'data', 'output')}
    options['held_out'] = dict(held_out) if isinstance(held_out, Mapping) else held_out
    options['fields'] = list((fields or {}).items())
    for name in ('freeze', 'class_weights', 'mean', 'std'):
        options[name] = list(options[name])
    for name in ('checkpoint', 'log_dir'):
        options[name] = os.fspath(options[name])
    made = _engine.train(model, dict(data) if isinstance(data, Mapping) else data, os.fspath(output or ''), options)
    return TrainingResult(**made)
