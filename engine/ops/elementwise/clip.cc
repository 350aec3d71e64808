// Clip: min(max(x, low), high). Bounds are inputs and may be computed; one that is absent is the type's lowest or largest finite
// number, so that infinities are clipped to it.
#include <limits>

#include "engine/ops/dispatch.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/fused_activation.h"

namespace svengine::ops {
namespace {

/// Before opset 11 the bounds were attributes, whose defaults are float32's limits for every type.
Status canonicalize_clip(CanonicalizeContext& c) {
  const Value* x = c.node().input(0);
  if (c.opset() >= 11 || !x) return {};
  const auto to_input = [&](const char* name, size_t slot, float limit) {
    if (!c.attributes().has(name) && x->type.dtype != DType::f64) return;  // the limits of float32 and float16 are their own
    c.set_input(slot, c.graph().add_constant(fmt::format("{}.{}", c.node().name(), name),
                                             scalar_of(x->type.dtype, c.attributes().get_float(name, limit))));
    c.attributes().erase(name);
  };
  to_input("min", 1, std::numeric_limits<float>::lowest());
  to_input("max", 2, std::numeric_limits<float>::max());
  return {};
}

Status infer_clip(InferContext& c) {
  for (size_t i : {1, 2}) SV_TRY(require_single(c, i));
  c.set(0, c.type(0));
  return {};
}

/// Input i, or the type's limit where it is absent.
Operand bound_of(LowerContext& c, size_t i) {
  if (c.has_input(i)) return operand_of(c, i);
  const DType type = c.in_type(0).dtype;
  const uint64_t unsigned_limit = i == 1 ? 0 : UINT64_MAX;
  double limit = std::numeric_limits<double>::max();
  if (i == 1) limit = -limit;
  const Tensor bound = type == DType::u64 ? Tensor::wrap(type, {}, &unsigned_limit, nullptr) : scalar_of(type, limit);
  return {c.table({bound.raw(), bound.byte_size()}), type, {}};
}

/// Types whose bounds do not fit the clip kernel's arguments: first the maximum, then the minimum.
Status lower_as_two(LowerContext& c) {
  const Operand out = result_of(c);
  Operand larger = out;
  // A computed maximum may be x itself, whose memory the output may have: it is still to be read.
  if (c.has_input(2) && !c.constant(2))
    larger.buffer = c.temporary(element_count(out.dims) * static_cast<int64_t>(size_of(out.type)));
  SV_TRY(emit_binary(c, kernels::BinaryOp::kMax, operand_of(c, 0), bound_of(c, 1), larger));
  return emit_binary(c, kernels::BinaryOp::kMin, larger, bound_of(c, 2), out);
}

/// float16 and bfloat16 are clipped in float32, and not by float32's limits, which they round to infinity.
Status lower_narrow(LowerContext& c) {
  const DType type = c.in_type(0).dtype;
  const float limit = type == DType::f16 ? 65504.0f : 0x1.fep127f;
  const int64_t count = element_count(c.out_dims());
  const auto bound = [&](size_t i, float absent) -> Operand {
    if (c.has_input(i)) return {converted(c, c.in(i), type, DType::f32, 1), DType::f32, {}};
    return {c.table(std::as_bytes(std::span(&absent, 1))), DType::f32, {}};
  };
  const Operand x{converted(c, c.in(0), type, DType::f32, count), DType::f32, c.out_dims()};
  const Operand clipped{c.temporary(count * 4), DType::f32, c.out_dims()};
  SV_TRY(emit_binary(c, kernels::BinaryOp::kMax, x, bound(1, -limit), clipped));
  SV_TRY(emit_binary(c, kernels::BinaryOp::kMin, clipped, bound(2, limit), clipped));
  emit_cast(c, clipped.buffer, DType::f32, c.out(), type, count);
  return {};
}

template <class T>
void emit_clip(LowerContext& c) {
  kernels::UnaryArgs args;
  args.op = kernels::UnaryOp::kClip;
  args.type = c.in_type(0).dtype;
  args.n = stored_count(c.in_type(0));
  constexpr bool kFloat = std::is_floating_point_v<T>;
  using Limits = std::numeric_limits<T>;
  emit_kernel(c, "clip", c.kernels().elementwise->unary, args,
              [x = c.in(0), low = c.in(1), high = c.in(2), y = c.out()](kernels::UnaryArgs& a, const Run& run) {
                a.x = run.get<void>(x);
                a.y = run.get<void>(y);
                const T from = low ? *run.get<T>(low) : Limits::lowest();
                const T to = high ? *run.get<T>(high) : Limits::max();
                if constexpr (kFloat) {
                  a.alpha = from;
                  a.beta = to;
                } else {
                  a.low = static_cast<int64_t>(from);
                  a.high = static_cast<int64_t>(to);
                }
              });
}

Status lower_clip(LowerContext& c) {
  const DType type = c.in_type(0).dtype;
  if (type == DType::f16 || type == DType::bf16) return lower_narrow(c);
  if (type == DType::f64 || type == DType::u64) return lower_as_two(c);
  with_type(type, [&]<class T>() {
    if constexpr (!std::is_same_v<T, double>) emit_clip<T>(c);
  });
  return {};
}

/// The bound that a known (or absent) input stands for; nothing when it is computed.
std::optional<float> known_bound(const Value* bound, float default_value) {
  if (!bound) return default_value;
  if (!bound->is_constant() || bound->type.dtype != DType::f32) return std::nullopt;
  return static_cast<float>(number_at(DType::f32, bound->constant().raw(), 0));
}

/// Beyond a bound the result is that bound; a maximum below the minimum wins.
Status clip_gradient(GradientContext& c) {
  Value *x = c.input(0), *low = c.input(1), *high = c.input(2);
  const auto from = known_bound(low, std::numeric_limits<float>::lowest()), to = known_bound(high, std::numeric_limits<float>::max());
  if (x->type.dtype == DType::f32 && from && to && !c.wants(1) && !c.wants(2))
    return set_activation_gradient(c, "clip", x, *from, *to);
  Value* zero = c.scalar(0, x);
  Value* below = low ? c.op("Less", {x, low}) : nullptr;
  Value* above = high ? c.op("Greater", {x, high}) : nullptr;
  Value* inside = below ? c.op("Where", {below, zero, c.dy()}) : c.dy();
  if (c.wants(0)) c.set(0, above ? c.op("Where", {above, zero, inside}) : inside);
  if (c.wants(1)) {
    Value* from_low = c.op("Where", {below, c.dy(), zero});
    c.set(1, c.sum_to(above ? c.op("Where", {c.op("Greater", {low, high}), zero, from_low}) : from_low, low));
  }
  if (c.wants(2)) {
    Value* larger = low ? c.op("Max", {x, low}) : x;
    c.set(2, c.sum_to(c.op("Where", {c.op("Greater", {larger, high}), c.dy(), zero}), high));
  }
  return {};
}

}  // namespace

OpDef define_clip() {
  OpDef op = unary_op("Clip", "input, min?, max?", infer_clip, lower_clip, true);
  op.kernel_types = op.kernel_types | DTypeSet{DType::f16, DType::bf16};
  op.canonicalize = canonicalize_clip;
  op.samples = "(float32[2, 3, 5, 7] -9 to 9, float32[]{-0.5}, float32[]{6.0})"
               "(float32[1003], float32[]{-0.5})"
               "(float32[19] -3 to 3, float32[] -1 to 0, float32[] 0 to 1)"
               "(int64[3, 9] -9 to 9, int64[]{-2}, int64[]{4})"
               "(float16[5, 9] -9 to 9)"
               "(bfloat16[5, 9] -9 to 9)";
  op.traits.activation = activation_of_node;
  op.traits.moves_elements = [](const Node& node) { return node.input(1) && node.input(2); };  // else a type's own limits
  op.gradient = clip_gradient;
  op.types = {{"T", kNumericTypes, {0, 1, 2}}};
  return op;
}

}  // namespace svengine::ops
