"""Records the type constraints of ONNX's operators, for types_test.cc:

    python3 tests/backend/record_types.py > tests/data/types.txt        (package onnx)

A line says, of an operator's newest version,

    Operator|version|inputs|type type ...

for the inputs of one type parameter, which are numbers, the last with a + where it stands for all behind it. Types that are no
tensor's, complex numbers and float6, for which there is no element type here, are left out, and so are parameters that consist of
nothing else.
"""
import onnx
import onnx.defs

NAMES = {"float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", 
         "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz", "float8e8m0": "float8_e8m0", "float4e2m1": "float4_e2m1"}
LEFT_OUT = {"complex64", "complex128", "float6e2m3", "float6e3m2"}


def element_types(allowed):
    tensors = {t[len("tensor("):-1] for t in allowed if t.startswith("tensor(")}
    return sorted(NAMES.get(t, t) for t in tensors - LEFT_OUT)


def parameters(schema):
    """(inputs, types) of each type parameter, in the order of their first inputs."""
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    places = {}
    for i, given in enumerate(schema.inputs):
        # What has a fixed type is a parameter of its own.
        key = given.type_str if given.type_str in constraints else (i, given.type_str)
        more = "+" if given.option == onnx.defs.OpSchema.FormalParameterOption.Variadic else ""
        places.setdefault(key, []).append(f"{i}{more}")
    for key, inputs in places.items():
        types = element_types(constraints[key] if isinstance(key, str) else [key[1]])
        if types:
            yield ",".join(inputs), types


def main():
    print("# Type constraints of ONNX's operators, for types_test.cc:")
    print(f"# onnx {onnx.__version__}; made by tests/backend/record_types.py")
    for schema in sorted((s for s in onnx.defs.get_all_schemas() if s.domain == ""), key=lambda s: s.name):
        for inputs, types in parameters(schema):
            print("|".join([schema.name, str(schema.since_version), inputs, " ".join(types)]))


main()
