// The operators' type parameters against the constraints of ONNX's schemas, as recorded by backend/record_types.py.
#include <catch2/catch.hpp>

#include "engine/ops/infer_util.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "tests/recorded.h"

namespace types_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Constraint {
  std::string op;
  InputSet inputs;
  bool variadic = false;
  DTypeSet types;
};

std::vector<Constraint> constraints() {
  std::vector<Constraint> out;
  for (const std::vector<std::string>& fields : recorded_fields(SVENGINE_TYPES)) {
    REQUIRE(fields.size() == 4);
    Constraint c;
    c.op = fields[0];
    c.variadic = fields[2].ends_with('+');
    for (const std::string& input : split(fields[2], ',')) c.inputs.insert(std::stoi(input));
    for (const std::string& word : split(fields[3], ' ')) {
      const auto type = dtype_from_name(word);
      INFO(c.op << ": " << word);
      REQUIRE(type);
      c.types = c.types | DTypeSet{*type};
    }
    out.push_back(std::move(c));
  }
  return out;
}

/// Where the engine takes more than ONNX's newest version names.
bool takes_more(const OpDef& op, DTypeSet types) {
  if (std::string_view(op.name).starts_with("ReduceLogSum")) return types == ops::kWideTypes;  // integers until opset 13
  // What only moves elements moves those of every type. (Scatter and Upsample are old forms of operators that do.)
  return types == ops::kAllTypes &&
         (!op.lower || op.kernel_types == kDenseTypes || op.kernel_types_of || op.traits.is_view || op.traits.value_of_types);
}

const TypeParameter* parameter_of(const OpDef& op, int input) {
  for (const TypeParameter& p : op.types)
    if (p.inputs.has(static_cast<size_t>(input))) return &p;
  return nullptr;
}

/// The sample's node, with attribute `name` set to `number`; whether the operator takes it.
bool takes_number(const OpDef& op, const Sample& sample, const std::string& name, int64_t number) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const SampleInput& in : sample.inputs) {
    if (in.value.defined()) inputs.push_back(graph.add_constant("c", in.value));
    else inputs.push_back(in.is_absent() ? nullptr : graph.add_input("x", {in.dtype, Shape::of(in.dims), 0}));
  }
  Attributes attributes;
  for (const auto& [key, value] : sample.attributes) attributes.set(key, value);
  attributes.set(name, number);
  return infer_types(*graph.add_node(op, "n", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes))).ok();
}

}  // namespace

TEST_CASE("an attribute that names an element type takes the numbers of types only") {
  int attributes = 0;
  for (const OpDef& op : all_ops().all()) {
    if (op.samples.empty()) continue;
    for (const AttributeDef& attribute : op.attributes) {
      const std::string& name = attribute.name;
      if (!name.ends_with("dtype") && name != "output_datatype" && !name.ends_with("precision") && name != "to" && name != "stash_type") continue;
      if (attribute.kind != AttributeKind::kInt) continue;
      ++attributes;
      for (const Sample& sample : samples_of(op))
        for (int64_t number = 1; number < 32; ++number)
          for (const int64_t wrong : {number + 256, number - 256, number + (int64_t{1} << 32), number * 64 + 32}) {
            INFO(op.name << ", " << name << " = " << wrong);
            CHECK_FALSE(takes_number(op, sample, name, wrong));
          }
    }
  }
  CHECK(attributes >= 15);  // so many were there when this was written
}

TEST_CASE("operators take the types that ONNX's schemas say") {
  int compared = 0;
  for (const Constraint& c : constraints()) {
    const OpDef* op = all_ops().find("", c.op);
    if (!op || op->types.empty()) continue;  // its `infer` checks the types
    INFO(c.op << ", input " << *c.inputs.begin());
    const TypeParameter* parameter = parameter_of(*op, *c.inputs.begin());
    REQUIRE(parameter);
    CHECK(parameter->inputs == c.inputs);
    CHECK((!c.variadic || op->inputs.is_variadic()));
    INFO("here: " << to_string(parameter->types) << "\n  ONNX: " << to_string(c.types));
    CHECK((parameter->types == c.types || (takes_more(*op, parameter->types) && (c.types - parameter->types).empty())));
    ++compared;
  }
  CHECK(compared >= 190);  // so many were there when this was written
}

TEST_CASE("every type parameter names inputs that the operator has, each once") {
  for (const OpDef& op : all_ops().all()) {
    INFO(op.name);
    std::vector<int> seen;
    for (const TypeParameter& p : op.types) {
      CHECK_FALSE(p.types.empty());
      for (int i : p.inputs) {
        CHECK((i >= 0 && i < op.inputs.arity().max));
        CHECK(std::find(seen.begin(), seen.end(), i) == seen.end());
        seen.push_back(i);
      }
    }
  }
}
}  // namespace types_test
