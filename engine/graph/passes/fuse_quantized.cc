// Nodes between DequantizeLinear and QuantizeLinear become operators of integers, of which ONNX Runtime makes the same ones:
//
//   x ─> DequantizeLinear ─┐
//   w ─> DequantizeLinear ─┴> Conv ─> Relu ─> QuantizeLinear ─> y      =>      x, w ─> QLinearConv (bounded) ─> y
//
// The sums are exact, and rounded once where the pattern rounds twice: results may differ by one step of y's scale. Constants that are
// too coarse to be moved into int32 (biases) are none: their step is that of the sums. Nodes that only move elements do so in bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/graph/axes.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/passes/quantized.h"
#include "engine/graph/transposed_node.h"

namespace svengine {
namespace {


/// What lies before a QuantizeLinear: the node that computes, and the bounds that an activation between the two sets.
struct Source {
  Node* node = nullptr;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  std::vector<Node*> between = {};  // Relu, Clip
};

bool take_bounds(const Node& node, Source& source) {
  if (is_op(&node, "Relu")) {
    source.low = std::max(source.low, 0.0);
    return true;
  }
  if (!is_op(&node, "Clip")) return false;
  for (size_t i : {1, 2})
    if (node.input(i) && !scalar_constant(node.input(i))) return false;
  if (node.input(1)) source.low = std::max<double>(source.low, *scalar_constant(node.input(1)));
  if (node.input(2)) source.high = std::min<double>(source.high, *scalar_constant(node.input(2)));
  return true;
}

Source source_of(const Graph& graph, const Node& quantize) {
  Source source;
  for (const Value* v = quantize.input(0);; v = source.between.back()->input(0)) {
    if (!v->producer() || !only_used_once(graph, v)) return {};
    if (!take_bounds(*v->producer(), source)) {
      source.node = v->producer();
      return source;
    }
    source.between.push_back(v->producer());
  }
}

/// The bounds as quantised values, of which the type's own need not be said.
struct Bounds {
  int64_t low, high;
  bool needed;
};

Bounds bounds_of(const Source& source, const QuantizedValue& y) {
  const bool is_signed = y.value->type.dtype == DType::i8;
  const double least = is_signed ? -128 : 0, most = is_signed ? 127 : 255, zero = y.zero ? number_of(y.zero) : 0,
               scale = number_of(y.scale);
  const auto bound = [&](double x) { return static_cast<int64_t>(std::clamp(std::nearbyint(x / scale) + zero, least, most)); };
  const Bounds b{bound(source.low), bound(source.high), false};
  return {b.low, b.high, static_cast<double>(b.low) > least || static_cast<double>(b.high) < most};
}

/// What a rule needs to build the integer node.
struct Place {
  Graph& graph;
  Builder& builder;
  const Source& source;
  const QuantizedValue& y;
  Bounds bounds;
  const Node& node() const { return *source.node; }
};

void append(Place& p, std::vector<Value*>& inputs, const QuantizedValue& q) {
  inputs.insert(inputs.end(), {q.value, q.scale, zero_point_of(p.graph, q)});
}

Value* integer_conv(Place& p) {
  const Node& conv = p.node();
  const auto x = dequantized(conv.input(0)), w = dequantized(conv.input(1));
  if (!x || !w || !x->is_single() || !is_per(*w, 0)) return nullptr;
  Value* bias = conv.input(2) ? integer_bias(p.graph, conv.input(2), *x, *w) : nullptr;
  if (conv.input(2) && !bias) return nullptr;
  std::vector<Value*> inputs;
  append(p, inputs, *x), append(p, inputs, *w);
  inputs.insert(inputs.end(), {p.y.scale, zero_point_of(p.graph, p.y)});
  if (bias) inputs.push_back(bias);
  Attributes attributes = conv.attributes;
  if (p.bounds.needed) attributes.set("low", p.bounds.low), attributes.set("high", p.bounds.high);
  const Node* node = p.builder.node(p.bounds.needed ? kInternalDomain : "", "QLinearConv", std::move(inputs), 1, std::move(attributes));
  return node ? node->output() : nullptr;
}

Value* integer_mat_mul(Place& p) {
  const auto a = dequantized(p.node().input(0)), b = dequantized(p.node().input(1));
  if (!a || !b || !a->is_single() || p.bounds.needed || !(b->is_single() || (b->value->type.shape.rank() == 2 && is_per(*b, 1))))
    return nullptr;
  std::vector<Value*> inputs;
  append(p, inputs, *a), append(p, inputs, *b);
  inputs.insert(inputs.end(), {p.y.scale, zero_point_of(p.graph, p.y)});
  return p.builder.add("QLinearMatMul", std::move(inputs));
}

Value* integer_gemm(Place& p) {
  const Node& gemm = p.node();
  const auto a = dequantized(gemm.input(0)), b = dequantized(gemm.input(1));
  const bool transposed = gemm.attributes.get_int("transB") != 0;
  if (!a || !b || !a->is_single() || !is_per(*b, transposed ? 0 : 1) || p.bounds.needed) return nullptr;
  if (gemm.attributes.get_float("alpha", 1) != 1 || (gemm.input(2) && gemm.attributes.get_float("beta", 1) != 1)) return nullptr;
  Value* bias = gemm.input(2) ? integer_bias(p.graph, gemm.input(2), *a, *b) : nullptr;
  const Shape& y = gemm.output()->type.shape;
  if (gemm.input(2) && (!bias || y.rank() != 2 || !(y[1] == Dim(bias->constant().count())))) return nullptr;
  std::vector<Value*> inputs;
  append(p, inputs, *a), append(p, inputs, *b);
  inputs.insert(inputs.end(), {bias, p.y.scale, zero_point_of(p.graph, p.y)});
  Attributes attributes;
  for (const char* name : {"transA", "transB"}) attributes.set(name, gemm.attributes.get_int(name));
  const Node* node = p.builder.node(kMicrosoftDomain, "QGemm", std::move(inputs), 1, std::move(attributes));
  return node ? node->output() : nullptr;
}

Value* integer_binary(Place& p) {
  const auto a = dequantized(p.node().input(0)), b = dequantized(p.node().input(1));
  if (!a || !b || !a->is_single() || !b->is_single() || p.bounds.needed) return nullptr;
  const DType type = p.y.value->type.dtype;
  if (a->value->type.dtype != type || b->value->type.dtype != type) return nullptr;
  std::vector<Value*> inputs;
  append(p, inputs, *a), append(p, inputs, *b);
  inputs.insert(inputs.end(), {p.y.scale, zero_point_of(p.graph, p.y)});
  const Node* node = p.builder.node(kMicrosoftDomain, is_op(&p.node(), "Add") ? "QLinearAdd" : "QLinearMul", std::move(inputs), 1);
  return node ? node->output() : nullptr;
}

/// The elements of input 0, and no others.
Value* moved_bytes(Place& p) {
  const auto x = dequantized(p.node().input(0));
  if (!x || !x->is_single() || !same_quantization(*x, p.y) || p.bounds.needed) return nullptr;
  std::vector<Value*> inputs = p.node().inputs();
  inputs[0] = x->value;
  return p.builder.add(p.node().op().name, std::move(inputs), p.node().attributes);
}

/// The largest value is the largest byte.
Value* max_pool_of_bytes(Place& p) {
  const Node& pool = p.node();
  const auto x = dequantized(pool.input(0));
  if (!x || !x->is_single() || !same_quantization(*x, p.y) || p.bounds.needed || is_needed(p.graph, pool.output(1))) return nullptr;
  Attributes attributes = pool.attributes;
  attributes.erase("storage_order");  // of the indices, which nobody wants
  const Node* made = p.builder.node(kInternalDomain, "BytesMaxPool", {x->value}, 1, std::move(attributes));
  return made ? made->output() : nullptr;
}

Value* concatenated_bytes(Place& p) {
  std::vector<Value*> inputs;
  for (const Value* input : p.node().inputs()) {
    const auto x = dequantized(input);
    if (!x || !x->is_single() || !same_quantization(*x, p.y) || p.bounds.needed) return nullptr;
    inputs.push_back(x->value);
  }
  return p.builder.add("Concat", std::move(inputs), p.node().attributes);
}

/// The dimensions that a node averages, known, neighbours, and of no negative number; or none.
std::vector<int64_t> averaged_dims(const Node& node) {
  const Shape& x = node.input(0)->type.shape;
  if (!x.has_rank() || x.rank() < 1) return {};
  std::vector<int64_t> axes = every_axis(x.rank());
  if (is_op(&node, "GlobalAveragePool")) {
    axes.erase(axes.begin(), axes.begin() + std::min<std::ptrdiff_t>(2, x.rank()));
    return axes;
  }
  const auto given = node.input(1) ? known_integers(node, 1) : std::vector<int64_t>();
  if (!given || (given->empty() && node.attributes.get_int("noop_with_empty_axes"))) return {};
  if (!given->empty()) {
    const auto normal = normalise_axes(*given, x.rank());
    if (!normal.ok()) return {};
    axes = *normal;
  }
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[0] + static_cast<int64_t>(i)) return {};
  return axes;
}

/// Sums of bytes are exact.
Value* mean_of_bytes(Place& p) {
  const auto x = dequantized(p.node().input(0));
  const std::vector<int64_t> axes = averaged_dims(p.node());
  if (!x || !x->is_single() || axes.empty() || p.bounds.needed || !std::isfinite(number_of(x->scale))) return nullptr;
  std::vector<Value*> inputs;
  append(p, inputs, *x);
  inputs.insert(inputs.end(), {p.y.scale, zero_point_of(p.graph, p.y)});
  const Node* made = p.builder.node(kInternalDomain, "BytesMean", std::move(inputs), 1,
                                    make_attributes({{"axes", axes}, {"keepdims", p.node().attributes.get_int("keepdims", 1)}}));
  return made ? made->output() : nullptr;
}

struct Rule {
  const char* op;
  Value* (*make)(Place&);
};
constexpr Rule kRules[] = {{"Conv", integer_conv},   {"MatMul", integer_mat_mul}, {"Gemm", integer_gemm},       {"Add", integer_binary},
                           {"Mul", integer_binary},  {"Reshape", moved_bytes},    {"Flatten", moved_bytes},     {"Transpose", moved_bytes},
                           {"Squeeze", moved_bytes}, {"Unsqueeze", moved_bytes},  {"Slice", moved_bytes},       {"Gather", moved_bytes},
                           {"Expand", moved_bytes},  {"Tile", moved_bytes},       {"DepthToSpace", moved_bytes},
                           {"MaxPool", max_pool_of_bytes}, {"Concat", concatenated_bytes},
                           {"GlobalAveragePool", mean_of_bytes}, {"ReduceMean", mean_of_bytes}};

/// Nodes whose result nobody takes any more, last first.
void erase_unneeded(Graph& graph, const std::vector<Node*>& nodes) {
  for (Node* node : nodes) {
    const auto needed = [&](const Value* v) { return is_needed(graph, v); };
    if (std::none_of(node->outputs().begin(), node->outputs().end(), needed)) graph.erase(node);
  }
}

}  // namespace

Status fuse_quantized(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    const auto y = quantized(*node);
    if (!y) continue;
    const Source source = source_of(graph, *node);
    const auto* rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return is_op(source.node, r.op); });
    if (!source.node || *source.node->op().domain || rule == std::end(kRules)) continue;
    Builder builder(graph, context.ops);
    builder.set_position(node);
    builder.set_node_name(source.node->name());
    Place place{graph, builder, source, *y, bounds_of(source, *y)};
    Value* made = rule->make(place);
    SV_TRY(builder.status());
    if (!made) continue;
    graph.replace_uses(node->output(), made);
    std::vector<Node*> done{node};
    done.insert(done.end(), source.between.begin(), source.between.end());
    done.push_back(source.node);
    erase_unneeded(graph, done);
  }
  return remove_dead_nodes(graph, context);  // weights that nobody reads as float32 need not be folded into it
}

}  // namespace svengine
