"""What the functions of the package are given: models that need a path for a while, inputs, paths."""
import contextlib
import os
import tempfile
from typing import Any, Iterator, Mapping


@contextlib.contextmanager
def on_disk(model: Any) -> Iterator[str]:
    """The path of a model; of one from memory that of a file which is there for a while."""
    if isinstance(model, (str, os.PathLike)):
        yield os.fspath(model)
        return
    data = model.SerializeToString() if hasattr(model, 'SerializeToString') else bytes(memoryview(model))
    with tempfile.NamedTemporaryFile(prefix='svengine_model_', suffix='.onnx') as file:
        file.write(data)
        file.flush()
        yield file.name


def inputs_of(given: Any) -> Any:
    """A dict by name or a list in order, as the engine takes them."""
    return dict(given) if isinstance(given, Mapping) else list(given)
