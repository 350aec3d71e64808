"""Records what operators take in every version, for schemas.cc:

    python3 validate/check/record_schemas.py onnx > validate/check/onnx_schemas.txt                      (package onnx)
    python3 validate/check/record_schemas.py com.microsoft > validate/check/microsoft_schemas.txt        (packages onnx and onnxruntime)

First come the sets of types that parameters are constrained to, numbered from 0; tensor(float) is written as float32:

    types|number|type type ...

Then a line for every version of every operator:

    op|domain|name|version|flags|inputs least,most|outputs least,most|input ...|output ...|parameter=set ...|attribute:kind ...

flags: d deprecated, u attributes of any name are taken. An input or output is NAME:TYPE, with ? behind it where optional, * where it may be there any number of times with one
type, + where with different ones. TYPE is a parameter or a type. Numbers of outputs that are not allowed between least and most are
behind it: 1,5,2,3,4. Kinds of attributes are f i s t g p (sparse tensor) y (type), doubled for lists; ! marks what must be given.
"""
import re
import sys

import onnx
import onnx.checker
import onnx.defs
import onnx.helper

MICROSOFT = 'com.microsoft'
KINDS = {'FLOAT': 'f', 'INT': 'i', 'STRING': 's', 'TENSOR': 't', 'GRAPH': 'g', 'SPARSE_TENSOR': 'p', 'TYPE_PROTO': 'y'}
NAMES = {'float': 'float32', 'double': 'float64', 'float8e4m3fn': 'float8_e4m3fn', 'float8e4m3fnuz': 'float8_e4m3fnuz',
         'float8e5m2': 'float8_e5m2', 'float8e5m2fnuz': 'float8_e5m2fnuz', 'float8e8m0': 'float8_e8m0', 'float4e2m1': 'float4_e2m1'}
MANY = 2147483647


def compact(text):
    """tensor(x) as x, wherever it stands, by the engine's names."""
    return re.sub(r'tensor\((\w+)\)', lambda found: NAMES.get(found[1], found[1]), text.replace(' ', '')).replace('optional(', 'opt(')


def kind(attribute):
    name = attribute.type.name
    many = name.endswith('S')
    letter = KINDS[name[:-1] if many else name]
    return letter * (2 if many else 1) + ('!' if attribute.required else '')


def type_of(parameter):
    """ONNX Runtime's binding has the same under other names, here and below."""
    return parameter.type_str if hasattr(parameter, 'type_str') else parameter.typeStr


def formal(parameter):
    one_type = parameter.is_homogeneous if hasattr(parameter, 'is_homogeneous') else parameter.isHomogeneous
    mark = {'Single': '', 'Optional': '?', 'Variadic': '*' if one_type else '+'}[parameter.option.name]
    return f'{parameter.name}:{compact(type_of(parameter))}{mark}'


def complaint(schema, outputs, **attributes):
    """What ONNX's checker says of a node: there are rules that only it knows."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version = 10
    context.opset_imports = {schema.domain: schema.since_version}
    node = onnx.helper.make_node(schema.name, [f'i{i}' for i in range(schema.min_input)], [f'o{i}' for i in range(outputs)],
                                 domain=schema.domain, **attributes)
    try:
        onnx.checker.check_node(node, context)
    except onnx.checker.ValidationError as problem:
        return str(problem)
    return ''


def runtime_complaint(schema):
    """What ONNX Runtime says of a model of one node, whose inputs are of the first types that may be, with an attribute of no operator."""
    import onnxruntime
    types = {c.type_param_str: c.allowed_type_strs[0] for c in schema.type_constraints}
    inputs = []
    for i in range(schema.min_input):
        text = type_of(schema.inputs[min(i, len(schema.inputs) - 1)])
        name = re.search(r'tensor\((\w+)\)', types.get(text, text))[1].upper()
        inputs.append(onnx.helper.make_tensor_value_info(f'i{i}', getattr(onnx.TensorProto, name), None))
    outputs = [f'o{i}' for i in range(max(schema.min_output, 1))]
    node = onnx.helper.make_node(schema.name, [i.name for i in inputs], outputs, domain=schema.domain, no_such_attribute=1)
    examples = {'INT': 1, 'FLOAT': 1.0, 'STRING': 'a', 'INTS': [1], 'FLOATS': [1.0], 'STRINGS': ['a']}
    node.attribute.extend(onnx.helper.make_attribute(n, examples[a.type.name]) for n, a in schema.attributes.items()
                          if a.required and a.type.name in examples)
    graph = onnx.helper.make_graph([node], 'g', inputs, [onnx.helper.make_empty_tensor_value_info(o) for o in outputs])
    model = onnx.helper.make_model(graph, ir_version=9, opset_imports=[onnx.helper.make_opsetid(*i) for i in [('', 18), (schema.domain, 1)]])
    try:
        onnxruntime.InferenceSession(model.SerializeToString())
    except Exception as problem:  # its exceptions have no class in common
        return str(problem)
    return ''


def refused_outputs(schema):
    """Numbers of outputs within the limits that are refused all the same."""
    if schema.domain == MICROSOFT:
        return []
    return [n for n in range(schema.min_output, min(schema.max_output, 16) + 1) if 'allowed output sizes' in complaint(schema, n)]


def flags_of(schema):
    if schema.deprecated:
        return 'd'
    if schema.domain == MICROSOFT:
        problem = runtime_complaint(schema)
    elif schema.min_input + schema.min_output == 0:
        return ''
    else:
        problem = complaint(schema, schema.min_output, no_such_attribute=1)
    return '' if 'Unrecognized attribute' in problem else 'u'


def line_of(schema, sets):
    parameters = []
    for c in schema.type_constraints:
        types = tuple(sorted({compact(t) for t in c.allowed_type_strs}))
        parameters.append(f'{c.type_param_str}={sets.setdefault(types, len(sets))}')
    limits = [schema.min_output, schema.max_output, *refused_outputs(schema)]
    return '|'.join(['op', schema.domain, schema.name, str(schema.since_version), flags_of(schema),
                     f'{schema.min_input},{schema.max_input}', ','.join(map(str, limits)), ' '.join(map(formal, schema.inputs)),
                     ' '.join(map(formal, schema.outputs)), ' '.join(parameters),
                     ' '.join(f'{n}:{kind(a)}' for n, a in sorted(schema.attributes.items()))])


def schemas_of(source):
    """The schemas, and the package that says so."""
    if source == 'onnx':
        return onnx.defs.get_all_schemas_with_history(), f'onnx {onnx.__version__}'
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as binding
    return [s for s in binding.get_all_operator_schema() if s.domain == MICROSOFT], f'onnxruntime {onnxruntime.__version__}'


def main():
    sets, lines = {}, []
    schemas, package = schemas_of(sys.argv[1])
    for schema in sorted(schemas, key=lambda s: (s.domain, s.name, s.since_version)):
        lines.append(line_of(schema, sets))
    print('R"(')
    print(f'made by validate/check/record_schemas.py of {package}')
    for types, number in sets.items():
        print(f'types|{number}|{" ".join(types)}')
    print('\n'.join(lines).replace(str(MANY), 'many'))
    print(')"')


main()
