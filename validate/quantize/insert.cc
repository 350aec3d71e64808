#include "validate/quantize/insert.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/ops/registry.h"
#include "importers/io/names.h"

namespace svengine::validate {
namespace {

/// What the products that share weights read.
struct SharedWeights {
  Value* dequantized = nullptr;
  std::vector<float> scales;
};

class Inserter {
 public:
  Inserter(Graph& graph, const InsertOptions& options) : graph_(graph), builder_(graph, all_ops()), options_(options) {
    for (const auto& node : graph.nodes()) names_.insert(node->name());
  }

  Status run(const Scheme& scheme, const std::unordered_map<std::string, Range>& ranges) {
    SV_TRY(find_parameters(scheme, ranges));
    for (Node* product : scheme.products) {
      Status status = quantize_constants(product);
      if (!status.ok()) return std::move(status).error().in(describe(*product));
    }
    quantize_values();
    SV_TRY(builder_.status());
    graph_.erase_unused_constants();
    return {};
  }

 private:
  Status find_parameters(const Scheme& scheme, const std::unordered_map<std::string, Range>& ranges) {
    for (const std::vector<Value*>& group : scheme.groups) {
      Range all{};
      for (const Value* value : group) {
        const auto found = ranges.find(value->name());
        if (found == ranges.end()) return error("there is no range of value '{}'", printable(value->name()));
        all = union_of(all, found->second);
      }
      const QuantizationParameters p = parameters_for(all, options_.activations);
      for (Value* value : group) parameters_.emplace(value, p);
    }
    return {};
  }

  /// ONNX Runtime wants nodes to have names of their own.
  std::string node_name(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 1; !names_.insert(name).second; ++n) name = fmt::format("{}_{}", wanted, n);
    return name;
  }

  Value* scale_constant(const std::string& name, std::span<const float> scales, bool vector) {
    const auto count = static_cast<int64_t>(scales.size());
    return builder_.constant(Tensor::of<float>(vector ? Dims{count} : Dims{}, scales), name + ".scale");
  }

  Value* zero_constant(const std::string& name, int64_t count, DType type, bool vector) {
    Result<MutableTensor> zeros = Tensor::allocate(type, vector ? Dims{count} : Dims{});
    if (!zeros.ok()) return builder_.note(std::move(zeros).error()), nullptr;
    std::fill_n(zeros->raw(), zeros->byte_size(), std::byte{0});
    return builder_.constant(std::move(*zeros), name + ".zero_point");
  }

  /// DequantizeLinear of a constant by one scale, or by as many as `axis` has indices.
  Value* dequantize(const std::string& name, Tensor values, std::span<const float> scales, int64_t axis) {
    const bool vector = axis >= 0;
    const DType type = values.type();
    Value* scale = scale_constant(name, scales, vector);
    Value* zero = zero_constant(name, static_cast<int64_t>(scales.size()), type, vector);
    return builder_.add("DequantizeLinear", {builder_.constant(std::move(values), name + ".quantized"), scale, zero},
                        vector ? make_attributes({{"axis", axis}}) : Attributes(), node_name(name + ".dequantize"));
  }

  Status quantize_constants(Node* product) {
    builder_.set_position(product);
    const auto input = parameters_.find(product->input(0));
    const Value* bias = is_op(product, "MatMul") ? nullptr : product->input(2);
    const bool quantize_the_bias = bias && bias->is_constant() && bias->type.shape.rank() == 1 && input != parameters_.end() && takes_bias(*product);
    for (size_t slot : {0, 1}) {
      const Value* operand = product->input(slot);
      if (!operand->is_constant()) continue;
      const int64_t axis = slot == 1 && options_.per_channel ? channel_axis(*product) : -1;
      std::vector<double> least;
      if (quantize_the_bias && slot == 1) least = least_scales(bias->constant(), input->second.scale);
      if (axis < 0 && !least.empty()) least = {*std::max_element(least.begin(), least.end())};
      SharedWeights& shared = weights_[{operand, axis}];
      if (!shared.dequantized) {
        SV_ASSIGN(QuantizedWeights w, quantize_weights(operand->constant(), axis, least));
        shared = {dequantize(operand->name(), w.values, w.scales, axis), std::move(w.scales)};
      }
      SV_TRY(builder_.status());
      graph_.set_input(product, slot, shared.dequantized);
      if (slot == 1 && quantize_the_bias) SV_TRY(set_bias(product, bias, input->second.scale, shared.scales));
    }
    return {};
  }

