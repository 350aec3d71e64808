// Swish: x sigmoid(alpha x); SwiGLU: that of its first input, times the second.
#include "engine/graph/gradient.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {


Status infer_swish(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  c.set(0, c.type(0));
  return {};
}

float swish_alpha(const Attributes& attributes) { return attributes.get_float("alpha", 1); }

bool is_silu(const Value* x, float alpha) { return alpha == 1 && x && x->type.dtype == DType::f32; }

/// With alpha 1 it is Silu, which passes and kernels know.
Status canonicalize_swish(CanonicalizeContext& c) {
  if (!is_silu(c.node().input(0), swish_alpha(c.attributes()))) return {};
  c.attributes().erase("alpha");
  c.graph().set_op(&c.node(), *c.ops().find(kInternalDomain, "Silu"));
  return {};
}

/// y = x sigmoid(alpha x) for float32 and float64.
void emit_swish(LowerContext& c, Buffer y) {
  const DType type = c.in_type(0).dtype;
  const int64_t count = element_count(c.in_dims(0));
  const float alpha = swish_alpha(c.attributes());
  const Buffer x = c.in(0), gate = c.temporary(count * static_cast<int64_t>(size_of(type)));
  with_type(type, [&]<class T>() {
    emit_elements(c, "scale", count, [=](const Run& run, int64_t begin, int64_t end) {
      const T* in = run.get<const T>(x);
      T* out = run.get<T>(gate);
      for (int64_t i = begin; i < end; ++i) out[i] = in[i] * static_cast<T>(alpha);
    });
  });
  kernels::UnaryArgs args{.op = kernels::UnaryOp::kSigmoid, .type = type, .n = count};
  emit_kernel(c, "sigmoid", c.kernels().elementwise->unary, args, [gate](kernels::UnaryArgs& a, const Run& run) {
    a.x = run.get<void>(gate);
    a.y = run.get<void>(gate);
  });
  with_type(type, [&]<class T>() {
    emit_elements(c, "mul", count, [=](const Run& run, int64_t begin, int64_t end) {
      const T *in = run.get<const T>(x), *factor = run.get<const T>(gate);
      T* out = run.get<T>(y);
      for (int64_t i = begin; i < end; ++i) out[i] = in[i] * factor[i];
    });
  });
}

Status lower_swish(LowerContext& c) {
  emit_swish(c, c.out());
  return {};
}

/// With s = sigmoid(alpha x): dy s (1 + alpha x (1 - s)).
Status swish_gradient(GradientContext& c) {
  Value* x = c.input(0);
  Value* scaled = c.op("Mul", {x, c.scalar(swish_alpha(c.attributes()), x)});
  Value* s = c.op("Sigmoid", {scaled});
  Value* one = c.scalar(1, x);
  Value* slope = c.op("Add", {one, c.op("Mul", {scaled, c.op("Sub", {one, s})})});
  c.set(0, c.op("Mul", {c.dy(), c.op("Mul", {s, slope})}));
  return {};
}

Status infer_swi_glu(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) {
    c.set(0, c.dtype(0), a.has_rank() ? a : b);
    return {};
  }
  Shape out = a;
  bool same = a.rank() == b.rank();
  for (size_t i = 0; same && i < a.dims().size(); ++i) {
    same = !known_different(a[i], b[i]);
    out.set(i, merge(a[i], b[i]));
  }
  if (!same) return error("A is {}, B is {}; needs one shape", svengine::to_string(a), svengine::to_string(b));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Swish and Mul, which passes know.
Status canonicalize_swi_glu(CanonicalizeContext& c) {
  Node& node = c.node();
  Value *a = node.input(0), *b = node.input(1);
  if (node.inputs().size() != 2 || !a || !b || a->type.dtype != b->type.dtype || !(a->type.shape == b->type.shape)) return {};
  const float alpha = swish_alpha(c.attributes());
  const bool silu = is_silu(a, alpha);
  Attributes attributes;
  if (!silu) attributes.set("alpha", alpha);
  const OpDef& op = silu ? *c.ops().find(kInternalDomain, "Silu") : *c.ops().find("", "Swish");
  Node* gate = c.graph().add_node(op, node.name() + ".gate", {a}, 1, std::move(attributes), &node);
  SV_TRY(infer_types(*gate));
  c.attributes().erase("alpha");
  c.graph().set_op(&node, *c.ops().find("", "Mul"));
  c.graph().set_input(&node, 0, gate->output());
  return {};
}

Status lower_swi_glu(LowerContext& c) {
  const DType type = c.out_type().dtype;
  const int64_t count = element_count(c.out_dims());
  const Buffer gate = c.temporary(count * static_cast<int64_t>(size_of(type)));
  emit_swish(c, gate);
  return emit_binary(c, kernels::BinaryOp::kMul, {gate, type, c.out_dims()}, operand_of(c, 1), result_of(c));
}

Status swi_glu_gradient(GradientContext& c) {
  Value *a = c.input(0), *b = c.input(1);
  Value* scaled = c.op("Mul", {a, c.scalar(swish_alpha(c.attributes()), a)});
  Value* s = c.op("Sigmoid", {scaled});
  Value* one = c.scalar(1, a);
  if (c.wants(0)) {
    Value* slope = c.op("Mul", {s, c.op("Add", {one, c.op("Mul", {scaled, c.op("Sub", {one, s})})})});
    c.set(0, c.op("Mul", {c.dy(), c.op("Mul", {b, slope})}));
  }
  if (c.wants(1)) c.set(1, c.op("Mul", {c.dy(), c.op("Mul", {a, s})}));
  return {};
}

}  // namespace

OpDef define_swish() {
  return {
      .name = "Swish",
      .since = 24,
      .inputs = "X",
      .attributes = {{"alpha", AttributeKind::kFloat, false, 1.0f}},
      .canonicalize = canonicalize_swish,
      .infer = infer_swish,
      .lower = lower_swish,
      .gradient = swish_gradient,
      .samples = "(float32[3, 37])"
                 "(float32[2, 5] -8 to 8) {alpha = 1.7}"
                 "(float64[7]) {alpha = -0.5}"
                 "(float32[0, 4])"
                 "(float32[])",
  };
}

OpDef define_swi_glu() {
  return {
      .name = "SwiGLU",
      .since = 28,
      .inputs = "A, B",
      .attributes = {{"alpha", AttributeKind::kFloat, false, 1.0f}},
      .canonicalize = canonicalize_swi_glu,
      .infer = infer_swi_glu,
      .lower = lower_swi_glu,
      .types = {{"T", kRealTypes, {0, 1}}},
      .gradient = swi_glu_gradient,
      .samples = "(float32[3, 37], float32[3, 37])"
                 "(float32[2, 5], float32[2, 5]) {alpha = 1.7}"
                 "(float64[7], float64[7])",
  };
}

}  // namespace svengine::ops
