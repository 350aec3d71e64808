"""Records what ONNX's operators take in every version, for schemas.cc:

    python3 validate/check/record_schemas.py > validate/check/onnx_schemas.txt        (package onnx)

First come the sets of types that parameters are constrained to, numbered from 0; tensor(float) is written as float32:

    types|number|type type ...

Then a line for every version of every operator:

    op|domain|name|version|flags|inputs least,most|outputs least,most|input ...|output ...|parameter=set ...|attribute:kind ...

flags: d deprecated, u attributes of any name are taken. An input or output is NAME:TYPE, with ? behind it where optional, * where it may be there any number of times with one
type, + where with different ones. TYPE is a parameter or a type. Numbers of outputs that are not allowed between least and most are
behind it: 1,5,2,3,4. Kinds of attributes are f i s t g p (sparse tensor) y (type), doubled for lists; ! marks what must be given.
"""
import re

import onnx
import onnx.checker
import onnx.defs
import onnx.helper

KINDS = {'FLOAT': 'f', 'INT': 'i', 'STRING': 's', 'TENSOR': 't', 'GRAPH': 'g', 'SPARSE_TENSOR': 'p', 'TYPE_PROTO': 'y'}
NAMES = {'float': 'float32', 'double': 'float64', 'float8e4m3fn': 'float8_e4m3fn', 'float8e4m3fnuz': 'float8_e4m3fnuz',
         'float8e5m2': 'float8_e5m2', 'float8e5m2fnuz': 'float8_e5m2fnuz', 'float8e8m0': 'float8_e8m0', 'float4e2m1': 'float4_e2m1'}
MANY = 2147483647
OPTION = onnx.defs.OpSchema.FormalParameterOption


def compact(text):
    """tensor(x) as x, wherever it stands, by the engine's names."""
    return re.sub(r'tensor\((\w+)\)', lambda found: NAMES.get(found[1], found[1]), text.replace(' ', '')).replace('optional(', 'opt(')


def kind(attribute):
    name = attribute.type.name
    many = name.endswith('S')
    letter = KINDS[name[:-1] if many else name]
    return letter * (2 if many else 1) + ('!' if attribute.required else '')


def formal(parameter):
    mark = {OPTION.Single: '', OPTION.Optional: '?', OPTION.Variadic: '*' if parameter.is_homogeneous else '+'}[parameter.option]
    return f'{parameter.name}:{compact(parameter.type_str)}{mark}'


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


def refused_outputs(schema):
    """Numbers of outputs within the limits that are refused all the same."""
    return [n for n in range(schema.min_output, min(schema.max_output, 16) + 1) if 'allowed output sizes' in complaint(schema, n)]


def flags_of(schema):
    if schema.deprecated:
        return 'd'
    if schema.min_input + schema.min_output == 0:
        return ''
    return '' if 'Unrecognized attribute' in complaint(schema, schema.min_output, no_such_attribute=1) else 'u'


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


def main():
    sets, lines = {}, []
    schemas = onnx.defs.get_all_schemas_with_history()
    for schema in sorted(schemas, key=lambda s: (s.domain, s.name, s.since_version)):
        lines.append(line_of(schema, sets))
    print('R"(')
    print(f'made by validate/check/record_schemas.py of onnx {onnx.__version__}')
    for types, number in sets.items():
        print(f'types|{number}|{" ".join(types)}')
    print('\n'.join(lines).replace(str(MANY), 'many'))
    print(')"')


main()
