"""Random nodes of ai.onnx.ml's operators, for against_runtime.py; none of CastMap, DictVectorizer and ZipMap, which take or give maps."""
import numpy as np
from onnx import numpy_helper

from random_language import makers, normal
from random_nodes import F32, F64, I32, I64, Case

ML = "ai.onnx.ml"
FEATURES = (F32, F32, F64, I32, I64)
WORDS = ["a", "b", "cc", "", "d e", "\u00e9"]
TRANSFORMS = (None, "NONE", "SOFTMAX", "SOFTMAX_ZERO", "LOGISTIC", "PROBIT")


def ml(op, inputs, attributes, outputs=1, opset=1):
    case = Case(op, inputs, attributes, outputs, opset, domain=ML)
    if attributes.get("post_transform") in ("PROBIT", 4):  # near 0 ONNX Runtime's float32 has lost half of its digits
        case.is_defined = lambda outputs: not np.any(np.abs(outputs[-1]) < 0.1)
    return case


def numbers(g, dims, dtype, nan=0.15):
    """Small halves, whose comparisons meet; or any; sometimes not a number."""
    x = g.values(dims, dtype) if np.issubdtype(dtype, np.integer) or g.chance() else normal(g, dims, dtype)
    if not np.issubdtype(dtype, np.integer) and g.chance(nan):
        x = np.where(g.r.random(dims) < 0.2, np.nan, x).astype(dtype)
    return x


def rows(g, types=FEATURES, nan=0.15, flat=0.15, many=0.0):
    features = g.pick(g.int(1, 7), g.int(1, 7), g.int(1, 40))
    dims = [features] if g.chance(flat) else [g.pick(1, 1, 2, 3, g.int(4, 40), 0 if g.chance(0.2) else 2), features]
    if g.chance(many):
        dims = [g.int(1000, 1100), features]
    return numbers(g, dims, g.pick(*types), nan)


def floats(g, n):
    return [float(v) for v in (normal(g, [n]) if g.chance(0.6) else g.values([n]))]


def classes(g, n, ints="classlabels_ints"):
    """Labels of n classes, of either kind."""
    if n > 1 and g.chance():  # ONNX Runtime aborts at trees for one string
        return {"classlabels_strings": WORDS[:n]}
    return {ints: g.pick(list(range(n)), [int(i) for i in g.r.permutation(20)[:n] - 5])}


def array(values, dtype, dims=(-1,)):
    return np.array(values, object if dtype == str else dtype).reshape(dims)


def texts(g, dims, words=WORDS):
    return np.array([words[i] for i in g.r.integers(0, len(words), int(np.prod(dims, dtype=int)))], object).reshape(dims)


@makers(ML, "ArrayFeatureExtractor")
def extractor(g, op):
    dims, of = g.dims(1, 3), g.pick(F32, F64, I32, I64, str)
    n = g.int(1, 4)
    index = g.r.integers(0, max(dims[-1], 1), g.pick([n], [1, n], [n, 1], [2, n], [])).astype(I64)
    return ml(op, [texts(g, dims) if of == str else numbers(g, dims, of), index], {})


@makers(ML, "Binarizer")
def binarizer(g, op):
    return ml(op, [numbers(g, g.dims(0, 3), F32)], {"threshold": g.pick(None, 0.5, -1.0, float("nan"))})


@makers(ML, "Scaler")
def scaler(g, op):
    x = rows(g)
    n = g.pick(1, x.shape[-1], x.shape[-1])
    return ml(op, [x], {"scale": floats(g, n), "offset": floats(g, n)})


@makers(ML, "Imputer")
def imputer(g, op):
    x = rows(g, (F32, F32, I64), 0.6)
    n = g.pick(1, x.shape[-1])
    if np.issubdtype(x.dtype, np.integer):
        return ml(op, [x], {"imputed_value_int64s": [int(v) for v in g.r.integers(-99, 99, n)], "replaced_value_int64": g.pick(None, 3, -2)})
    return ml(op, [x], {"imputed_value_floats": floats(g, n), "replaced_value_float": g.pick(None, 0.5, float("nan"), float("nan"))})


@makers(ML, "Normalizer")
def normalizer(g, op):
    x = rows(g)
    return ml(op, [x * 0 if g.chance(0.1) else x], {"norm": g.pick(None, "MAX", "L1", "L2")})


@makers(ML, "FeatureVectorizer")
def feature_vectorizer(g, op):
    of, n, inputs, sizes = g.pick(*FEATURES), g.pick(1, 1, 3, g.int(1, 9)), [], []  # at no rows ONNX Runtime aborts
    for _ in range(g.int(1, 4)):
        wide = g.int(1, 5)
        inputs.append(numbers(g, [wide] if n == 1 and g.chance(0.3) else [n, wide], of))
        sizes.append(g.pick(wide, wide, max(1, wide - 1), wide + 2))
    return ml(op, inputs, {"inputdimensions": sizes})


