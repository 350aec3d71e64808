// OneHot: a new dimension of size depth at `axis`, holding the on value where its index equals the input and the off value
// elsewhere. values = [off, on]. Inputs outside [-depth, depth) are off everywhere.
#include <cstring>

#include "engine/kernels/data.h"
#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// Depths and indices may be of any number type; they are whole numbers all the same.
Result<int64_t> depth_of(const Tensor& t) {
  const double depth = number_at(t.type(), t.raw(), 0);
  if (!(depth >= 0 && depth <= 0x1p48)) return error("depth is {}, needs 0 to 2^48", depth);
  return static_cast<int64_t>(depth);
}

Status infer_one_hot(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kNumericTypes));
  SV_TRY(require_dtype(c, 1, kNumericTypes));
  SV_TRY(require_single(c, 1));
  SV_TRY(require_rank(c, 2, 1));
  if (c.shape(2).has_rank() && known_different(c.shape(2)[0], 2))
    return error("input 2 (values) has {} elements, needs two: off and on", c.shape(2)[0].value());
  Dim depth;
  if (const Tensor* t = c.constant(1)) {
    SV_ASSIGN(depth, depth_of(*t));
  }
  if (!c.shape(0).has_rank()) {
    c.set(0, c.dtype(2), Shape());
    return {};
  }
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), c.shape(0).rank() + 1));
  std::vector<Dim> out = c.shape(0).dims();
  out.insert(out.begin() + axis, depth);
  c.set(0, c.dtype(2), Shape(std::move(out)));
  return {};
}

Status lower_one_hot(LowerContext& c) {
  const Dims dims = c.out_dims();
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const size_t element = size_of(c.out_type().dtype);
  Buffer indices = c.in(0);
  DType type = c.in_type(0).dtype;
  if (!kIndexTypes.has(type)) {
    const int64_t count = element_count(c.in_dims(0));
    indices = c.temporary(count * 8);
    emit_cast(c, c.in(0), type, indices, DType::i64, count);
    type = DType::i64;
  }
  kernels::OneHotArgs args;
  args.element_bytes = static_cast<int32_t>(element);
  args.index_bytes = static_cast<int32_t>(size_of(type));
  args.outer = element_count(all.first(static_cast<size_t>(axis)));
  args.depth = dims[static_cast<size_t>(axis)];
  args.inner = element_count(all.subspan(static_cast<size_t>(axis) + 1));
  emit_kernel(c, "one_hot", c.kernels().data->one_hot, args,
              [indices, element, values = c.in(2), out = c.out()](kernels::OneHotArgs& a, const Run& run) {
                a.indices = run.get<void>(indices);
                a.y = run.get<void>(out);
                a.on = 0;
                std::memcpy(&a.off, run.get<std::byte>(values), element);
                std::memcpy(&a.on, run.get<std::byte>(values) + element, element);
              });
  return {};
}

/// Each of the two values gets the sum over its places.
Status one_hot_gradient(GradientContext& c) {
  Value* values = c.input(2);
  if (!c.wants(2)) return {};
  Value* zero_one = c.op("Cast", {c.builder().constant(Tensor::of<float>({2}, {0, 1}))},
                         make_attributes({{"to", static_cast<int64_t>(values->type.dtype)}}));
  Value* hit = c.op("OneHot", {c.input(0), c.input(1), zero_one}, c.attributes());
  const auto total = [&](Value* v) {
    return c.op("Reshape", {c.op("ReduceSum", {v}, make_attributes({{"keepdims", int64_t{0}}})), c.builder().integers({1})});
  };
  Value *on = total(c.op("Mul", {c.dy(), hit})), *off = c.op("Sub", {total(c.dy()), on});
  c.set(2, c.op("Concat", {off, on}, make_attributes({{"axis", int64_t{0}}})));
  return {};
}

}  // namespace

OpDef define_one_hot() {
  return {
      .name = "OneHot",
      .since = 9,
      .inputs = "indices, depth, values",
      .attributes = {{"axis", AttributeKind::kInt, false, -1}},
      .infer = infer_one_hot,
      .lower = lower_one_hot,
      .evaluate = evaluate_strings,
      .types = {{"T1", kNumericTypes - DTypeSet{DType::bf16}, {0}}, {"T2", kNumericTypes - DTypeSet{DType::bf16}, {1}}, {"T3", kAllTypes, {2}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = one_hot_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = "(int64[7] -6 to 6, int64[1]{5}, float32[2]{-1.0, 3.0})"
                 "(int32[2, 3] 0 to 5, int64[]{5}, float32[2]{-1.0, 3.0}) {axis = 1}"
                 "(int64[2, 5] -3 to 3, int64[1]{3}, float32[2]) {axis = 0}",
  };
}

}  // namespace svengine::ops
