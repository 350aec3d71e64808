// Nodes of types that their kernels lack are computed in a wider type: Cast, the node, Cast back.
//
//     x: f16 ── Conv ── Relu ── y: f16   becomes   x ── Cast f32 ── Conv ── Cast f16 ── Cast f32 ── Relu ── Cast f16 ── y
//
// The wider type holds every value of the narrow one, so each node's result is that of exact operands rounded once, which is the best
// that the specification allows. The pair of Casts between two such nodes stays: it is where the first one's result is rounded to the
// type the file gives it. Without it, results would depend on which neighbours have kernels of their own, and on fusion.
#include <map>

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

/// Attributes that say what type the outputs are.
constexpr const char* kTypeAttributes[] = {"dtype", "output_dtype", "output_datatype", "mask_type"};

class WidenTypes {
 public:
  WidenTypes(Graph& graph, const PassContext& context) : graph_(graph), context_(context) {}

  /// `next` is the node behind this one, or null.
  Status widen(Node* node, Node* next) {
    if (types_to_widen(*node).empty()) return {};
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
    for (size_t i = 0; i < wanted.size(); ++i)
      if (Value* v = node->output(i); v->type.dtype != wanted[i]) SV_TRY(cast_output(v, wanted[i], next));
    return {};
  }

 private:
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
    if (value->is_constant()) {
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
    return {};
  }

  Graph& graph_;
  const PassContext& context_;
  std::map<std::pair<const Value*, DType>, Value*> wide_;
};

}  // namespace

Status widen_types(Graph& graph, const PassContext& context) {
  WidenTypes pass(graph, context);
  const std::vector<Node*> nodes = graph.snapshot();
  for (size_t i = 0; i < nodes.size(); ++i) SV_TRY(pass.widen(nodes[i], i + 1 < nodes.size() ? nodes[i + 1] : nullptr));
  return {};
}

}  // namespace svengine