@makers(ML, "OneHotEncoder")
def one_hot(g, op):
    n, dims, of = g.int(1, 6), g.dims(0, 3), g.pick(I64, F32, F64, str)
    known = g.int(0, n) if g.chance(0.3) else n
    attributes = {"zeros": g.pick(None, 1, 1, 0)}
    if of == str:
        return ml(op, [texts(g, dims, WORDS[:n])], dict(attributes, cats_strings=WORDS[:known] or ["x"]))
    cats = [int(i) for i in g.r.permutation(n)[:known]] or [9]
    x = g.r.integers(0, n, dims) + (g.r.integers(0, 2, dims) / 4 if g.chance(0.2) else 0)
    return ml(op, [x.astype(of)], dict(attributes, cats_int64s=cats))


@makers(ML, "CategoryMapper")
def category_mapper(g, op):
    n, dims = g.int(1, 5), g.dims(0, 3)
    numbers_of = [int(i) for i in g.r.integers(0, 9, n)] if g.chance(0.2) else [int(i) for i in g.r.permutation(9)[:n]]
    x = g.r.integers(-1, 9, dims).astype(I64) if g.chance() else texts(g, dims)
    words = label_keys(g, str, n, g.chance(0.2))
    return ml(op, [x], {"cats_strings": words, "cats_int64s": numbers_of, "default_string": g.pick(None, "none"), "default_int64": g.pick(None, 77)})


def label_keys(g, of, n, equal, nan=0.4):
    """n keys or values of a type, some equal if asked, for reals one of them perhaps not a number."""
    if of == str:
        return [g.pick(*WORDS) if equal else WORDS[i] for i in range(n)]
    if of in (I64, I32, np.int16):
        return [int(i) for i in (g.r.integers(-3, 3, n) if equal else (g.r.permutation(9)[:n] - 3) * g.pick(1, 1, 1000))]
    values = [float(v) / 2 for v in (g.r.integers(-3, 3, n) if equal else g.r.permutation(9)[:n] - 3)]
    if g.chance(nan):
        values[g.int(0, n - 1)] = float("nan")
    return values


@makers(ML, "LabelEncoder")
def label_encoder(g, op):
    opset, n, dims = g.pick(1, 2, 4, 4), g.int(1, 6), g.dims(0, 3)
    if opset == 1:
        x = texts(g, dims) if g.chance() else g.r.integers(-1, 7, dims).astype(I64)
        return ml(op, [x], {"classes_strings": label_keys(g, str, n, False), "default_string": g.pick(None, "-"), "default_int64": g.pick(None, 7)})
    lists = {str: "string", I64: "int64", F32: "float"}
    tensors = opset == 4 and g.chance()
    pairs = [(F64, F64), (str, F64), (F64, str), (str, np.int16), (str, I64), (I64, F32), (F32, str)]
    key, value = g.pick(*pairs) if tensors else (g.pick(*lists), g.pick(*lists))
    # Of equal keys the last counts, for ONNX Runtime the first; and before opset 4 it does not find NaN.
    nan = 0.4 if opset == 4 else 0
    keys, values = label_keys(g, key, n, False, nan), label_keys(g, value, n, True)
    others = [float("nan") if nan else 9.0, -0.0, 2.25] if key in (F32, F64) else ["none"] if key == str else [99, -99]
    pool = keys + others
    x = array([pool[i] for i in g.r.integers(0, len(pool), int(np.prod(dims, dtype=int)))], key, dims)
    if tensors:
        otherwise = g.pick(None, numpy_helper.from_array(array(["none" if value == str else 5], value)))
        attributes = {"values_tensor": numpy_helper.from_array(array(values, value)), "default_tensor": otherwise}
        attributes |= {f"keys_{lists[key]}s": keys} if key in lists and g.chance(0.3) else {"keys_tensor": numpy_helper.from_array(array(keys, key))}
        return ml(op, [x], attributes, opset=4)
    attributes = {"default_string": g.pick(None, "none"), "default_int64": g.pick(None, 7), "default_float": g.pick(None, 0.25)}
    return ml(op, [x], dict(attributes, **{f"keys_{lists[key]}s": keys, f"values_{lists[value]}s": values}), opset=opset)


