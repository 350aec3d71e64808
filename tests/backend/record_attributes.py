"""Records the attributes of ONNX's operators, for attributes_test.cc:

    python3 tests/backend/record_attributes.py > tests/data/attributes.txt        (package onnx)

A line says, of the newest version of an operator that is not deprecated,

    domain|Operator|attribute|kind|required or the default, if it has one

A domain of "" is ai.onnx. Floats have nine digits. Defaults that are lists are left out, for what has the same length for every node has no
default here, either.
"""
import onnx
import onnx.defs
from onnx import helper

LAST_WORDS = {"SPARSE_TENSOR": "tensor", "TYPE_PROTO": "tensor"}  # as the importer reads them


def default_text(attribute):
    if attribute.required:
        return "required"
    if not attribute.default_value.type:
        return ""
    value = helper.get_attribute_value(attribute.default_value)
    if isinstance(value, bytes):
        return f'"{value.decode()}"'
    if isinstance(value, float):
        return f"{value:.9g}"
    return str(value) if isinstance(value, int) else ""


def main():
    print("# Attributes of ONNX's operators, for attributes_test.cc:")
    print(f"# onnx {onnx.__version__}; made by tests/backend/record_attributes.py")
    for schema in sorted(onnx.defs.get_all_schemas(), key=lambda s: (s.domain, s.name)):
        for name, attribute in sorted(schema.attributes.items()):
            kind = LAST_WORDS.get(attribute.type.name, attribute.type.name.lower())
            print("|".join(["" if schema.domain == "ai.onnx" else schema.domain, schema.name, name, kind, default_text(attribute)]))


main()
