#include "engine/ops/tensor/scatter_common.h"

#include <algorithm>

#include "engine/kernels/data.h"
#include "engine/ops/element.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

using kernels::ScatterOp;

constexpr DTypeSet kComputedTypes{DType::f32, DType::f64, DType::i32, DType::i64, DType::u64};

std::optional<ScatterOp> scatter_reduction(const Attributes& attributes) {
  static constexpr std::pair<const char*, ScatterOp> kNames[] = {
      {"none", ScatterOp::kSet}, {"add", ScatterOp::kAdd}, {"mul", ScatterOp::kMul}, {"max", ScatterOp::kMax}, {"min", ScatterOp::kMin}};
  const std::string name = attributes.get_string("reduction", "none");
  for (const auto& [n, op] : kNames)
    if (name == n) return op;
  return std::nullopt;
}

/// The output starts as a copy of the data, unless it is the data's memory.
void copy_data(LowerContext& c) {
  const Buffer in = c.in(0), out = c.out();
  if (in.base == out.base && in.offset == out.offset) return;
  emit_copies(c, "copy", size_of(c.out_type().dtype), {{in, out, flat_view(element_count(c.in_dims(0)))}});
}

/// What both kernels' arguments have in common.
template <class Args>
void describe_elements(const LowerContext& c, Args& args) {
  args.op = *scatter_reduction(c.attributes());
  args.type = c.out_type().dtype;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.index_bytes = static_cast<int32_t>(size_of(c.in_type(1).dtype));
}

/// Sums and products of uint64 are those of int64, bit by bit; its order is that of int64 with the sign flipped.
template <class Args>
void emit_scatter(LowerContext& c, const char* name, const kernels::TaskKernel<Args>& kernel, Args args) {
  const bool is_unsigned = args.type == DType::u64, flips = is_unsigned && (args.op == ScatterOp::kMax || args.op == ScatterOp::kMin);
  if (is_unsigned) args.type = DType::i64;
  const int64_t count = element_count(c.in_dims(0));
  const Buffer updates = flips ? wide::with_flipped_sign(c, c.in(2), element_count(c.in_dims(2))) : c.in(2);
  if (flips) wide::emit_sign_flip(c, c.in(0), c.out(), count);
  else copy_data(c);
  emit_kernel(c, name, kernel, args, [updates, indices = c.in(1), out = c.out()](Args& a, const Run& run) {
    a.y = run.get<void>(out);
    a.indices = run.get<void>(indices);
    a.updates = run.get<void>(updates);
  });
  if (flips) wide::emit_sign_flip(c, c.out(), c.out(), count);
}

}  // namespace

Status check_scatter(const InferContext& c) {
  const auto reduction = scatter_reduction(c.attributes());
  if (!reduction) return error("reduction is '{}', needs none, add, mul, max or min", c.attributes().get_string("reduction"));
  SV_TRY(require_dtype(c, 0, *reduction == ScatterOp::kSet ? kStoredTypes | DTypeSet{DType::string} : kNumericTypes));
  if (c.dtype(2) != c.dtype(0))
    return error("updates are of type {}, the data of {}; need one type", name_of(c.dtype(2)), name_of(c.dtype(0)));
  return {};
}

DTypeSet scatter_kernel_types(const Node& node) {
  // Only the data and updates are of these types; indices are int32 or int64, which both sets have.
  return scatter_reduction(node.attributes) == ScatterOp::kSet ? kDenseTypes : kComputedTypes;
}

Status emit_scatter_elements(LowerContext& c, size_t axis) {
  const Dims data = c.in_dims(0), indices = c.in_dims(1);
  SV_TRY(require_kernel_rank(data));
  SV_TRY(emit_index_check(c, 1, {data[axis]}));
  kernels::ScatterElementsArgs args;
  describe_elements(c, args);
  args.rank = static_cast<int32_t>(data.size());
  args.axis = static_cast<int32_t>(axis);
  std::copy(data.begin(), data.end(), args.data_extent);
  std::copy(indices.begin(), indices.end(), args.index_extent);
  emit_scatter(c, "scatter_elements", c.kernels().data->scatter_elements, args);
  return {};
}

Status emit_scatter_nd(LowerContext& c) {
  const Dims data = c.in_dims(0), indices = c.in_dims(1);
  const auto depth = static_cast<size_t>(indices.back());
  const Dims extents = indexed_dims(c);
  SV_TRY(require_kernel_rank(extents));
  SV_TRY(emit_index_check(c, 1, extents));
  kernels::ScatterNdArgs args;
  describe_elements(c, args);
  args.depth = static_cast<int32_t>(depth);
  args.count = element_count(std::span<const int64_t>(indices).first(indices.size() - 1));
  args.slice = element_count(std::span<const int64_t>(data).subspan(depth));
  std::copy(extents.begin(), extents.end(), args.extent);
  emit_scatter(c, "scatter_nd", c.kernels().data->scatter_nd, args);
  return {};
}

}  // namespace svengine::ops
