// Element types that operators take only in younger opsets.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "engine/graph/bodies.h"
#include "engine/graph/op_def.h"
#include "validate/check/schemas.h"
#include "validate/convert/older_forms.h"

namespace svengine::validate {
namespace {

/// Types that hold all of the first one's values, the narrowest first.
struct Wider {
  DType type;
  std::vector<DType> wider;
};
const Wider kWider[] = {
    {DType::f16, {DType::f32, DType::f64}}, {DType::bf16, {DType::f32, DType::f64}},
    {DType::i8, {DType::i32, DType::i64, DType::f32}},
    {DType::i16, {DType::i32, DType::i64, DType::f32}},
    {DType::u8, {DType::u32, DType::i32, DType::u64, DType::i64, DType::f32}},
    {DType::u16, {DType::u32, DType::i32, DType::u64, DType::i64, DType::f32}},
    {DType::i32, {DType::i64}},             {DType::u32, {DType::u64, DType::i64}},
    {DType::boolean, {DType::u8, DType::i32}},
};

constexpr DTypeSet kFloats = {DType::f16, DType::bf16, DType::f32, DType::f64};

class TypeWidener {
 public:
  TypeWidener(Graph& graph, int opset, const OpRegistry& ops)
      : graph_(graph), opset_(opset), cast_(*ops.find("", "Cast")), ops_(ops), schemas_(Schemas::get()) {}

  Status run() {
    const std::vector<Node*> nodes = graph_.snapshot();
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::vector<Body> bodies = bodies_of(*nodes[i]);
      for (Body& body : bodies) SV_TRY(widen_young_types(body.graph, opset_, ops_));
      if (!bodies.empty()) set_bodies(*nodes[i], std::move(bodies));
      SV_TRY(widen(*nodes[i], i + 1 < nodes.size() ? nodes[i + 1] : nullptr));
    }
    return {};
  }

 private:
  using Chosen = std::map<std::string_view, DType>;  // by parameter

  bool takes(const SchemaValue& want, DType type) const { return schemas_.allows(want, name_of(type)); }

  /// The type of what it holds is what others made of it, and must stay so.
  static bool has_container(const Node& node) {
    const auto holds = [](const Value* v) { return v && is_container(v->type.dtype); };
    return std::ranges::any_of(node.inputs(), holds) || std::ranges::any_of(node.outputs(), holds);
  }

  static bool holds(DType wide, DType type) {
    const auto widens = [&](const Wider& w) { return w.type == type && std::ranges::find(w.wider, wide) != w.wider.end(); };
    return wide == type || std::ranges::any_of(kWider, widens);
  }

  /// The narrowest type that holds the values of inputs of one parameter that are not of one type, as younger forms allow.
  void choose_common(const Node& node, const Schema& schema, Chosen& out) const {
    Chosen first;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const SchemaValue* want = value_at(schema.inputs, i);
      if (!node.input(i) || !want || want->set < 0 || !want->one_type || !kFloats.has(node.input(i)->type.dtype)) continue;
      const DType type = node.input(i)->type.dtype, other = first.emplace(want->type, type).first->second;
      for (const DType wide : {DType::f16, DType::f32, DType::f64})
        if (type != other && !out.contains(want->type) && holds(wide, type) && holds(wide, other) && takes(*want, wide)) out[want->type] = wide;
    }
  }

  /// Parameters whose inputs are of a type that this form does not take, and what they become; nothing where there is no such type.
  std::optional<Chosen> choose(const Node& node, const Schema& schema) const {
    Chosen out;
    choose_common(node, schema, out);
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const Value* v = node.input(i);
      const SchemaValue* want = value_at(schema.inputs, i);
      if (!v || !want || out.contains(want->type) || !kDenseTypes.has(v->type.dtype) || takes(*want, v->type.dtype)) continue;
      for (const auto& [type, wider] : kWider)
        for (const DType wide : wider)
          if (type == v->type.dtype && takes(*want, wide) && !out.contains(want->type)) out[want->type] = wide;
      if (!out.contains(want->type)) return std::nullopt;
    }
    return out;
  }

  Result<Value*> cast(Value* v, DType to, Node* before) {
    Attributes attributes;
    attributes.set("to", static_cast<int64_t>(to));
    Node* made = graph_.add_node(cast_, fmt::format("{}_to_{}", v->name(), name_of(to)), {v}, 1, std::move(attributes), before);
    SV_TRY(infer_types(*made));
    return made->output();
  }

  Status widen(Node& node, Node* next) {
    const std::string_view name = node.op().name;
    if (*node.op().domain || name == "Cast" || name == "CastLike" || has_body(node) || has_container(node)) return {};
    const Schema* schema = schemas_.find("", name, opset_);
    if (!schema) return {};
    const std::optional<Chosen> chosen = choose(node, *schema);
    if (!chosen || chosen->empty()) return {};
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const SchemaValue* want = value_at(schema->inputs, i);
      const auto wide = want && node.input(i) ? chosen->find(want->type) : chosen->end();
      if (wide == chosen->end() || node.input(i)->type.dtype == wide->second) continue;
      SV_ASSIGN(Value * changed, cast(node.input(i), wide->second, &node));
      graph_.set_input(&node, i, changed);
    }
    std::vector<DType> types;
    for (const Value* v : node.outputs()) types.push_back(v->type.dtype);
    SV_TRY(infer_types(node));
    for (size_t i = 0; i < types.size(); ++i) {
      Value* v = node.output(i);
      if (v->type.dtype == types[i]) continue;
      SV_ASSIGN(Value * back, cast(v, types[i], next));
      graph_.replace_uses(v, back);
      graph_.set_input(back->producer(), 0, v);
    }
    return {};
  }

  Graph& graph_;
  const int opset_;
  const OpDef& cast_;
  const OpRegistry& ops_;
  const Schemas& schemas_;
};

}  // namespace

Status widen_young_types(Graph& graph, int opset, const OpRegistry& ops) { return TypeWidener(graph, opset, ops).run(); }

}  // namespace svengine::validate
