"""SVEngine: runs, trains and validates ONNX models on the processor's vector units. PYTHON.md of its sources describes it."""
from ._engine import Comparison, Error, Port, Session, __version__, compare_tensors, kernel_sets
from .training import TrainingResult, train

__all__ = ['Comparison', 'Error', 'Port', 'Session', 'TrainingResult', '__version__', 'compare_tensors', 'kernel_sets', 'train']
