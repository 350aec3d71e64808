"""What ONNX Runtime's schemas have and the makers of random nodes never give: attributes, inputs, outputs; and operators without a maker.

    python3 tests/backend/maker_gaps.py [--count 150]

A maker's gaps are where wrong answers can sit unseen. Several makers of one operator count together. Needs the packages onnx and onnxruntime.
"""
import argparse
import collections

import onnxruntime.capi.onnxruntime_pybind11_state as state

import against_runtime  # noqa: F401 (adds all makers)
from random_nodes import MAKERS, Random


def newest_schemas():
    """{(domain, operator): schema}; the domain of ai.onnx is empty."""
    schemas = {}
    for schema in state.get_all_operator_schema():
        key = (schema.domain.removesuffix("ai.onnx") if schema.domain == "ai.onnx" else schema.domain, schema.name)
        if key not in schemas or schema.since_version > schemas[key].since_version:
            schemas[key] = schema
    return schemas


def given_by_makers(count):
    """{(domain, operator): (attributes, most inputs, most outputs)}"""
    g = Random(1)
    given = collections.defaultdict(lambda: [set(), 0, 0])
    for key in sorted(MAKERS):
        for _ in range(count):
            case = MAKERS[key](g, key)
            entry = given[case.domain, case.op]
            entry[0].update(case.attributes)
            entry[1] = max(entry[1], len(case.inputs))
            entry[2] = max(entry[2], len(case.results))
    return given


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=150)
    given, schemas = given_by_makers(parser.parse_args().count), newest_schemas()
    for (domain, op), (attributes, inputs, outputs) in sorted(given.items()):
        schema = schemas.get((domain, op))
        if not schema:
            continue
        gaps = [f"attribute {name}" for name in sorted(set(schema.attributes) - attributes)]
        gaps += [f"input {value.name}" for value in schema.inputs[inputs:]] + [f"output {value.name}" for value in schema.outputs[outputs:]]
        if gaps:
            print(f"{domain + '.' if domain else ''}{op}: {', '.join(gaps)}")
    without = [f"{domain + '.' if domain else ''}{op}" for domain, op in sorted(schemas) if (domain, op) not in given and domain in ("", "ai.onnx.ml", "com.microsoft")]
    print("without a maker:", ", ".join(without))


if __name__ == "__main__":
    main()