  Status set_bias(Node* product, const Value* bias, float input_scale, std::vector<float> scales) {
    if (scales.size() != 1 && static_cast<int64_t>(scales.size()) != bias->constant().count()) return {};
    SV_ASSIGN(Tensor values, quantize_bias(bias->constant(), input_scale, scales));
    if (!values.defined()) return {};  // a number too large stays real
    for (float& scale : scales) scale *= input_scale;
    const bool vector = scales.size() > 1;
    const std::string name = bias->name();
    graph_.set_input(product, 2, dequantize(name, std::move(values), scales, vector ? 0 : -1));
    return builder_.status();
  }

  /// The bias is added as it stands: its step may be that of the sums.
  static bool takes_bias(const Node& product) {
    return !is_op(&product, "Gemm") || (product.attributes.get_float("alpha", 1) == 1 && product.attributes.get_float("beta", 1) == 1);
  }

  /// Behind each value, before whatever reads it.
  void quantize_values() {
    const std::vector<Value*> inputs = graph_.inputs();
    const std::vector<Node*> nodes = graph_.snapshot();
    builder_.set_position(nodes.empty() ? nullptr : nodes[0]);
    for (Value* input : inputs) quantize_value(input);
    for (size_t i = 0; i < nodes.size(); ++i) {
      builder_.set_position(i + 1 < nodes.size() ? nodes[i + 1] : nullptr);
      const std::vector<Value*> outputs = nodes[i]->outputs();
      for (Value* output : outputs)
        if (output) quantize_value(output);
    }
  }

  void quantize_value(Value* value) {
    const auto found = parameters_.find(value);
    if (found == parameters_.end()) return;
    const auto [scale, zero] = found->second;
    const std::string name = value->name();
    Value* scales = scale_constant(name, {&scale, 1}, false);
    Value* zeros = builder_.constant(zero_tensor(zero, options_.activations), name + ".zero_point");
    const std::vector<Value*> none;
    Node* quantize = builder_.node("", "QuantizeLinear", {value, scales, zeros}, 1, {}, node_name(name + ".quantize"), {name + ".quantized"});
    if (!quantize) return;
    Node* dequantize =
        builder_.node("", "DequantizeLinear", {quantize->output(), scales, zeros}, 1, {}, node_name(name + ".dequantize"), {name + ".dequantized"});
    if (!dequantize) return;
    if (value->is_input()) return read_instead(value, quantize, dequantize->output());
    graph_.replace_uses(value, dequantize->output());
    graph_.set_input(quantize, 0, value);
    graph_.rename(value, name + ".real");
    graph_.rename(dequantize->output(), name);
  }

  /// An input keeps its name, and its place where it is an output as well.
  void read_instead(Value* input, const Node* quantize, Value* dequantized) {
    const std::vector<Node*> users = input->users();
    for (Node* user : users)
      for (size_t i = 0; user != quantize && i < user->inputs().size(); ++i)
        if (user->input(i) == input) graph_.set_input(user, i, dequantized);
  }

  Graph& graph_;
  Builder builder_;
  const InsertOptions& options_;
  std::unordered_map<const Value*, QuantizationParameters> parameters_;
  std::map<std::pair<const Value*, int64_t>, SharedWeights> weights_;  // by value and axis
  std::unordered_set<std::string> names_;                              // of nodes
};

}  // namespace

int64_t channel_axis(const Node& product) {
  const int64_t rank = product.input(1)->type.shape.rank();
  if (is_op(&product, "Conv")) return 0;
  if (is_op(&product, "ConvTranspose")) return product.attributes.get_int("group", 1) == 1 ? 1 : -1;
  if (is_op(&product, "Gemm")) return product.attributes.get_int("transB") ? 0 : 1;
  return rank == 2 ? 1 : -1;
}

Status insert_quantization(Graph& graph, const Scheme& scheme, const std::unordered_map<std::string, Range>& ranges, const InsertOptions& options) {
  return Inserter(graph, options).run(scheme, ranges);
}

}  // namespace svengine::validate
