"""What goes into a run and comes out: every element type and layout, DLPack, strings, sequences, optionals, maps."""
import resource
import subprocess
import sys
import tempfile
import unittest

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import models
import svengine

TYPES = [np.dtype(name) for name in ('float32 float64 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool'.split())] + [
    np.dtype(getattr(ml_dtypes, name)) for name in ('bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu '
                                                    'float4_e2m1fn int4 uint4 int2 uint2'.split())]


class OnlyDlpack:
    """What another library's array looks like."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def identity(element, shape=None):
    return svengine.Session(models.unary('Identity', element, shape, opset=25), threads=1)


class TypeTest(unittest.TestCase):
    def test_every_element_type_goes_in_and_out(self):
        for dtype in TYPES:
            with self.subTest(dtype=dtype):
                session = identity(helper.np_dtype_to_tensor_dtype(dtype))
                x = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
                y, = session.run([x])
                self.assertEqual((y.dtype, y.shape), (dtype, (2, 3)))
                np.testing.assert_array_equal(y.astype(np.float64), x.astype(np.float64))
                np.testing.assert_array_equal(session.run([x.T])[0].astype(np.float64), x.T.astype(np.float64))

    def test_bits_outside_narrow_elements_do_not_count(self):
        for dtype, expected in ((ml_dtypes.int4, [-1, 7]), (ml_dtypes.uint4, [15, 7]), (ml_dtypes.int2, [-1, -1]), (ml_dtypes.uint2, [3, 3])):
            session = svengine.Session(models.model(
                [helper.make_node('Cast', ['x'], ['y'], to=TensorProto.INT32)], [('x', helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), [2])],
                [('y', TensorProto.INT32, [2])], opset=25))
            self.assertEqual(session.run([np.array([0x7f, 0x77], np.uint8).view(dtype)])[0].tolist(), expected, dtype)

    def test_numbers_and_lists_take_the_inputs_type(self):
        self.assertEqual(identity(TensorProto.FLOAT).run([[[1, 2.5]]])[0].tolist(), [[1, 2.5]])
        self.assertEqual(identity(TensorProto.BFLOAT16).run([[1.5, 2]])[0].dtype, ml_dtypes.bfloat16)
        self.assertEqual(identity(TensorProto.INT64).run([7])[0].shape, ())
        self.assertEqual(identity(TensorProto.DOUBLE).run([np.float64(2)])[0].tolist(), 2)
        with self.assertRaises(TypeError):  # a real is no integer by itself
            identity(TensorProto.INT64).run([[1.5]])

    def test_without_ml_dtypes_its_types_are_an_error_that_names_it(self):
        with tempfile.NamedTemporaryFile(suffix='.onnx') as file:
            file.write(models.unary('Identity', TensorProto.BFLOAT16, [2]).SerializeToString())
            file.flush()
            code = ('import sys; sys.modules["ml_dtypes"] = None\nimport numpy, svengine\n'
                    f's = svengine.Session({file.name!r})\n'
                    'for x in ([1, 2], numpy.zeros(2, "uint16")):\n'
                    '    try: s.run([x])\n    except svengine.Error as e: print(e)')
            done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
        self.assertIn('ml_dtypes', done.stdout.splitlines()[0])
        self.assertRegex(done.stdout.splitlines()[1], 'needs bfloat16.*got uint16')


class LayoutTest(unittest.TestCase):
    def test_any_strides(self):
        x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
        session = identity(TensorProto.FLOAT)
        big = x.astype('>f4')
        frozen = x.copy()
        frozen.flags.writeable = False
        for given in (x, x.transpose(0, 2, 3, 1), x[:, ::-1], x[..., ::2], x[1:, :0], x[1, 2, 3, 4, None], np.broadcast_to(x[0, 0, 0, 0], (2, 2)),
                      np.asfortranarray(x), big, big.T, frozen, x[:, 1:2], np.float32(3), np.array(3, np.float32)):
            np.testing.assert_array_equal(session.run([given])[0], given)
            if given.dtype.isnative and given.flags.writeable:
                np.testing.assert_array_equal(session.run([OnlyDlpack(given)])[0], given)

    def test_memory_that_is_not_aligned(self):
        memory = np.zeros(4 * 6 + 1, np.uint8)
        x = memory[1:].view(np.float32)
        x[:] = range(6)
        self.assertEqual(identity(TensorProto.FLOAT).run([x])[0].tolist(), [0, 1, 2, 3, 4, 5])

    def test_contiguous_inputs_are_not_copied(self):
        """Memory that was never touched takes none; a copy of it would."""
        session = svengine.Session(models.model(
            [helper.make_node('Slice', ['x', 'a', 'b'], ['y'])], [('x', TensorProto.FLOAT, [64, 1 << 20])], [('y', TensorProto.FLOAT, [64, 2])],
            [helper.make_tensor(n, TensorProto.INT64, [2], v) for n, v in (('a', [0, 0]), ('b', [64, 2]))]))

        def grown(x):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            self.assertEqual(session.run([x])[0].shape, (64, 2))
            return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024

        session.run([np.zeros((64, 1 << 20), np.float32)])
        x = np.zeros((64, 1 << 20), np.float32)
        self.assertLess(grown(x), 32)
        self.assertLess(grown(OnlyDlpack(x)), 32)
        self.assertGreater(grown(np.zeros((64, 1 << 21), np.float32)[:, ::2]), 200)  # packed once

    def test_dlpack(self):
        for dtype in 'float32 float64 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool'.split():
            x = np.ones((2, 3), dtype)
            y, = identity(helper.np_dtype_to_tensor_dtype(x.dtype)).run([OnlyDlpack(x)])
            self.assertEqual((y.dtype, y.tolist()), (x.dtype, x.tolist()))
        with self.assertRaisesRegex(svengine.Error, 'DLPack'):
            identity(TensorProto.FLOAT).run([OnlyDlpack(np.ones(2, np.complex64))])
        y = identity(TensorProto.FLOAT).run([np.ones(3, np.float32)])[0]
        self.assertEqual(np.from_dlpack(y).tolist(), [1, 1, 1])  # and outputs can be lent


    def test_arrays_that_are_not_there(self):
        """On another device, a capsule of nothing, an exception: each an error, and the session goes on."""
        class Elsewhere(OnlyDlpack):
            def __dlpack_device__(self):
                return 2, 0  # CUDA

            def __dlpack__(self, **options):
                raise BufferError('on another device')

        class Nothing(OnlyDlpack):
            def __dlpack__(self, **options):
                return None

        session = identity(TensorProto.FLOAT)
        for array in (Elsewhere(np.ones(3, np.float32)), Nothing(np.ones(3, np.float32)), object(), lambda: 1):
            with self.assertRaises((svengine.Error, TypeError, BufferError)):
                session.run([array])
        self.assertEqual(session.run([np.ones(3, np.float32)])[0].tolist(), [1, 1, 1])

    def test_memory_that_overlaps(self):
        once = np.float32([1, 2, 3, 4])
        self.assertEqual(identity(TensorProto.FLOAT).run([np.broadcast_to(once, (2, 4))])[0].tolist(), [[1, 2, 3, 4]] * 2)
        windows = np.lib.stride_tricks.sliding_window_view(once, 2)
        self.assertEqual(identity(TensorProto.FLOAT).run([windows])[0].tolist(), [[1, 2], [2, 3], [3, 4]])
        both = svengine.Session(models.model([helper.make_node('Add', ['x', 'y'], ['z'])], [('x', TensorProto.FLOAT, [3]), ('y', TensorProto.FLOAT, [3])],
                                             [('z', TensorProto.FLOAT, [3])]), threads=1)
        self.assertEqual(both.run([once[:3], once[1:]])[0].tolist(), [3, 5, 7])
        self.assertEqual(both.run([once[:3], once[2::-1]])[0].tolist(), [4, 4, 4])
        self.assertEqual(identity(TensorProto.FLOAT).run([np.zeros((0, 7), np.float32)])[0].shape, (0, 7))

    def test_lent_memory_is_given_back_once(self):
        import ctypes
        released = []

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        def deleter(managed):
            released.append(managed)

        class DLTensor(ctypes.Structure):
            _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                        ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16), ('shape', ctypes.POINTER(ctypes.c_int64)),
                        ('strides', ctypes.POINTER(ctypes.c_int64)), ('byte_offset', ctypes.c_uint64)]

        class Managed(ctypes.Structure):
            _fields_ = [('tensor', DLTensor), ('manager_ctx', ctypes.c_void_p), ('deleter', type(deleter))]

        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        data, shape = np.float32([5, 6]), (ctypes.c_int64 * 1)(2)
        managed = Managed(DLTensor(data.ctypes.data, 1, 0, 1, 2, 32, 1, shape, None, 0), None, deleter)

        class Lender:
            def __dlpack__(self, **options):
                return capsule(ctypes.addressof(managed), b'dltensor', None)

            def __dlpack_device__(self):
                return 1, 0

        self.assertEqual(identity(TensorProto.FLOAT).run([Lender()])[0].tolist(), [5, 6])
        self.assertEqual(released, [ctypes.addressof(managed)])
        with self.assertRaises(svengine.Error):
            identity(TensorProto.FLOAT, [3]).run([Lender()])
        self.assertEqual(len(released), 2)


class OtherValueTest(unittest.TestCase):
    def test_strings(self):
        session = identity(TensorProto.STRING)
        for given in (np.array([['a', 'ü'], ['', 'x y']]), [['a', 'ü'], ['', 'x y']], np.array([['a', 'ü'], ['', 'x y']], object)):
            y, = session.run([given])
            self.assertEqual((y.dtype, y.tolist()), (np.dtype(object), [['a', 'ü'], ['', 'x y']]))
        self.assertEqual(session.run([np.array([b'\xff', b'a'])])[0].tolist(), ['\udcff', 'a'])  # what is not UTF-8 survives
        self.assertEqual(session.run([['\udcff']])[0].tolist(), ['\udcff'])
        self.assertEqual(session.run(['text'])[0].tolist(), 'text')
        self.assertEqual(session.run([np.zeros((0, 2), object)])[0].shape, (0, 2))
        with self.assertRaisesRegex(svengine.Error, 'holds a int where strings'):
            session.run([[1]])

    def value(self, name, type_proto):
        return helper.make_value_info(name, type_proto)

    def test_sequences_are_lists(self):
        kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
        session = svengine.Session(models.model(
            [helper.make_node('SequenceInsert', ['s', 't'], ['y'])], [self.value('s', kind), ('t', TensorProto.FLOAT, None)], [self.value('y', kind)]))
        self.assertEqual([p.dtype for p in session.inputs], ['sequence(float32)', 'float32'])
        y, = session.run([[np.zeros(2, np.float32), [[1.5]]], 3])
        self.assertEqual([a.tolist() for a in y], [[0, 0], [[1.5]], 3])
        y[0][:] = 1
        self.assertEqual(len(session.run([[], 1])[0]), 1)
        with self.assertRaisesRegex(svengine.Error, "input 's': is a ndarray; a sequence is a list"):
            session.run([np.zeros(2, np.float32), 3])
        with self.assertRaisesRegex(svengine.Error, r"input 's'\[1\]: is None"):
            session.run([[1, None], 3])

    def test_optionals_are_none_or_what_they_hold(self):
        kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [2]))
        session = svengine.Session(models.model(
            [helper.make_node('OptionalHasElement', ['x'], ['y']), helper.make_node('Identity', ['x'], ['z'])], [self.value('x', kind)],
            [('y', TensorProto.BOOL, []), self.value('z', kind)]))
        has, back = session.run([np.float32([1, 2])])
        self.assertEqual((has.tolist(), back.tolist()), (True, [1, 2]))
        for nothing in ([None], {}):
            results = session.run(nothing)
            has, back = results.values() if isinstance(results, dict) else results
            self.assertEqual((has.tolist(), back), (False, None))

    def test_maps_are_dicts(self):
        kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
        session = svengine.Session(models.model(
            [helper.make_node('DictVectorizer', ['x'], ['y'], domain='ai.onnx.ml', string_vocabulary=['b', 'a'])],
            [self.value('x', kind)], [('y', TensorProto.FLOAT, None)], domains=['ai.onnx.ml']))
        self.assertEqual(session.inputs[0].dtype, 'map(string, float32)')
        self.assertEqual(session.run([{'a': 1.5, 'c': 3}])[0].ravel().tolist(), [0, 1.5])
        with self.assertRaisesRegex(svengine.Error, 'a map is a dict'):
            session.run([[1]])
        scores = svengine.Session(models.model(
            [helper.make_node('ZipMap', ['x'], ['y'], domain='ai.onnx.ml', classlabels_int64s=[7, 9])], [('x', TensorProto.FLOAT, [1, 2])],
            [self.value('y', helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, None))))],
            domains=['ai.onnx.ml']))
        self.assertEqual(scores.run([[[0.25, 0.75]]]), [[{7: 0.25, 9: 0.75}]])

    def test_every_row_has_a_map_of_python_values(self):
        kind = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None)))
        nodes = [helper.make_node('ZipMap', [x], [y], domain='ai.onnx.ml', classlabels_strings=names) for x, y, names in (('x', 'y', ['a', 'é']), ('x', 'z', ['b', 'c']))]
        session = svengine.Session(models.model(nodes, [('x', TensorProto.FLOAT, [None, 2])], [self.value('y', kind), self.value('z', kind)], domains=['ai.onnx.ml']))
        results = session.run([np.array([[1, 2], [3, 4]], np.float32)])
        first, second = results.values() if isinstance(results, dict) else results
        self.assertEqual(first, [{'a': 1, 'é': 2}, {'a': 3, 'é': 4}])
        self.assertEqual(second, [{'b': 1, 'c': 2}, {'b': 3, 'c': 4}])
        self.assertEqual({type(v) for row in first for v in row.values()}, {float})


if __name__ == '__main__':
    unittest.main()
