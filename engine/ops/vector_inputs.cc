#include "engine/ops/vector_inputs.h"

#include "engine/graph/builder.h"

namespace svengine::ops {
namespace {

struct VectorInputs {
  std::string_view domain, op;
  size_t first, last;
};

/// Found by running every operator with inputs of another rank in ONNX Runtime 1.32.
constexpr VectorInputs kVectorInputs[] = {
    {"", "Compress", 1, 1},           {"", "ConstantOfShape", 0, 0}, {"", "DFT", 2, 2},
    {"", "Expand", 1, 1},             {"", "BlackmanWindow", 0, 0},  {"", "GroupNormalization", 1, 2},
    {"", "HammingWindow", 0, 0},      {"", "HannWindow", 0, 0},      {"", "MelWeightMatrix", 0, 4},
    {"", "NonMaxSuppression", 2, 4},  {"", "Pad", 1, 2},             {"", "Resize", 1, 3},
    {"", "STFT", 1, 1},               {"", "STFT", 3, 3},
    {kMicrosoftDomain, "DynamicQuantizeMatMul", 4, 4},
    {kMicrosoftDomain, "GroupQueryAttention", 5, 5},  // onnxruntime-genai sums its mask to [batch, 1]
    {kMicrosoftDomain, "MatMulIntegerToFloat", 6, 6},
};

Status flatten(CanonicalizeContext& c, size_t slot) {
  Value* input = c.node().input(slot);
  if (input->is_constant()) {
    c.set_input(slot, c.graph().add_constant(input->name(), input->constant().reshaped({input->constant().count()})));
    return {};
  }
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  b.set_node_name(c.node().name() + ".vector");
  c.set_input(slot, b.add("Reshape", {input, b.integers({-1})}));
  return b.status();
}

}  // namespace

Result<std::string> flatten_vector_inputs(CanonicalizeContext& c) {
  Node& node = c.node();
  const std::string_view domain = canonical_domain(node.op().domain), op = node.op().name;
  std::string told;
  for (const VectorInputs& known : kVectorInputs) {
    if (known.op != op || known.domain != domain) continue;
    for (size_t i = known.first; i <= known.last && i < node.inputs().size(); ++i) {
      const Value* input = node.input(i);
      if (!input || !input->type.shape.has_rank() || input->type.shape.rank() < 2) continue;
      told = fmt::format("input {} has shape {} and is read as a vector", i, to_string(input->type.shape));
      SV_TRY(flatten(c, i));
    }
  }
  return told;
}

}  // namespace svengine::ops
