"""Records the attributes of ONNX's operators and those of com.microsoft, for attributes_test.cc:

    python3 tests/backend/record_attributes.py > tests/data/attributes.txt        (packages onnx, onnxruntime)

A line says, of the newest version of an operator that is not deprecated,

    domain|Operator|attribute|kind|required or the default, if it has one

A domain of "" is ai.onnx. Floats have nine digits. Defaults that are lists are left out, for what has the same length for every node has no
default here, either.
"""
import onnx
import onnx.defs
import onnxruntime
from onnx import helper
from onnxruntime.capi import onnxruntime_pybind11_state as binding

LAST_WORDS = {"SPARSE_TENSOR": "tensor", "TYPE_PROTO": "tensor"}  # as the importer reads them


def default_of(attribute):
    if hasattr(attribute, "default_value"):
        return attribute.default_value
    return onnx.AttributeProto.FromString(attribute._default_value)  # ONNX Runtime's binding has no other way


def default_text(attribute):
    if attribute.required:
        return "required"
    default = default_of(attribute)
    if not default.type:
        return ""
    value = helper.get_attribute_value(default)
    if isinstance(value, bytes):
        return f'"{value.decode()}"'
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value) if isinstance(value, int) else ""


def main():
    print("# Attributes of ONNX's and com.microsoft's operators, for attributes_test.cc:")
    print(f"# onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}; made by tests/backend/record_attributes.py")
    microsoft = [s for s in binding.get_all_operator_schema() if s.domain == "com.microsoft"]
    for schema in sorted(onnx.defs.get_all_schemas() + microsoft, key=lambda s: (s.domain, s.name)):
        for name, attribute in sorted(schema.attributes.items()):
            kind = LAST_WORDS.get(attribute.type.name, attribute.type.name.lower())
            print("|".join(["" if schema.domain == "ai.onnx" else schema.domain, schema.name, name, kind, default_text(attribute)]))


main()
