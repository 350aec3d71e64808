// Weights of 4 or 2 bits with a scale for each block of their rows stay as they are, where `fold` would make floats of them:
//
//   w [K, N] of uint4 ─> DequantizeLinear(axis 0, block_size) ─> MatMul(x, ·)      =>      x ─> NBitsMatMul(levels, scales, zeros)
//
// What ONNX Runtime's and Olive's 4-bit quantisers write as QDQ. Signed values become levels by 2^(bits - 1), as their zero points do.
#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/base/narrow_float.h"
#include "engine/graph/builder.h"
#include "engine/graph/op_def.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr DTypeSet kSignedBits{DType::i4, DType::i2}, kLevelTypes = kSignedBits | DTypeSet{DType::u4, DType::u2};

struct BlockedWeights {
  int64_t k, n, block, blocks;
  int64_t bits;
  int levels_offset;  // of signed values
};

bool is_matrix(const Value* v, DTypeSet types) { return v && v->is_constant() && types.has(v->type.dtype) && v->type.shape.rank() == 2; }

std::optional<BlockedWeights> blocked_weights(const Node& node) {
  const Value *x = node.input(0), *scale = node.input(1), *zero = node.input(2);
  if (!is_matrix(x, kLevelTypes) || !is_matrix(scale, {DType::f32}) || node.output()->type.dtype != DType::f32) return std::nullopt;
  const int64_t axis = node.attributes.get_int("axis", 1), block = node.attributes.get_int("block_size");
  if ((axis != 0 && axis != -2) || block < 16 || (block & (block - 1)) != 0) return std::nullopt;
  const Dims dims = *x->type.shape.concrete(), scales = *scale->type.shape.concrete();
  if (dims[0] < 1 || dims[1] < 1 || scales != Dims{(dims[0] - 1) / block + 1, dims[1]}) return std::nullopt;
  if (zero && (!is_matrix(zero, {x->type.dtype}) || *zero->type.shape.concrete() != scales)) return std::nullopt;
  const int bits = packed_bits(x->type.dtype);
  return BlockedWeights{dims[0], dims[1], block, scales[0], bits, kSignedBits.has(x->type.dtype) ? 1 << (bits - 1) : 0};
}

/// Only products read the weights, as what they multiply by.
bool is_for_products(const Graph& graph, const Value* weights) {
  if (graph.is_output(weights) || weights->users().empty()) return false;
  for (const Node* user : weights->users())
    if (!is_op(user, "MatMul") || user->input(0) == weights || user->input(0)->type.dtype != DType::f32) return false;
  return true;
}

/// Number i of a row gets `level`; the row is 0.
void put_level(std::byte* row, int64_t i, int64_t bits, int level) {
  row[i * bits / 8] |= static_cast<std::byte>((level & ((1 << bits) - 1)) << (i * bits % 8));
}

/// values [rows, n], each of a byte, as [n][row_bytes] with the rows' levels side by side.
Result<Tensor> transposed_levels(const Tensor& values, Dims dims, int64_t row_bytes, const BlockedWeights& w) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::u8, std::move(dims)));
  std::fill_n(out.raw(), out.count(), std::byte{0});
  constexpr int64_t kColumns = 64;  // whose bytes stay in the first-level cache
  const int64_t rows = values.count() / w.n;
  for (int64_t first = 0; first < w.n; first += kColumns)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = first; c < std::min(w.n, first + kColumns); ++c)
        put_level(out.raw() + c * row_bytes, r, w.bits, static_cast<int8_t>(values.raw()[r * w.n + c]) + w.levels_offset);
  return Tensor(out);
}

Result<Tensor> transposed_scales(const Tensor& scales, const BlockedWeights& w) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, {w.n, w.blocks}));
  for (int64_t b = 0; b < w.blocks; ++b)
    for (int64_t c = 0; c < w.n; ++c) std::memcpy(out.raw() + (c * w.blocks + b) * 4, scales.raw() + (b * w.n + c) * 4, 4);
  return Tensor(out);
}

/// Zero points, null where they are the middle of the levels: signed values have 0 unless the node says otherwise, unsigned ones too.
Result<Value*> zeros_of(Graph& graph, const Node& node, const BlockedWeights& w) {
  if (!node.input(2) && w.levels_offset != 0) return static_cast<Value*>(nullptr);
  const int64_t bytes = (w.blocks * w.bits + 7) / 8;
  if (node.input(2)) {
    SV_ASSIGN(Tensor zeros, transposed_levels(node.input(2)->constant(), {w.n, bytes}, bytes, w));
    return graph.add_constant("zeros", std::move(zeros));
  }
  SV_ASSIGN(MutableTensor zeros, Tensor::allocate(DType::u8, {w.n, bytes}));
  std::fill_n(zeros.raw(), zeros.count(), std::byte{0});
  return graph.add_constant("zeros", Tensor(zeros));
}

Status keep_levels(Graph& graph, const PassContext& context, const Node& node, const BlockedWeights& w) {
  const int64_t block_bytes = w.block * w.bits / 8;
  SV_ASSIGN(Tensor levels, transposed_levels(node.input(0)->constant(), {w.n, w.blocks, block_bytes}, w.blocks * block_bytes, w));
  SV_ASSIGN(Tensor scales, transposed_scales(node.input(1)->constant(), w));
  SV_ASSIGN(Value * zeros, zeros_of(graph, node, w));
  Value *b = graph.add_constant("levels", std::move(levels)), *s = graph.add_constant("scales", std::move(scales));
  const std::vector<Node*> products(node.output()->users().begin(), node.output()->users().end());
  for (Node* product : products) {
    Builder builder(graph, context.ops);
    builder.set_node_name(product->name());
    builder.set_position(product);
    const Node* made = builder.node(kInternalDomain, "NBitsMatMul", {product->input(0), b, s, zeros}, 1,
                                    make_attributes({{"K", w.k}, {"N", w.n}, {"bits", w.bits}, {"block_size", w.block}}));
    SV_TRY(builder.status());
    graph.replace_uses(product->output(), made->output());
    graph.erase(product);
  }
  return {};
}

}  // namespace

Status fuse_n_bits(Graph& graph, const PassContext& context) {
  std::vector<Node*> weights = graph.snapshot();  // alone: the products go
  std::erase_if(weights, [](const Node* node) { return !is_op(node, "DequantizeLinear"); });
  for (const Node* node : weights) {
    if (!is_for_products(graph, node->output())) continue;
    if (const auto w = blocked_weights(*node)) SV_TRY(keep_levels(graph, context, *node, *w));
  }
  return remove_dead_nodes(graph, context);
}

}  // namespace svengine
