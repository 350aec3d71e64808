"""The module beside other libraries: what it shows of itself, and another protobuf in the same process."""
import importlib.util
import os
import shutil
import subprocess
import sys
import unittest

import numpy as np

import svengine


class ModuleTest(unittest.TestCase):
    def test_only_the_start_of_the_module_is_exported(self):
        if not shutil.which('nm'):
            self.skipTest('nm is missing (package binutils)')
        path = importlib.util.find_spec('svengine._engine').origin
        done = subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True, text=True, check=True)
        self.assertEqual([line.split()[-1] for line in done.stdout.splitlines()], ['PyInit__engine'])

    def test_another_protobuf_in_the_same_process(self):
        code = ('{}\nm = models.add_constant()\ns = svengine.Session(m)\nonnx.checker.check_model(m)\n'
                'assert onnx.load_from_string(m.SerializeToString()) == m\n'
                'assert onnx.shape_inference.infer_shapes(m).graph.output\n'
                'try: svengine.Session(b"\\x0a\\xff")\nexcept svengine.Error: pass\n'
                'assert s.run([[[0, 0, 0]]])[0].tolist() == [[1, 2, 3]]')
        for order in ('import svengine, models, onnx', 'import onnx, google.protobuf, models, svengine'):
            subprocess.run([sys.executable, '-c', code.format(order)], check=True, timeout=120, cwd=os.path.dirname(os.path.abspath(__file__)))

    def test_every_name_has_its_type(self):
        """The stub names exactly what the module has."""
        import ast
        path = os.path.join(os.path.dirname(svengine.__file__), '_engine.pyi')
        with open(path, encoding='utf-8') as file:
            tree = ast.parse(file.read())
        from svengine import _engine
        hidden = {'Storage'}
        names = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))} | {
            n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
        has = {n for n in dir(_engine) if not n.startswith('_')} - hidden | {'__version__'}
        self.assertEqual(names, has)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name != 'Error':
                members = {m.name if isinstance(m, ast.FunctionDef) else m.target.id for m in node.body if isinstance(m, (ast.FunctionDef, ast.AnnAssign))}
                real = {n for n in vars(getattr(_engine, node.name)) if not n.startswith('_')}
                self.assertEqual({m for m in members if not m.startswith('_')}, real, node.name)

    def test_every_function_has_its_parameters(self):
        """The stub has the names, the order and the defaults of the module."""
        import ast
        from svengine import _engine
        with open(os.path.join(os.path.dirname(svengine.__file__), '_engine.pyi'), encoding='utf-8') as file:
            tree = ast.parse(file.read())

        def parameters(function):
            a = function.args
            defaults = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults) + list(a.kw_defaults)
            return [(p.arg, default and ast.literal_eval(default)) for p, default in zip(a.args + a.kwonlyargs, defaults)], len(a.kwonlyargs)

        def said(function):
            (text, *_, values), = function.__nb_signature__
            for i in reversed(range(len(values or ()))):
                text = text.replace(f'\\{i}', repr(values[i]))
            return parameters(ast.parse(text + ': ...').body[0])

        checked = 0
        for scope, owner in [(tree, _engine)] + [(n, getattr(_engine, n.name)) for n in tree.body if isinstance(n, ast.ClassDef)]:
            for function in scope.body:
                if isinstance(function, ast.FunctionDef) and hasattr(getattr(owner, function.name), '__nb_signature__'):
                    self.assertEqual(parameters(function), said(getattr(owner, function.name)), function.name)
                    checked += 1
        self.assertGreater(checked, 12)


class CompareTensorsTest(unittest.TestCase):
    def test_what_differs_is_found(self):
        a = np.arange(6, dtype=np.float32).reshape(2, 3)
        b = a.copy()
        b[1, 2] += 1
        same, other = svengine.compare_tensors(a, a), svengine.compare_tensors(b, a, rtol=1e-3, atol=0)
        self.assertTrue(same and same.passed and same.over == 0 and same.worst_abs_index is None)
        self.assertFalse(other)
        self.assertEqual((other.count, other.over, other.worst_abs, other.worst_abs_index, other.atol), (6, 1, 1, (1, 2), 0))
        self.assertAlmostEqual(other.worst_rel, 0.2, places=6)
        self.assertIn('1 of 6 over the tolerance', repr(other))
        self.assertTrue(svengine.compare_tensors(b, a, rtol=0, atol=1.5))
        self.assertIn('float64', svengine.compare_tensors(a.astype('f8'), a).mismatch)
        self.assertFalse(svengine.compare_tensors(a.T, a))


if __name__ == '__main__':
    unittest.main()
