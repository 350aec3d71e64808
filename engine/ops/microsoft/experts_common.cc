#include "engine/ops/microsoft/experts_common.h"

namespace svengine::ops {
namespace {

/// Inputs by which of fc1, fc2, fc3.
constexpr size_t kPacked[] = {2, 5, 8}, kPackedScales[] = {3, 6, 9}, kPackedZeros[] = {11, 12, 13};
constexpr size_t kFloat4Scales = 15;  // and behind it: scales of quant_types other than int

int64_t bits_of(const Attributes& a, size_t which) {
  const std::string name = fmt::format("fc{}_expert_weight_bits", which + 1);
  return a.get_int(name, a.get_int("expert_weight_bits", 4));
}

}  // namespace

Status check_expert_bits(const Node& node) {
  const Attributes& a = node.attributes;
  if (a.get_string("quant_type", "int") != "int") return unimplemented("quant_type is '{}', only int is supported", a.get_string("quant_type"));
  if (const int64_t packed = a.get_int("weights_prepacked", -1); packed > 0)
    return unimplemented("weights_prepacked is {}: only weights in the order of the specification are read", packed);
  for (size_t i = kFloat4Scales; i < node.inputs().size(); ++i)
    if (node.input(i)) return unimplemented("input {} (scales of a whole weight, or of activations) is not supported", i);
  const int64_t block = a.get_int("block_size", 0);
  if (a.has("block_size") && (block < 1 || block > int64_t{1} << 20)) return error("block_size is {}, needs 1 or more", block);
  for (size_t i = 0; i < 3; ++i) {
    const int64_t bits = bits_of(a, i);
    if (bits != 2 && bits != 4 && bits != 8) return error("weights of {} bits, must be 2, 4 or 8", bits);
    if (!node.input(kPacked[i])) continue;
    const Value *scale = node.input(kPackedScales[i]), *zero = node.input(kPackedZeros[i]);
    const DType type = node.input(0)->type.dtype;
    if (!scale) return error("fc{}_scales are absent", i + 1);
    if (scale->type.dtype != type && scale->type.dtype != DType::f32)
      return error("fc{}_scales are {}, must be {} as the input is", i + 1, name_of(scale->type.dtype), name_of(type));
    if (zero && zero->type.dtype != DType::u8) return error("fc{}_zero_points are {}, must be uint8", i + 1, name_of(zero->type.dtype));
  }
  return {};
}

Result<Value*> float_expert_weights(ExpandContext& c, size_t which) {
  Value *bytes = c.input(kPacked[which]), *scale = c.input(kPackedScales[which]), *zero = c.input(kPackedZeros[which]);
  if (!scale->type.shape.is_static() || (zero && !zero->type.shape.is_static())) return static_cast<Value*>(nullptr);
  const int64_t bits = bits_of(c.attributes(), which), block = c.attributes().get_int("block_size", 0);
  Dims dims = *bytes->type.shape.concrete();
  dims[2] *= 8 / bits;
  if (block > 0 && dims[2] % block != 0)
    return error("fc{}'s rows of {} weights are no multiple of the block_size {}", which + 1, dims[2], block);
  const int64_t blocks = block > 0 ? dims[2] / block : 1;
  const Dims wanted = block > 0 ? Dims{dims[0], dims[1], blocks} : Dims{dims[0], dims[1]};
  if (*scale->type.shape.concrete() != wanted)
    return error("fc{}_scales {} need the shape {}", which + 1, to_string(scale->type.shape), to_string(wanted));
  const DType type = DType::f32;
  const int64_t each = 8 / bits;
  Value *q = c.cast(unpacked_bytes(c, bytes, each, bytes->type.shape.back().value() * each), type),
        *offset = c.number(static_cast<double>(1 << (bits - 1)), type);
  if (zero) {
    const int64_t packed = (wanted.back() * bits + 7) / 8;
    Dims zeros = wanted;
    zeros.back() = packed;
    if (*zero->type.shape.concrete() != zeros)
      return error("fc{}_zero_points {} need the shape {}", which + 1, to_string(zero->type.shape), to_string(zeros));
    offset = c.reshape(c.cast(unpacked_bytes(c, zero, each, wanted.back()), type), {dims[0], dims[1], blocks, 1});
  }
  Value* grouped = c.reshape(q, {dims[0], dims[1], blocks, dims[2] / blocks});
  Value* factor = c.reshape(c.cast(scale, type), {dims[0], dims[1], blocks, 1});
  Value* weights = c.op("Mul", {c.op("Sub", {grouped, offset}), factor});
  return c.cast(c.reshape(weights, {dims[0], dims[1], dims[2]}), c.dtype(0));
}

}  // namespace svengine::ops