@makers(ML, "LinearRegressor")
def linear_regressor(g, op):
    x, n = rows(g, (F32,)), g.pick(1, 1, 2, 3)
    return ml(op, [x], {"targets": n if n > 1 or g.chance() else None, "coefficients": floats(g, n * x.shape[-1]),
                        "intercepts": floats(g, n) if g.chance(0.7) else None, "post_transform": g.pick(*TRANSFORMS)})


@makers(ML, "LinearClassifier")
def linear_classifier(g, op):
    x, n = rows(g), g.pick(2, 2, 3, 5)
    scores = 1 if n == 2 and g.chance() else n
    how = g.pick(*TRANSFORMS[:-1 if scores == 1 else None])  # of the PROBIT of one score ONNX Runtime does not write all
    return ml(op, [x], dict(classes(g, n), coefficients=floats(g, scores * x.shape[-1]), intercepts=floats(g, scores),
                            multi_class=g.pick(None, 0, 1), post_transform=how), 2)


def svm_kernel(g):
    return {"kernel_type": g.pick("LINEAR", "POLY", "RBF", "SIGMOID"), "kernel_params": [0.25, g.pick(0.0, 0.5), float(g.int(1, 3))],
            "post_transform": g.pick(*TRANSFORMS[:-1])}


@makers(ML, "SVMRegressor")
def svm_regressor(g, op):
    x, supports = rows(g, (F32,), 0.1), g.pick(0, 1, 2, g.int(3, 20))
    attributes = dict(svm_kernel(g), rho=floats(g, 1), one_class=g.pick(None, 0, 1), n_supports=supports or None,
                      coefficients=floats(g, supports or x.shape[-1]))
    return ml(op, [x], dict(attributes, support_vectors=floats(g, supports * x.shape[-1]) if supports else None))


@makers(ML, "SVMClassifier")
def svm_classifier(g, op):
    x, n = rows(g, nan=0.1), g.pick(1, 2, 2, 3, 4)
    attributes = svm_kernel(g) | classes(g, n)
    positive = (lambda v: [abs(i) for i in v]) if g.chance(0.25) else list
    if n == 1 or g.chance(0.3):  # linear
        return ml(op, [x], dict(attributes, coefficients=positive(floats(g, n * x.shape[-1])), rho=floats(g, g.pick(1, n))), 2)
    each = [g.int(1, 4) for _ in range(n)]
    pairs = n * (n - 1) // 2
    if g.chance(0.4):
        attributes |= {"prob_a": [-abs(v) - 0.1 for v in floats(g, pairs)], "prob_b": floats(g, pairs)}
    return ml(op, [x], dict(attributes, coefficients=positive(floats(g, (n - 1) * sum(each))), rho=floats(g, pairs), vectors_per_class=each,
                            support_vectors=floats(g, sum(each) * x.shape[-1])), 2)


MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def grow(g, features, depth, modes, nodes):
    """Adds a tree's nodes in order, each [mode, feature, value, true, false], a leaf's mode is LEAF; the root's place."""
    at = len(nodes)
    nodes.append(["LEAF", 0, 0.0, 0, 0])
    if depth and g.chance(0.85):
        mode, value = g.pick(*modes), float(g.pick(*(g.r.integers(-6, 7, 3) / 2), *normal(g, [1])))
        nodes[at] = [mode, g.int(0, features - 1), value, grow(g, features, depth - 1, modes, nodes), grow(g, features, depth - 1, modes, nodes)]
    return at


def old_trees(g, x, prefix, targets, opset, alone=False):
    """Attributes of trees as opsets before 5 have them; `alone`: all votes are for target 0."""
    table, votes = [], []
    modes = MODES if g.chance(0.4) else [g.pick(*MODES)] if g.chance() else MODES[:1]
    step, base = g.pick(1, 1, 3), g.chance(0.4)
    full = base and prefix == "target"  # ONNX Runtime forgets the base values of targets without votes
    for tree in range(0, step * (g.pick(1, 2, g.int(3, 9)) if g.chance(0.95) else g.int(100, 300)), step):
        nodes = []
        grow(g, x.shape[-1], g.int(0, 4), modes, nodes)
        for i, node in enumerate(nodes):
            table.append((tree, i, *node, g.int(0, 1)))
            if node[0] == "LEAF":
                voted = [0] if alone else [t for t in range(targets) if full or g.chance(0.6)] or [g.int(0, targets - 1)]
                votes += [(tree, i, t) for t in voted]
    columns = [list(column) for column in zip(*table)]
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")
    a = {f"nodes_{name}": column for name, column in zip(names, columns)}
    a |= {f"{prefix}_{name}": list(column) for name, column in zip(("treeids", "nodeids", "ids"), zip(*votes))}
    weights = floats(g, len(votes))
    a[f"{prefix}_weights"] = [abs(w) for w in weights] if g.chance(0.3) else weights
    if g.chance():
        del a["nodes_missing_value_tracks_true"]
    if base:
        a["base_values"] = floats(g, 1 if alone and g.chance() else targets)
    if opset == 3 and (x.dtype == F64 or g.chance(0.2)):
        for name in [n for n in ("nodes_values", "base_values", f"{prefix}_weights") if n in a]:
            a[f"{name}_as_tensor"] = numpy_helper.from_array(np.array(a.pop(name), F64 if x.dtype == F64 else F32))
    return a | {"post_transform": g.pick(*TRANSFORMS), "nodes_hitrates": g.pick(None, [1.0] * len(table))}


