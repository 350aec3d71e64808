// Element by element: functions of one, two and more tensors with broadcasting, selection, limits and conversion.
#include "engine/base/number_at.h"
#include "engine/ops/broadcast.h"
#include "tools/emit/formulas.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

/// Loops over output 0, and each input's element in them.
struct Elements {
  Nest nest;
  std::vector<std::string> inputs;
  std::string output;

  Elements(NodeContext& c, size_t count) {
    const Dims out = c.out_dims();
    nest.sizes = out;
    nest.operands.push_back(dense_strides(out));
    for (size_t i = 0; i < count; ++i) nest.operands.push_back(ops::broadcast_strides(c.in_dims(i), out));
    nest = merged(std::move(nest));
    for (size_t i = 0; i < count; ++i) inputs.push_back(c.element(i, element_of(nest.operands[i + 1])));
    output = fmt::format("{}[{}]", c.out(), element_of(nest.operands[0]));
    open_loops(c.code(), nest.sizes);
  }
  void store(NodeContext& c, const std::string& value) const {
    c.code().line("{} = {};", output, value);
    close_loops(c.code(), nest.sizes);
  }
};

/// Attributes alpha and beta, or whatever the operator calls its first two, in their order.
double parameter_of(const Node& node, size_t i) {
  const std::vector<AttributeDef>& defs = node.op().attributes;
  if (i >= defs.size()) return 0;
  if (defs[i].kind == AttributeKind::kInt)
    return static_cast<double>(node.attributes.get_int(defs[i].name, *defs[i].default_value.get<int64_t>()));
  if (defs[i].kind != AttributeKind::kFloat) return 0;
  return node.attributes.get_float(defs[i].name, *defs[i].default_value.get<float>());
}

/// Squares are what most powers are. A root is no power of one half: it keeps -0, and of -infinity it is NaN.
const char* power_formula(const NodeContext& c) {
  const Tensor* y = c.constant(1);
  return y && y->count() == 1 && number_at(y->type(), y->raw(), 0) == 2 ? "$x * $x" : "@pow($x, ($T)$y)";
}

const char* formula_of(const NodeContext& c) {
  const std::string_view name = c.node().op().name;
  const DType type = c.in_type(0);
  if (name == "Pow") return power_formula(c);
  if (name == "Mod" && kIndexTypes.has(type) && c.attributes().get_int("fmod") != 0) return binary_formula("fmod", type);
  return binary_formula(name, type);
}

}  // namespace

Status emit_unary(NodeContext& c) {
  const DType type = c.in_type(0);
  std::string_view name = c.node().op().name;
  if (name == "Gelu" && c.attributes().get_string("approximate", "none") == "tanh") name = "gelu_tanh";
  const Elements e(c, 1);
  const Operands x{"x", {}, parameter_of(c.node(), 0), parameter_of(c.node(), 1)};
  c.code().line("const {} x = {};", c_type(type), e.inputs[0]);
  e.store(c, expression(c.code(), unary_formula(name, type), type, x));
  return {};
}

Status emit_variadic(NodeContext& c) {
  const DType type = c.in_type(0);
  const size_t count = c.input_count();
  const Elements e(c, count);
  const std::string_view t = c_type(type);
  std::string value = "a0";
  const bool takes_all = std::string_view(formula_of(c)).find("$y") != std::string_view::npos;  // not where a known power is
  for (size_t i = 0; i < (takes_all ? count : 1); ++i) c.code().line("const {} a{} = {};", c_type(c.in_type(i)), i, e.inputs[i]);
  for (size_t i = 1; i < count; ++i) {
    const std::string combined = expression(c.code(), formula_of(c), type, {value, fmt::format("a{}", i)});
    if (i + 1 == count) {
      value = combined;
      break;
    }
    value = fmt::format("b{}", i);
    c.code().line("const {} {} = {};", t, value, combined);
  }
  if (c.node().op().name == std::string_view("Mean")) value = fmt::format("({}) / {}", value, count);
  e.store(c, value);
  return {};
}

Status emit_where(NodeContext& c) {
  const Elements e(c, 3);
  e.store(c, fmt::format("{} ? {} : {}", e.inputs[0], e.inputs[1], e.inputs[2]));
  return {};
}

Status emit_clip(NodeContext& c) {
  const DType type = c.in_type(0);
  const Elements e(c, 1);
  std::string value = "x";
  c.code().line("const {} x = {};", c_type(type), e.inputs[0]);
  // NaN goes through; a maximum below the minimum wins.
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!c.has_input(i)) continue;
    const std::string name = i == 1 ? "low" : "high";
    c.code().line("const {} {} = {};", c_type(type), name, c.element(i, "0"));
    c.code().line("const {0} {1}est = {2} {3} {1} || {1} != {1} ? {1} : {2};", c_type(type), name, value, i == 1 ? "<" : ">");
    value = name + "est";
  }
  e.store(c, value);
  return {};
}

Status emit_cast(NodeContext& c) {
  const DType from = c.in_type(0), to = c.out_type();
  const Elements e(c, 1);
  const std::string& x = e.inputs[0];
  std::string value = fmt::format("({}){}", c_type(to), x);
  if (to == DType::boolean) value = fmt::format("{} != 0", x);
  else if (from == DType::boolean) value = fmt::format("{} != 0 ? 1 : 0", x);
  else if (kRealTypes.has(from) && !kRealTypes.has(to)) {
    const bool own = to == DType::i32 || to == DType::u32 || to == DType::u64;  // narrower ones take the low bits of 64
    value = fmt::format("({}){}({})", c_type(to), c.helper(own ? fmt::format("to_{}", name_of(to)) : "to_int64", from), x);
  }
  e.store(c, value);
  return {};
}

}  // namespace svengine::tool::emit
