#include <map>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/ops/registry.h"
#include "validate/quantize/quantize.h"

namespace svengine::validate {
namespace {

/// A MatMul, or a Gemm that is one with a bias behind it.
bool is_dynamic_product(const Node& node) {
  const bool plain = is_op(&node, "MatMul") || (is_op(&node, "Gemm") && node.attributes.get_int("transA") == 0 &&
                                                node.attributes.get_float("alpha", 1) == 1 &&
                                                (!node.input(2) || node.attributes.get_float("beta", 1) == 1));
  return plain && !node.input(0)->is_constant() && node.input(1)->is_constant() && node.input(1)->type.shape.rank() == 2;
}

Result<Tensor> transposed(const Tensor& weights) {
  const int64_t rows = weights.dims()[0], columns = weights.dims()[1];
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i8, {columns, rows}));
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) out.raw()[c * rows + r] = weights.raw()[r * columns + c];
  return out;
}

/// The quantised form of a value that products read: made once, before the first of them.
struct DynamicInput {
  Value *value, *scale, *zero;
};

struct DynamicWeights {
  Value *values, *scales, *zero;
};

class DynamicQuantizer {
 public:
  DynamicQuantizer(Graph& graph, bool per_channel) : graph_(graph), builder_(graph, all_ops()), per_channel_(per_channel) {}

  Status replace(Node* product) {
    const bool transpose = is_op(product, "Gemm") && product->attributes.get_int("transB") != 0;
    const std::string name = product->name(), result = product->output()->name();
    builder_.set_position(product);
    SV_ASSIGN(const DynamicWeights w, weights_of(product->input(1), transpose));
    const DynamicInput* input = input_of(product->input(0));
    if (!input) return builder_.status();
    Value* sums = builder_.add("MatMulInteger", {input->value, w.values, input->zero, w.zero}, {}, name + ".integer");
    Value* real = builder_.add("Cast", {sums}, make_attributes({{"to", static_cast<int64_t>(DType::f32)}}), name + ".cast");
    Value* step = builder_.add("Mul", {input->scale, w.scales}, {}, name + ".scales");
    Value* y = builder_.add("Mul", {real, step}, {}, name + ".scaled");
    if (is_op(product, "Gemm") && product->input(2)) y = builder_.add("Add", {y, product->input(2)}, {}, name + ".bias");
    SV_TRY(builder_.status());
    graph_.replace_uses(product->output(), y);
    graph_.erase(product);
    if (y->name() != result) graph_.rename(y, result);
    return {};
  }

 private:
  /// Made once for all products that read the value in this way.
  Result<DynamicWeights> weights_of(const Value* value, bool transpose) {
    const auto found = weights_.find({value, transpose});
    if (found != weights_.end()) return found->second;
    SV_ASSIGN(QuantizedWeights w, quantize_weights(value->constant(), per_channel_ ? (transpose ? 0 : 1) : -1));
    if (transpose) {
      SV_ASSIGN(w.values, transposed(w.values));
    }
    const std::string& name = value->name();
    const Dims columns = w.scales.size() > 1 ? Dims{static_cast<int64_t>(w.scales.size())} : Dims{};
    DynamicWeights out;
    out.values = builder_.constant(w.values, name + ".quantized");
    out.scales = builder_.constant(Tensor::of<float>(columns, std::span<const float>(w.scales)), name + ".scale");
    out.zero = builder_.constant(zero_tensor(0, DType::i8), name + ".zero_point");
    weights_.emplace(std::pair(value, transpose), out);
    return out;
  }

  const DynamicInput* input_of(Value* value) {
    const auto found = inputs_.find(value);
    if (found != inputs_.end()) return &found->second;
    Node* node = builder_.node("", "DynamicQuantizeLinear", {value}, 3, {}, value->name() + ".quantize",
                               {value->name() + ".quantized", value->name() + ".scale", value->name() + ".zero_point"});
    if (!node) return nullptr;
    return &inputs_.emplace(value, DynamicInput{node->output(0), node->output(1), node->output(2)}).first->second;
  }

  Graph& graph_;
  Builder builder_;
  bool per_channel_;
  std::unordered_map<const Value*, DynamicInput> inputs_;
  std::map<std::pair<const Value*, bool>, DynamicWeights> weights_;
};

}  // namespace

Result<QuantizedCounts> quantize_dynamic(Graph& graph, const NodeSelection& nodes, bool per_channel) {
  SV_ASSIGN(const std::vector<Node*> selected, select_nodes(graph, nodes));
  QuantizedCounts counts;
  for (const auto& node : graph.nodes()) counts.left += is_quantizable(*node);
  DynamicQuantizer quantizer(graph, per_channel);
  for (Node* node : selected) {
    if (!is_dynamic_product(*node)) continue;
    const std::string what = describe(*node);
    Status status = quantizer.replace(node);
    if (!status.ok()) return std::move(status).error().in(what);
    ++counts.products, --counts.left;
  }
  if (counts.products == 0) return error("no MatMul or Gemm with constant weights is left to quantise");
  graph.erase_unused_constants();
  return counts;
}

}  // namespace svengine::validate
