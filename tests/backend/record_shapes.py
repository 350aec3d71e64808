"""Records what ONNX Runtime and ONNX's shape inference say of the shapes of random nodes, for shapes_test.cc:

    python3 tests/backend/record_shapes.py > tests/data/shapes.txt        (packages onnx and onnxruntime)

Nodes come from random_nodes.py and random_moves.py; of most, one input then gets another shape or element type. A line says

    Operator|opset|number of outputs|inputs|attributes|outputs or "refused"

inputs are "-" (absent), float32[2,3], or int64[2]={1,-3} (a constant). ONNX Runtime decides, by running the node; where it has no
implementation, ONNX's checker and strict inference do. Nodes that ONNX refuses and ONNX Runtime runs are left out: nobody knows.
"""
import argparse

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import random_moves  # noqa: F401 (adds its makers)
import random_vision  # noqa: F401 (likewise)
from against_runtime import answers, model_of
from random_nodes import MAKERS, Random

TYPES = {np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint8), np.dtype(np.bool_)}
# Inputs that are data all the same when they are integers.
DATA = {"Gather": {0}, "GatherElements": {0}, "GatherND": {0}, "Scatter": {0, 2}, "ScatterElements": {0, 2}, "ScatterND": {0, 2}}
SHAPED = {"Reshape", "Slice", "Pad", "Split", "Squeeze", "Unsqueeze", "Expand", "Tile", "TopK", "OneHot", "Range", "CumSum", "Resize", "Upsample",
          "Trilu", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
          "ReduceSumSquare", *DATA}


def mutate(g, case):
    """One input in another shape, seldom of another type."""
    present = [i for i, x in enumerate(case.inputs) if x is not None and i not in case.constant]
    if not present:
        return
    i = g.pick(*present)
    x = case.inputs[i]
    dims = list(x.shape)
    how = g.int(0, 6)
    if how == 0 and dims:
        dims.pop(0)
    elif how == 1 and dims:
        dims.pop()
    elif how == 2:
        dims.insert(0, g.int(1, 2))
    elif how == 3:
        dims.append(g.int(1, 2))
    elif dims:
        at = g.int(0, len(dims) - 1)
        dims[at] = 1 if how == 4 else dims[at] + 1 if how == 5 else 0 if g.chance(0.3) else 2
    case.inputs[i] = g.values(dims, g.pick(np.float32, np.int32) if g.chance(0.05) else x.dtype)
    case.inputs[i] = np.asarray(case.inputs[i])


def verdict(case):
    try:
        model = onnx.shape_inference.infer_shapes(model_of(case)[0], check_type=True, strict_mode=True, data_prop=True)
        onnx_says = [(helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type),
                      [d.dim_value if d.HasField("dim_value") else None for d in v.type.tensor_type.shape.dim]) for v in model.graph.output]
    except Exception:
        onnx_says = None
    try:
        ran = [(np.asarray(y).dtype, list(np.asarray(y).shape)) for y in answers(case)]
    except Exception as problem:
        if "NOT_IMPLEMENTED" not in str(problem):
            return "refused"
        if onnx_says is not None and any(None in dims for _, dims in onnx_says):
            return None
        ran = onnx_says
        return "refused" if ran is None else ran
    return None if onnx_says is None else ran


def text_of_attribute(name, value):
    if isinstance(value, (list, tuple)):
        return f"{name}=I" + ",".join(map(str, value)) if all(isinstance(v, (int, np.integer)) for v in value) else f"{name}=F" + ",".join(map(str, value))
    assert isinstance(value, (str, int, float)), "a tensor is no attribute of the table"
    kind = "s" if isinstance(value, str) else "f" if isinstance(value, float) else "i"
    return f"{name}={kind}{value}"


def text_of(case, result):
    def one(dtype, dims):
        return f"{np.dtype(dtype).name}[{','.join(map(str, dims))}]"

    inputs = ["-" if x is None else one(x.dtype, x.shape) + ("={" + ",".join(str(v) for v in x.ravel()) + "}" if i in case.constant else "")
              for i, x in enumerate(case.inputs)]
    attributes = [text_of_attribute(k, v) for k, v in sorted(case.attributes.items())]
    outputs = result if result == "refused" else " ".join(one(*r) for r in result)
    return "|".join([case.op, str(case.opset), str(case.outputs), " ".join(inputs), " ".join(attributes), outputs])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=40)
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    g, lines = Random(3), set()
    for op in sorted(set(MAKERS) - {"ConstantOfShape"}):
        for i in range(options.each):
            case = MAKERS[op](g, op)
            if op in SHAPED:
                case.constant |= {k for k, x in enumerate(case.inputs) if k and k not in DATA.get(op, ()) and x is not None}
            if i % 4:
                mutate(g, case)
            if any(x is not None and x.dtype not in TYPES for x in case.inputs):
                continue
            result = verdict(case)
            if result is not None:
                lines.add(text_of(case, result))
    print("# " + " ".join(__doc__.split("\n")[0:1]))
    print(f"# onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}; made by tests/backend/record_shapes.py")
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
