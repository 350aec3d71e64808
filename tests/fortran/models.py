"""The networks of the Fortran tests and of the documents: models.py FOLDER. Weights are eighths, which a Fortran function gives, too."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cli'))
from onnx_writer import DOUBLE, FLOAT, INT32, INT64, int_attribute, model, node, tensor, value_info  # noqa: E402

TYPES = {'float32': FLOAT, 'float64': DOUBLE, 'int32': INT32, 'int64': INT64}


def weight(matrix, i, j):
    """Fortran counts i and j from 1."""
    return ((matrix * 7 + (i + 1) * 5 + (j + 1) * 3) % 11 - 5) / 8


def matrix(number, rows, columns):
    return [weight(number, i, j) for i in range(rows) for j in range(columns)]


def reversal(rank, dtype):
    """y = x with its dimensions in the opposite order."""
    names = ['n%d' % i for i in range(rank)]
    return model([node('Transpose', ['x'], ['y'])], [value_info('x', names, dtype)], [value_info('y', names[::-1], dtype)])


def mlp(dtype):
    """y[N, 2] = tanh(x[N, 3] w1 + b1) w2."""
    nodes = [node('Gemm', ['x', 'w1', 'b1'], ['a']), node('Tanh', ['a'], ['h']), node('MatMul', ['h', 'w2'], ['y'])]
    weights = [tensor('w1', [3, 4], matrix(1, 3, 4), dtype), tensor('b1', [4], matrix(2, 1, 4), dtype), tensor('w2', [4, 2], matrix(3, 4, 2), dtype)]
    return model(nodes, [value_info('x', ['N', 3], dtype)], [value_info('y', ['N', 2], dtype)], weights)


def energy():
    """The sum of (x[N, 3] * x) w, of rank 0, and x + 1: a potential with two outputs."""
    nodes = [node('Mul', ['x', 'x'], ['s']), node('MatMul', ['s', 'w'], ['e']),
             node('ReduceSum', ['e'], ['energy'], '', int_attribute('keepdims', 0)), node('Add', ['x', 'one'], ['more'])]
    weights = [tensor('w', [3, 1], matrix(4, 3, 1), DOUBLE), tensor('one', [1], [1], DOUBLE)]
    return model(nodes, [value_info('x', ['N', 3], DOUBLE)], [value_info('energy', [], DOUBLE), value_info('more', ['N', 3], DOUBLE)], weights)


def drag():
    """What the documents call: y[N, 126] = tanh(x[N, 191] w)."""
    return model([node('MatMul', ['x', 'w'], ['a']), node('Tanh', ['a'], ['y'])], [value_info('x', ['N', 191], DOUBLE)],
                 [value_info('y', ['N', 126], DOUBLE)], [tensor('w', [191, 126], matrix(1, 191, 126), DOUBLE)])


def potential():
    """The documents' energy[] = the sum of x[N, 3] * x."""
    return model([node('Mul', ['x', 'x'], ['s']), node('ReduceSum', ['s'], ['energy'], '', int_attribute('keepdims', 0))],
                 [value_info('x', ['N', 3], DOUBLE)], [value_info('energy', [], DOUBLE)])


def noise():
    """y[N] = x[N] + numbers that the node draws without a seed of its own."""
    return model([node('RandomNormalLike', ['x'], ['r']), node('Add', ['x', 'r'], ['y'])], [value_info('x', ['N'], DOUBLE)], [value_info('y', ['N'], DOUBLE)])


def look_up():
    """z[N, 2] = table[ids] + b: inputs of two types, of which one has no gradient."""
    nodes = [node('Gather', ['table', 'ids'], ['t']), node('Add', ['t', 'b'], ['z'])]
    return model(nodes, [value_info('ids', ['N'], INT64), value_info('b', ['N', 2])], [value_info('z', ['N', 2])], [tensor('table', [4, 2], range(8))])


def linear():
    """y[N, 1] = x[N, 2] w + b, all of them 0: to be trained."""
    return model([node('Gemm', ['x', 'w', 'b'], ['y'])], [value_info('x', ['N', 2])], [value_info('y', ['N', 1])],
                 [tensor('w', [2, 1], [0, 0]), tensor('b', [1], [0])])


def main():
    files = {'mlp32': mlp(FLOAT), 'mlp64': mlp(DOUBLE), 'energy': energy(), 'look_up': look_up(), 'linear': linear(), 'drag': drag(),
             'potential': potential(), 'noise': noise()}
    for name, dtype in TYPES.items():
        files.update({'reverse_%s_%d' % (name, rank): reversal(rank, dtype) for rank in range(1, 8)})
    for name, data in files.items():
        with open(os.path.join(sys.argv[1], name + '.onnx'), 'wb') as file:
            file.write(data)
    with open(os.path.join(sys.argv[1], 'damaged.onnx'), 'wb') as file:
        file.write(files['mlp32'][:100])
    with open(os.path.join(sys.argv[1], 'unknown.onnx'), 'wb') as file:
        file.write(model([node('NoSuchOperator', ['x'], ['y'])], [value_info('x', ['N', 2])], [value_info('y', ['N', 2])]))


if __name__ == '__main__':
    main()