@makers(ML, "TreeEnsembleRegressor")
def tree_regressor(g, op):
    opset, n, x = g.pick(1, 3), g.pick(1, 1, 2, 3), rows(g, (F32, F32, F64), 0.3, 0, 0.03)
    return ml(op, [x], old_trees(g, x, "target", n, opset) | {"n_targets": n, "aggregate_function": g.pick(None, "SUM", "AVERAGE", "MIN", "MAX")},
              opset=opset)


@makers(ML, "TreeEnsembleClassifier")
def tree_classifier(g, op):
    opset, n, x = g.pick(1, 3), g.pick(1, 2, 2, 3, 4), rows(g, FEATURES, 0.3, 0, 0.03)
    # Where both of two classes are voted for, ONNX Runtime gives labels 0 and 1, and scores that are opposite.
    a = old_trees(g, x, "class", n, opset, n == 2) | classes(g, n, "classlabels_int64s")
    if a["post_transform"] == {1: "LOGISTIC", 2: "PROBIT"}.get(n):  # ONNX Runtime forgets the one, and of the other may write half
        a["post_transform"] = None
    case = ml(op, [x], a, 2, opset)
    if n == 1:  # ONNX Runtime takes it for one of the two labels 0 and 1
        case.compared = ["y1"]
    return case


@makers(ML, "TreeEnsemble")
def tree_ensemble(g, op):
    """Of opset 5: inner nodes and leaves are in tables of their own; mode 6 is membership of sets, which end with NaN."""
    x, n = rows(g, (F32, F32, F64), 0.3, 0, 0.03), g.pick(1, 1, 2, 3)
    modes = g.pick((0,), (0, 1, 2, 3, 4, 5), (0, 6), (6,), (0, 1, 2, 3, 4, 5, 6), (g.int(0, 5),))
    if 6 in modes:  # ONNX Runtime looks at whole numbers only
        x = np.round(x * 2)
    table, leaves, roots, members = [], 0, [], []
    for _ in range(g.int(1, 5)):
        nodes = []
        grow(g, x.shape[-1], g.int(1, 4), modes, nodes)
        inner = {i: len(table) + k for k, i in enumerate(i for i, node in enumerate(nodes) if node[0] != "LEAF")}
        if not inner:  # a node whose branches are one leaf
            nodes, inner = [[0, 0, 0.0, 1, 1], ["LEAF"]], {0: len(table)}
        leaf = {i: leaves + k for k, i in enumerate(i for i, node in enumerate(nodes) if node[0] == "LEAF")}
        leaves += len(leaf)
        roots.append(inner[0])
        for i in inner:
            mode, feature, value, *branches = nodes[i]
            table.append((mode, feature, value, *[v for b in branches for v in (leaf.get(b, inner.get(b)), int(b in leaf))], g.int(0, 1)))
            if mode == 6:
                members += [float(v) for v in sorted(set(g.r.integers(-6, 7, g.int(1, 5)).tolist()))] + [float("nan")]
    names = ("modes", "featureids", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs", "missing_value_tracks_true")
    a = {f"nodes_{name}": list(column) for name, column in zip(names, zip(*table))}
    a["nodes_modes"] = numpy_helper.from_array(np.array(a["nodes_modes"], np.uint8))
    a["nodes_splits"] = numpy_helper.from_array(np.array(a["nodes_splits"], x.dtype))
    if members:
        a["membership_values"] = numpy_helper.from_array(np.array(members, x.dtype))
    if g.chance():
        del a["nodes_missing_value_tracks_true"]
    a |= {"tree_roots": roots, "leaf_targetids": g.r.integers(0, n, leaves).tolist(), "n_targets": n,
          "leaf_weights": numpy_helper.from_array(np.array(floats(g, leaves), x.dtype)), "aggregate_function": g.pick(None, 0, 1, 2, 3),
          "post_transform": g.pick(None, 0, 3, 4)}  # ONNX Runtime takes 1 for 2 and 2 for 1
    return ml(op, [x], a, opset=5)
