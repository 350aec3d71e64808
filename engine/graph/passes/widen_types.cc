// Nodes of types that their kernels lack are computed in a wider type: Cast, the node, Cast back.
//
//     x: f16 ── Conv ── Transpose ── Relu ── y: f16   becomes   x ── Cast f32 ── Conv ── Transpose ── Relu ── Cast f16 ── y
//
// Between two such nodes float16 and bfloat16 values stay wide, through operators that only move them too: they are rounded where a graph,
// a body or a Cast of the file sees them, or a kernel that reads the narrow type. So a chain is rounded once instead of at every node, does
// not overflow in between, fuses and is laid out as in float32, and a node made of others (ExpandContext) is as exact as one kernel. It is
// what C calls excess precision (FLT_EVAL_METHOD) and what ONNX Runtime does on processors without float16. `round_every_node` keeps to the
// letter of the file instead: every node's result is that of exact operands rounded once. Integers are always rounded: they wrap.
#include <algorithm>
#include <map>
#include <set>

#include "engine/graph/builder.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

struct Wider {
  DType to;
  DTypeSet from;  // types all of whose values `to` holds
};
constexpr DTypeSet kTinyIntegers{DType::i8, DType::u8, DType::i16, DType::u16, DType::i4, DType::u4, DType::i2, DType::u2};
constexpr Wider kWider[] = {  // the cheapest first
    {DType::i32, kTinyIntegers},
    {DType::f32, kTinyIntegers | kNarrowFloatTypes},
    {DType::i64, kTinyIntegers | DTypeSet{DType::i32, DType::u32}},
    {DType::f64, kTinyIntegers | kNarrowFloatTypes | DTypeSet{DType::f32, DType::i32, DType::u32}},
};

constexpr DTypeSet kStayWide{DType::f16, DType::bf16};

bool only_moves(const Node& node) {
  const OpTraits& traits = node.op().traits;
  return traits.is_view || (traits.moves_elements && traits.moves_elements(node));
}

/// Attributes that say what type the outputs are.
constexpr const char* kTypeAttributes[] = {"dtype", "output_dtype", "output_datatype", "mask_type"};

class WidenTypes {
 public:
  WidenTypes(Graph& graph, const PassContext& context, bool round_every_node)
      : graph_(graph), context_(context), round_every_node_(round_every_node) {}

