// svengine.Attention: softmax(scale * q k' + mask) v for every batch and head, made by pattern recognition.
//
// Inputs q, k, v and optionally mask. A layout says how [batch, heads, length, size] is stored: "bhsd" as it is, "bshd" with
// length before heads (what a projection leaves), "bhds" (k only) with size before length. The mask broadcasts to
// [batch, heads, queries, keys] and has all keys. The product kernels read and write the layouts by strides; nothing is moved.
#include "engine/kernels/softmax.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

/// One operand's sizes, and element strides of its four logical dimensions.
struct Heads {
  int64_t batch, heads, length, size;
  int64_t batch_stride, head_stride, length_stride, size_stride;
};

Heads heads_of(const Dims& d, const std::string& layout) {
  if (layout == "bshd") return {d[0], d[2], d[1], d[3], d[1] * d[2] * d[3], d[3], d[2] * d[3], 1};
  if (layout == "bhds") return {d[0], d[1], d[3], d[2], d[1] * d[2] * d[3], d[2] * d[3], 1, d[3]};
  return {d[0], d[1], d[2], d[3], d[1] * d[2] * d[3], d[2] * d[3], d[3], 1};
}

Heads heads_of(const Attributes& attributes, const char* name, const Shape& shape) {
  return heads_of(*shape.concrete(), attributes.text(name, "bhsd"));
}

Status infer(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, "q, k, v", {DType::f32}));
    SV_TRY(require_rank(c, i, "q, k, v", 4));
    if (!c.shape(i).is_static()) {
      c.set(0, DType::f32, unknown_dims(4));
      return {};
    }
  }
  const Heads q = heads_of(c.attributes(), "q_layout", c.shape(0)), k = heads_of(c.attributes(), "k_layout", c.shape(1)),
              v = heads_of(c.attributes(), "v_layout", c.shape(2));
  if (q.batch != k.batch || q.batch != v.batch || q.heads != k.heads || q.heads != v.heads || q.size != k.size || k.length != v.length)
    return error("q {}, k {} and v {} do not fit together", to_string(c.shape(0)), to_string(c.shape(1)), to_string(c.shape(2)));
  const bool length_first = c.attributes().text("out_layout", "bhsd") == "bshd";
  c.set(0, DType::f32, length_first ? Shape{q.batch, q.length, q.heads, v.size} : Shape{q.batch, q.heads, q.length, v.size});
  return {};
}

/// scores = q k' of every batch and head, [batch][heads][queries][keys].
void emit_scores(LowerContext& c, const Heads& q, const Heads& k, Buffer scores) {
  Product p;
  p.batch = {q.batch, q.heads};
  p.m = q.length, p.n = k.length, p.k = q.size;
  p.a = {c.in(0), q.length_stride, false, {q.batch_stride, q.head_stride}, -1};
  const bool transposed = k.size_stride == 1;  // stored [keys][size]
  p.b = {c.in(1), transposed ? k.length_stride : k.size_stride, transposed, {k.batch_stride, k.head_stride}, -1};
  p.c = scores;
  p.ldc = k.length;
  p.c_strides = {q.heads * q.length * k.length, q.length * k.length};
  emit_product(c, std::move(p));
}

void emit_softmax(LowerContext& c, const Heads& q, const Heads& k, Buffer scores) {
  kernels::AttentionSoftmaxArgs args;
  args.batch0 = q.batch, args.batch1 = q.heads, args.rows = q.length, args.n = k.length;
  const int64_t strides[3] = {q.heads * q.length * k.length, q.length * k.length, k.length};
  for (int i = 0; i < 3; ++i) args.x_stride[i] = args.y_stride[i] = strides[i];
  args.scale = c.attributes().real("scale", 1.0f);
  if (c.has_input(3)) {
    const auto s = broadcast_strides(c.in_dims(3), {q.batch, q.heads, q.length, k.length});
    for (size_t i = 0; i < 3; ++i) args.mask_stride[i] = s[i];
  }
  emit_kernel(c, "attention_softmax", c.kernels().softmax->attention_softmax, args,
              [scores, mask = c.in(3)](kernels::AttentionSoftmaxArgs& a, const Run& run) {
                a.x = a.y = run.get<float>(scores);
                a.mask = run.get<const float>(mask);
              });
}

void emit_context(LowerContext& c, const Heads& q, const Heads& v, Buffer scores) {
  Product p;
  p.batch = {q.batch, q.heads};
  p.m = q.length, p.n = v.size, p.k = v.length;
  p.a = {scores, v.length, false, {q.heads * q.length * v.length, q.length * v.length}, -1};
  p.b = {c.in(2), v.length_stride, false, {v.batch_stride, v.head_stride}, -1};
  const Heads out = heads_of(c.out_dims(), c.attributes().text("out_layout", "bhsd"));
  p.c = c.out();
  p.ldc = out.length_stride;
  p.c_strides = {out.batch_stride, out.head_stride};
  emit_product(c, std::move(p));
}

Status lower(LowerContext& c) {
  const Heads q = heads_of(c.attributes(), "q_layout", c.in_type(0).shape), k = heads_of(c.attributes(), "k_layout", c.in_type(1).shape),
              v = heads_of(c.attributes(), "v_layout", c.in_type(2).shape);
  const Buffer scores = c.temporary(q.batch * q.heads * q.length * k.length * 4);
  emit_scores(c, q, k, scores);
  emit_softmax(c, q, k, scores);
  emit_context(c, q, v, scores);
  return {};
}

Cost cost(const Node& node) {
  const Heads q = heads_of(node.attributes, "q_layout", node.input(0)->type.shape), k = heads_of(node.attributes, "k_layout", node.input(1)->type.shape);
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  cost.flops = 4.0 * static_cast<double>(q.batch * q.heads * q.length * k.length) * static_cast<double>(q.size);
  return cost;
}

}  // namespace

OpDef define_attention() {
  return {
      .name = "Attention",
      .domain = kInternalDomain,
      .inputs = {3, 4},
      .attributes = {{"scale", AttributeKind::real, false, 1.0f},
                     {"q_layout", AttributeKind::text, false, std::string("bhsd")},
                     {"k_layout", AttributeKind::text, false, std::string("bhsd")},
                     {"v_layout", AttributeKind::text, false, std::string("bhsd")},
                     {"out_layout", AttributeKind::text, false, std::string("bhsd")}},
      .infer = infer,
      .lower = lower,
      .cost = cost,
      .rtol = 1e-5,
      .atol = 1e-5,
      .samples = {{.inputs = {f32({2, 3, 5, 8}), f32({2, 3, 7, 8}), f32({2, 3, 7, 8}), f32({2, 1, 1, 7})}, .attributes = {{"scale", real(0.35f)}}},
                  {.inputs = {f32({1, 9, 2, 16}), f32({1, 9, 2, 16}), f32({1, 9, 2, 16})},
                   .attributes = {{"q_layout", text("bshd")}, {"k_layout", text("bshd")}, {"v_layout", text("bshd")}, {"out_layout", text("bshd")}}}},
  };
}

}  // namespace svengine::ops
