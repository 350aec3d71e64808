"""ONNX's backend interface (onnx.backend.base), for its own test runner, its scoreboard and what else speaks it.

    import svengine.backend
    outputs = svengine.backend.run_model(onnx.load('model.onnx'), [array])

Needs the package onnx. Models are checked by the engine, not by onnx.checker, which knows no more than they do.
"""
from collections.abc import Sequence
from typing import Any

import numpy
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import Error, Session

OPTIONS = ('threads', 'kernels', 'optimize', 'exact_convolution', 'topology', 'flush_denormals', 'cache', 'strict', 'folder', 'memory_limit',
           'time_limit', 'seed')


class SVEngineRep(BackendRep):
    """A model ready to run."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._outputs = namedtupledict('Outputs', [port.name for port in session.outputs])

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """Of arrays in the order of the model's inputs, or a dict of them by name, the outputs, by number or name. `kwargs` are for other
        backends."""
        if isinstance(inputs, dict):
            return self._outputs(*self.session.run(inputs).values())
        if not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        return self._outputs(*self.session.run(list(inputs)))


class SVEngineBackend(Backend):
    """Of kwargs those of svengine.Session count; others are for other backends."""

    @classmethod
    def is_compatible(cls, model: Any, device: str = 'CPU', **kwargs: Any) -> bool:
        """Whether the engine takes the model: by loading it."""
        if not cls.supports_device(device):
            return False
        try:
            cls.prepare(model, device, **kwargs)
        except Error:
            return False
        return True

    @classmethod
    def prepare(cls, model: Any, device: str = 'CPU', **kwargs: Any) -> SVEngineRep:
        """`model`: an onnx.ModelProto, its bytes, or a path."""
        if not cls.supports_device(device):
            raise Error(f'there is no device {device}: this engine runs on the processor, device CPU')
        options = {name: value for name, value in kwargs.items() if name in OPTIONS}
        return SVEngineRep(Session(model, **options))

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Any, device: str = 'CPU',
                 outputs_info: Sequence[tuple[Any, tuple[int, ...]]] | None = None, **kwargs: Any) -> Any:
        """One node, of the newest opset that the package onnx knows or `opset_version`. Inputs are arrays, or lists for sequences."""
        opset = kwargs.get('opset_version') or onnx.defs.onnx_opset_version()
        names = [name for name in node.input if name]
        graph = onnx.helper.make_graph(
            [node], 'node', [_value_info(name, value) for name, value in zip(names, inputs)],
            [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name])
        imports = [onnx.helper.make_opsetid(node.domain, 1 if node.domain else opset)]
        model = onnx.helper.make_model(graph, opset_imports=imports)
        return cls.run_model(model, list(inputs), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(':')[0] == 'CPU'


def _type_proto(value: Any) -> onnx.TypeProto:
    if isinstance(value, (list, tuple)):
        return onnx.helper.make_sequence_type_proto(_type_proto(value[0] if value else numpy.zeros(0, 'float32')))
    array = numpy.asarray(value)
    is_text = array.dtype.kind in 'OUS'
    element = onnx.TensorProto.STRING if is_text else onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_type_proto(element, array.shape)


def _value_info(name: str, value: Any) -> onnx.ValueInfoProto:
    return onnx.helper.make_value_info(name, _type_proto(value))


is_compatible = SVEngineBackend.is_compatible
prepare = SVEngineBackend.prepare
run_model = SVEngineBackend.run_model
run_node = SVEngineBackend.run_node
supports_device = SVEngineBackend.supports_device