  /// `next` is the node behind this one, or null.
  Status widen(Node* node, Node* next) {
    note_constants(*node);
    if (types_to_widen(*node).empty()) return move_wide(node, next);
    std::vector<DType> wanted;
    for (const Value* v : node->outputs()) wanted.push_back(v->type.dtype);
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* v = node->input(i);
      if (!v || !types_to_widen(*node).has(v->type.dtype)) continue;
      SV_ASSIGN(const DType wider, wider_type(*node, v->type.dtype));
      SV_ASSIGN(Value * wide, cast_input(v, wider, node));
      graph_.set_input(node, i, wide);
    }
    SV_TRY(widen_attributes(*node));
    return cast_outputs(*node, wanted, next);
  }

  /// Roundings that nothing reads would be users of the values they round, which fusions ask for.
  void remove_unread() {
    for (Node* cast : roundings_)
      if (cast->output()->users().empty() && !graph_.is_output(cast->output())) graph_.erase(cast);
  }

 private:
  /// What moves values that are there in a wider type moves those.
  Status move_wide(Node* node, Node* next) {
    if (round_every_node_ || node->outputs().empty() || !node->output(0) || !kStayWide.has(node->output(0)->type.dtype)) return {};
    const DType narrow = node->output(0)->type.dtype;
    if (node->op().traits.is_identity && node->op().traits.is_identity(*node)) {
      const auto known = wide_.find({node->input(0), DType::f32});
      if (known != wide_.end()) wide_[{node->output(0), DType::f32}] = known->second;
      return {};
    }
    if (!only_moves(*node)) return {};
    bool any = false;
    for (const Value* v : node->inputs()) {
      if (!v || v->type.dtype != narrow || is_from_constants(v)) continue;
      if (!wide_.contains({v, DType::f32})) return {};
      any = true;
    }
    if (!any) return {};
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      if (!node->input(i) || node->input(i)->type.dtype != narrow) continue;
      SV_ASSIGN(Value * wide, cast_input(node->input(i), DType::f32, node));
      graph_.set_input(node, i, wide);
    }
    const std::vector<DType> wanted(node->outputs().size(), narrow);
    SV_TRY(infer_types(*node));
    return cast_outputs(*node, wanted, next);
  }

  bool is_from_constants(const Value* v) const { return !v || v->is_constant() || folds_.contains(v); }

  void note_constants(const Node& node) {
    const bool folds = std::all_of(node.inputs().begin(), node.inputs().end(), [&](const Value* v) { return is_from_constants(v); });
    if (folds && !node.inputs().empty()) folds_.insert(node.outputs().begin(), node.outputs().end());
  }

  Status cast_outputs(Node& node, const std::vector<DType>& wanted, Node* before) {
    for (size_t i = 0; i < wanted.size(); ++i)
      if (Value* v = node.output(i); v && v->type.dtype != wanted[i]) SV_TRY(cast_output(v, wanted[i], before));
    return {};
  }

  static Result<DType> wider_type(const Node& node, DType type) {
    const DTypeSet kernels = node.op().kernel_types_of ? node.op().kernel_types_of(node) : node.op().kernel_types;
    for (const Wider& w : kWider)
      if (w.from.has(type) && kernels.has(w.to)) return w.to;
    return error("{}: nothing computes it in {}", describe(node), name_of(type));
  }

  /// Types that outputs have by an attribute and no input.
  static Status widen_attributes(Node& node) {
    SV_TRY(infer_types(node));
    for (const DType type : {DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f8e8m0,
                             DType::f4e2m1, DType::i8, DType::u8, DType::i16, DType::u16, DType::u32, DType::i32}) {
      if (!types_to_widen(node).has(type)) continue;
      SV_ASSIGN(const DType wider, wider_type(node, type));
      for (const char* name : kTypeAttributes)
        if (node.attributes.get_int(name) == static_cast<int64_t>(type)) node.attributes.set(name, static_cast<int64_t>(wider));
      SV_TRY(infer_types(node));
    }
    if (types_to_widen(node).empty()) return {};
    for (const Value* v : node.outputs())
      if (types_to_widen(node).has(v->type.dtype)) return error("{}: nothing computes it in {}", describe(node), name_of(v->type.dtype));
    return error("{}: nothing computes it in its inputs' types", describe(node));
  }

  Result<Node*> cast(Value* value, DType to, const char* suffix, Node* before) {
    Node* node = graph_.add_node(*context_.ops.find("", "Cast"), value->name() + suffix, {value}, 1,
                                 make_attributes({{"to", static_cast<int64_t>(to)}}), before);
    SV_TRY(infer_types(*node));
    return node;
  }

  /// A constant is converted at once, whatever its size: inference may have to know its value.
  Result<Value*> cast_input(Value* value, DType to, Node* before) {
    Value*& known = wide_[{value, to}];
    if (known) return known;
    SV_ASSIGN(Node * node, cast(value, to, ".wide", before));
    Value* wide = known = node->output();
    if (value->is_constant() && context_.evaluate) {
      SV_ASSIGN(std::vector<Tensor> result, context_.evaluate(*node));
      graph_.make_constant(wide, std::move(result[0]));
      graph_.erase(node);
    }
    return wide;
  }

  Status cast_output(Value* value, DType to, Node* before) {
    SV_ASSIGN(Node * node, cast(value, to, ".narrow", before));
    graph_.replace_uses(value, node->output());
    graph_.set_input(node, 0, value);
    roundings_.push_back(node);
    if (folds_.contains(value)) folds_.insert(node->output());
    if (!round_every_node_ && kStayWide.has(to)) wide_[{node->output(), value->type.dtype}] = value;
    return {};
  }

  Graph& graph_;
  const PassContext& context_;
  bool round_every_node_;
  std::map<std::pair<const Value*, DType>, Value*> wide_;  // the same values in a wider type
  std::set<const Value*> folds_;                           // computed from constants alone: pass `fold` comes later
  std::vector<Node*> roundings_;                           // Casts behind nodes
};

Status widen_nodes(Graph& graph, const PassContext& context, bool round_every_node) {
  WidenTypes pass(graph, context, round_every_node);
  const std::vector<Node*> nodes = graph.snapshot();
  for (size_t i = 0; i < nodes.size(); ++i) SV_TRY(pass.widen(nodes[i], i + 1 < nodes.size() ? nodes[i + 1] : nullptr));
  pass.remove_unread();
  return {};
}

}  // namespace

Status widen_types(Graph& graph, const PassContext& context) { return widen_nodes(graph, context, false); }
Status round_every_node(Graph& graph, const PassContext& context) { return widen_nodes(graph, context, true); }

}  // namespace svengine
