"""SVEngine: runs, trains and validates ONNX models on the processor's vector units. PYTHON.md of its sources describes it."""
from ._engine import (Comparison, Error, Port, Session, UnimplementedError, __version__, check_rules, compare_tensors, kernel_sets, load_plugin,
                      random_inputs)
from .conversion import ConvertReport, DiffReport, ModelDifference, ReduceReport, VerifiedOutput, convert, diff, reduce
from .quantization import Exclusions, NodeSensitivity, OutputNoise, QuantizeReport, SensitivityReport, quantize, sensitivity
from .training import TrainingResult, train
from .validation import CheckReport, CompareReport, ComparedValue, Difference, Finding, FiniteReport, Guilt, NotFinite, check, compare, find_not_finite

__all__ = [
    'CheckReport', 'CompareReport', 'ComparedValue', 'Comparison', 'ConvertReport', 'DiffReport', 'Difference', 'Error', 'Exclusions', 'Finding',
    'FiniteReport', 'Guilt', 'ModelDifference', 'NodeSensitivity', 'NotFinite', 'OutputNoise', 'Port', 'QuantizeReport', 'ReduceReport',
    'SensitivityReport', 'Session', 'TrainingResult', 'UnimplementedError', 'VerifiedOutput', '__version__', 'check', 'check_rules', 'compare',
    'compare_tensors', 'convert', 'diff', 'find_not_finite', 'kernel_sets', 'load_plugin', 'quantize', 'random_inputs', 'reduce', 'sensitivity', 'train',
]
