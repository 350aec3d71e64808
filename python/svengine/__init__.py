"""SVEngine: runs, trains and validates ONNX models on the processor's vector units. PYTHON.md of its sources describes it."""
from ._engine import Comparison, Error, Port, Session, __version__, check_rules, compare_tensors, kernel_sets
from .training import TrainingResult, train
from .validation import CheckReport, CompareReport, ComparedValue, Difference, Finding, FiniteReport, Guilt, NotFinite, check, compare, find_not_finite

__all__ = [
    'CheckReport', 'CompareReport', 'ComparedValue', 'Comparison', 'Difference', 'Error', 'Finding', 'FiniteReport', 'Guilt', 'NotFinite', 'Port', 'Session',
    'TrainingResult', '__version__', 'check', 'check_rules', 'compare', 'compare_tensors', 'find_not_finite', 'kernel_sets', 'train',
]
