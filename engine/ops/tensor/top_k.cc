// TopK: the k largest (or smallest) elements along an axis, in order, and where they are. Equal ones keep their order; NaN counts
// as larger than everything.
#include "engine/graph/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/graph/axes.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status canonicalize_top_k(CanonicalizeContext& c) {
  if (const auto* k = c.attributes().get<int64_t>("k")) {
    c.set_input(1, c.graph().add_constant(c.node().name() + ".k", Tensor::of<int64_t>({1}, {*k})));
    c.attributes().erase("k");
  }
  return {};
}

Status infer_top_k(InferContext& c) {
  SV_TRY(require_single(c, 1));
  SV_TRY(require_rank_at_least(c, 0, 1));
  Shape out = c.shape(0);
  if (out.has_rank()) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), out.rank()));
    const Dim& d = out[static_cast<size_t>(axis)];
    const auto k = c.integers(1);
    if (k && (k->at(0) < 0 || (d.is_static() && k->at(0) > d.value())))
      return error("k is {}, needs 0 to {}, the size of axis {}", k->at(0), d.value(), axis);
    out.set(static_cast<size_t>(axis), k ? Dim(k->at(0)) : Dim());
  }
  c.set(0, c.dtype(0), out);
  c.set(1, DType::i64, std::move(out));
  return {};
}

Status lower_top_k(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const std::span<const int64_t> all(dims);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(dims.size())));
  const auto a = static_cast<size_t>(axis);
  const DType type = c.in_type(0).dtype;
  const bool flip = type == DType::u64;
  const DType computed = flip ? DType::i64 : computed_type(type);
  const int64_t kept = element_count(c.out_dims());
  kernels::TopKArgs args;
  args.type = computed;
  args.largest = c.attributes().get_int("largest", 1) != 0;
  args.outer = element_count(all.first(a));
  args.n = dims[a];
  args.inner = element_count(all.subspan(a + 1));
  args.k = c.out_dims()[a];
  if (args.n >= INT32_MAX) return unimplemented("axis {} has {} elements, above the {} that can be searched", axis, args.n, INT32_MAX - 1);
  const int64_t count = element_count(dims);
  const Buffer in = flip ? wide::with_flipped_sign(c, c.in(0), count) : converted(c, c.in(0), type, computed, count);
  // The kernel writes both outputs; one that nobody wants goes to a temporary.
  const Buffer values = type == computed && c.has_output(0) ? c.out(0) : c.temporary(kept * static_cast<int64_t>(size_of(computed)));
  const Buffer indices = c.has_output(1) ? c.out(1) : c.temporary(kept * 8);
  emit_kernel(c, "top_k", c.kernels().reduce->top_k, args, [in, values, indices](kernels::TopKArgs& args, const Run& run) {
    args.x = run.get<void>(in);
    args.values = run.get<void>(values);
    args.indices = run.get<int64_t>(indices);
  });
  if (flip && c.has_output(0)) wide::emit_sign_flip(c, values, c.out(0), kept);
  else if (type != computed && c.has_output(0)) emit_cast(c, values, computed, c.out(0), type, kept);
  return {};
}

Status top_k_gradient(GradientContext& c) {
  Attributes attributes = make_attributes({{"axis", c.attributes().get_int("axis", -1)}});
  c.set(0, c.op("ScatterElements", {c.zeros_like(c.input(0)), c.output(1), c.dy()}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_top_k() {
  return {
      .name = "TopK",
      .inputs = "X, K",
      .outputs = {1, 2},
      .attributes = {{"axis", AttributeKind::kInt, false, -1},
                     {"largest", AttributeKind::kInt, false, 1},
                     {"sorted", AttributeKind::kInt, false, 1}},
      .canonicalize = canonicalize_top_k,
      .infer = infer_top_k,
      .lower = lower_top_k,
      .types = {{"T", kNumericTypes, {0}}, {"K", DTypeSet{DType::i64}, {1}}},
      .gradient = top_k_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = "(float32[3, 37], int64[1]{5}) 2"
                 "(float32[7, 3], int64[1]{7}) {axis = 0, largest = 0} 2"
                 "(int64[2, 9] -3 to 3, int64[1]{4}) {axis = -1} 2"
                 "(uint64[2, 9] 0 to 1.8e+19, int64[1]{3}) 2"
                 "(uint8[2, 9] 0 to 9, int64[1]{4}) 2"
                 "(bfloat16[2, 9], int64[1]{4}) 2",
  };
}

}  // namespace svengine::ops
