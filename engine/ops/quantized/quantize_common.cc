#include "engine/ops/quantized/quantize_common.h"

#include "engine/base/round.h"
#include "engine/graph/axes.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRowOfOne = 1 << 14;  // elements of a row where all have one scale
constexpr int64_t kTaskElements = 1 << 14;

Status check_scale_shape(InferContext& c, const Shape& data, const Shape& scale) {
  const int64_t block = c.attributes().get_int("block_size");
  if (block < 0) return error("block_size is {}, needs 0 (none) or more", block);
  if (block == 0) {
    if (scale.rank() > 1) return error("the scale has shape {}; without block_size it has rank 0 or 1", to_string(scale));
    // One scale for all has no axis, whatever number the attribute is; a scale of unknown length may be that.
    if (scale.rank() == 0 || !data.has_rank() || !scale[0].is_static() || scale[0].value() == 1) return {};
    SV_ASSIGN(const int64_t axis, normalise_axis(data.rank() == 1 ? 0 : c.attributes().get_int("axis", 1), data.rank()));
    if (known_different(scale[0], data[static_cast<size_t>(axis)]))
      return error("the scale has {} elements, axis {} of {} has {}", scale[0].value(), axis, to_string(data),
                   data[static_cast<size_t>(axis)].value());
    return {};
  }
  if (!data.has_rank()) return {};
  if (scale.rank() != data.rank()) return error("block_size needs a scale of the data's rank {}, it has shape {}", data.rank(), to_string(scale));
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", 1), data.rank()));
  for (size_t i = 0; i < scale.dims().size(); ++i) {
    const bool along = static_cast<int64_t>(i) == axis;
    const Dim wanted = !along ? data[i] : data[i].is_static() ? Dim(ceil_div(data[i].value(), block)) : Dim();
    if (known_different(scale[i], wanted))
      return error("the scale has shape {}; blocks of {} along axis {} of {} need {} in dimension {}", to_string(scale), block, axis, to_string(data),
                   wanted.value(), i);
  }
  return {};
}

}  // namespace

Status check_granularity(InferContext& c) {
  const Shape& scale = c.shape(1);
  if (scale.has_rank()) SV_TRY(check_scale_shape(c, c.shape(0), scale));
  if (!c.has_input(2)) return {};
  const Shape& zero = c.shape(2);
  if (!zero.has_rank() || !scale.has_rank()) return {};
  const auto may_be_single = [](const Shape& s) { return s.rank() == 0 || (s.rank() == 1 && !known_different(s[0], 1)); };
  if (may_be_single(zero) && may_be_single(scale)) return {};
  bool same = zero.rank() == scale.rank();
  for (size_t i = 0; same && i < zero.dims().size(); ++i) same = !known_different(zero[i], scale[i]);
  if (!same) return error("the zero point has shape {}, the scale {}; needs one shape", to_string(zero), to_string(scale));
  return {};
}

std::optional<TransposedNode> transposed_quantization(const Node& node, const Permutation& perm) {
  const Shape& scale = node.input(1)->type.shape;
  const bool blocks = node.attributes.get_int("block_size") != 0;
  if (!scale.is_static()) return std::nullopt;
  TransposedNode out{.inputs = {perm}, .outputs = {perm}, .attributes = node.attributes};
  out.inputs.resize(node.inputs().size());
  for (size_t i = 1; blocks && i < out.inputs.size(); ++i)
    if (node.input(i)) out.inputs[i] = perm;
  if (!blocks && element_count(*scale.concrete()) == 1) return out;
  const auto axis = stored_axes({perm.size() == 1 && !blocks ? 0 : node.attributes.get_int("axis", 1)}, perm);
  if (!axis) return std::nullopt;
  out.attributes.set("axis", axis->front());
  return out;
}

QuantizedRows::QuantizedRows(const Dims& data, const Dims& scale, int64_t axis, int64_t block_size) {
  total_ = element_count(data);
  if (element_count(scale) == 1 && block_size == 0) {
    count_ = ceil_div(total_, kRowOfOne);
    return;
  }
  const auto at = data.begin() + axis;
  int64_t outer = 1;
  for (auto d = data.begin(); d != at; ++d) outer *= *d;
  along_ = *at;
  for (auto d = at + 1; d != data.end(); ++d) inner_ *= *d;
  if (total_ == 0) return;
  if (block_size > 0) {
    block_ = block_size;
    blocks_ = ceil_div(along_, block_size);
    kind_ = inner_ == 1 ? Kind::last_blocks : Kind::blocks;
    count_ = outer * (inner_ == 1 ? blocks_ : along_);
    return;
  }
  kind_ = inner_ == 1 ? Kind::last_axis : Kind::axis;
  count_ = inner_ == 1 ? outer : outer * along_;
}

QuantizedRow QuantizedRows::row(int64_t i) const {
  switch (kind_) {
    case Kind::one: return {i * kRowOfOne, std::min(kRowOfOne, total_ - i * kRowOfOne), 0, 0};
    case Kind::axis: return {i * inner_, inner_, i % along_, 0};
    case Kind::last_axis: return {i * along_, along_, 0, 1};
    case Kind::blocks: return {i * inner_, inner_, (i / along_ * blocks_ + i % along_ / block_) * inner_, 1};
    case Kind::last_blocks: break;
  }
  const int64_t first = i % blocks_ * block_;
  return {i / blocks_ * along_ + first, std::min(block_, along_ - first), i, 0};
}

int64_t QuantizedRows::rows_per_task() const { return std::max<int64_t>(1, count_ * kTaskElements / std::max<int64_t>(total_, 1)); }

Result<QuantizedRows> rows_of(LowerContext& c) {
  const Dims data = c.in_dims(0), scale = c.in_dims(1);
  const int64_t block = c.attributes().get_int("block_size");
  int64_t axis = 0;
  if (element_count(scale) != 1 || block > 0) {
    const bool plain_vector = data.size() == 1 && block == 0;
    SV_ASSIGN(axis, normalise_axis(plain_vector ? 0 : c.attributes().get_int("axis", 1), static_cast<int64_t>(data.size())));
  }
  return QuantizedRows(data, scale, axis, block);
}

std::optional<kernels::QuantizedType> kernel_type(DType type) {
  using kernels::QuantizedType;
  switch (type) {
    case DType::u8: case DType::u4: case DType::u2: return QuantizedType::kUint8;
    case DType::i8: case DType::i4: case DType::i2: return QuantizedType::kInt8;
    case DType::u16: return QuantizedType::kUint16;
    case DType::i16: return QuantizedType::kInt16;
    case DType::i32: return QuantizedType::kInt32;
    default: return std::nullopt;
  }
}

}  // namespace svengine::ops
