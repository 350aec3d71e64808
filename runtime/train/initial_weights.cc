#include "runtime/train/initial_weights.h"

#include <algorithm>
#include <string_view>

#include "engine/base/initializer.h"
#include "engine/graph/op_def.h"

namespace svengine {
namespace {

constexpr double kEmbeddingDeviation = 0.02;  // BERT's, arXiv 1810.04805's code

/// What is known of a weight that is input `slot` of `node`.
Result<Initializer> initializer_for(const Node& node, size_t slot, int64_t rank) {
  const std::string_view op = *node.op().domain ? std::string_view() : node.op().name;
  if (op == "Conv" || op == "ConvTranspose")
    return slot == 1 ? Initializer::kaiming_normal(1.4142135623730951, Initializer::Fan::out) : Initializer::constant(0);
  if ((op == "Gemm" && slot < 2) || op == "MatMul") {
    if (rank < 2) return Initializer::constant(0);
    Initializer how = Initializer::xavier_uniform();
    const bool transposed = op == "Gemm" && node.attributes.get_int("transB") != 0;
    how.layout = transposed ? WeightLayout::output_first : WeightLayout::input_first;
    return how;
  }
  if (op == "Gather" && slot == 0) return Initializer::normal(0, kEmbeddingDeviation);
  if (op == "BatchNormalization") return Initializer::constant(slot == 1 || slot == 4 ? 1 : 0);
  if (op == "LayerNormalization" || op == "InstanceNormalization") return Initializer::constant(slot == 1 ? 1 : 0);
  if (op == "Add" || op == "Sub" || op == "Gemm")
    return rank < 2 ? Initializer::constant(0) : Initializer::normal(0, kEmbeddingDeviation);
  if (op == "Mul") return Initializer::constant(1);
  if (op == "PRelu") return Initializer::constant(0.25);
  return error("no first value is known for input {} of {}; freeze it, or train from the values it has", slot, describe(node));
}

/// The node that computes with it: exporters put shape-changing operators in between.
const Node* first_use(const Value& value, const Value** used) {
  *used = &value;
  for (const Value* v = &value; !v->users().empty(); v = *used) {
    const Node* user = v->users().front();
    const std::string_view op = user->op().name;
    if (op != "Transpose" && op != "Reshape" && op != "Unsqueeze" && op != "Squeeze" && op != "Identity" && op != "Expand")
      return user;
    *used = user->output();
  }
  return nullptr;
}

}  // namespace

Result<MutableTensor> initial_value(const Value& constant, const RandomStream& stream) {
  const Value* used = nullptr;
  const Node* node = first_use(constant, &used);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(constant.type.dtype, constant.constant().dims()));
  if (!node) return constant.constant().aligned_copy();
  const auto& inputs = node->inputs();
  const auto slot = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), used) - inputs.begin());
  Result<Initializer> how = initializer_for(*node, slot, constant.type.shape.rank());
  if (!how.ok()) return std::move(how).error().in(fmt::format("'{}'", constant.name()));
  // A product with a transposed weight: PyTorch's Linear, as exported without folding.
  if (used != &constant && used->producer()->op().name == std::string_view("Transpose")) how->layout = WeightLayout::output_first;
  if (Status status = initialize(*how, stream.at(constant.name()), out); !status.ok())
    return std::move(status).error().in(fmt::format("'{}'", constant.name()));
  return out;
}

}  // namespace svengine
