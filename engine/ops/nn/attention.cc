// svengine.Attention: softmax(scale * q k' + mask) v for every batch and head, made by pattern recognition.
//
// Inputs q, k, v and optionally mask. A layout says how [batch, heads, length, size] is stored: "bhsd" as it is, "bshd" with
// length before heads (what a projection leaves), "bhds" (k only) with size before length. The mask broadcasts to
// [batch, heads, queries, keys] and has all keys. The kernel reads and writes the layouts by strides; nothing is moved.
#include "engine/kernels/attention.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"

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
  return heads_of(*shape.concrete(), attributes.get_string(name, "bhsd"));
}

Status infer_attention(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, i, kSingleTypes));
    SV_TRY(require_rank(c, i, 4));
    if (!c.shape(i).is_static()) {
      c.set(0, c.dtype(0), unknown_dims(4));
      return {};
    }
  }
  const Heads q = heads_of(c.attributes(), "q_layout", c.shape(0)), k = heads_of(c.attributes(), "k_layout", c.shape(1)),
              v = heads_of(c.attributes(), "v_layout", c.shape(2));
  if (q.batch != k.batch || q.batch != v.batch || q.heads != k.heads || q.heads != v.heads || q.size != k.size || k.length != v.length)
    return error("q {}, k {} and v {} do not fit together", to_string(c.shape(0)), to_string(c.shape(1)), to_string(c.shape(2)));
  if (c.has_input(3)) {
    const Shape scores{q.batch, q.heads, q.length, k.length};
    SV_TRY(require_broadcast_to(c, 3, scores, "scores"));
  }
  const bool length_first = c.attributes().get_string("out_layout", "bhsd") == "bshd";
  c.set(0, c.dtype(0), length_first ? Shape{q.batch, q.length, q.heads, v.size} : Shape{q.batch, q.heads, q.length, v.size});
  return {};
}

/// Sizes and strides of the kernel's arguments; pointers are the run's.
kernels::AttentionArgs arguments(const LowerContext& c) {
  const auto heads = [&](const char* name, const Type& type) { return heads_of(c.attributes(), name, type.shape); };
  const Heads q = heads("q_layout", c.in_type(0)), k = heads("k_layout", c.in_type(1)), v = heads("v_layout", c.in_type(2)),
              y = heads("out_layout", c.out_type());
  const auto strides = [](const Heads& h) { return kernels::AttentionStride{h.batch_stride, h.head_stride, h.length_stride}; };
  kernels::AttentionArgs args;
  args.batch = q.batch, args.heads = q.heads, args.queries = q.length, args.keys = k.length, args.size = q.size, args.value_size = v.size;
  args.q_stride = strides(q), args.k_stride = strides(k), args.v_stride = strides(v), args.y_stride = strides(y);
  args.k_transposed = c.attributes().get_string("k_layout", "bhsd") == "bhds";
  if (args.k_transposed) args.k_stride.row = k.size_stride;
  args.scale = c.attributes().get_float("scale", 1.0f);
  if (c.has_input(3)) {
    const auto s = broadcast_strides(c.in_dims(3), {q.batch, q.heads, q.length, k.length});
    args.mask_stride = {s[0], s[1], s[2]};
  }
  return args;
}

Status lower_attention(LowerContext& c) {
  const kernels::AttentionKernels& kernels = *c.kernels().attention;
  const kernels::AttentionArgs args = arguments(c);
  const Buffer packed_k = c.temporary(kernels.packed_k_bytes(args)), packed_v = c.temporary(kernels.packed_v_bytes(args));
  const auto bind = [=, q = c.in(0), k = c.in(1), v = c.in(2), mask = c.in(3), y = c.out()](kernels::AttentionArgs& a, const Run& run) {
    a.q = run.get<const float>(q), a.k = run.get<const float>(k), a.v = run.get<const float>(v);
    a.mask = run.get<const float>(mask);
    a.y = run.get<float>(y);
    a.packed_k = run.get<float>(packed_k), a.packed_v = run.get<float>(packed_v);
  };
  emit_kernel(c, "attention_pack", kernels.pack, args, bind);
  emit_kernel(c, "attention", kernels.attention, args, bind);
  return {};
}

Cost attention_cost(const Node& node) {
  const Heads q = heads_of(node.attributes, "q_layout", node.input(0)->type.shape),
              k = heads_of(node.attributes, "k_layout", node.input(1)->type.shape);
  Cost attention_cost;
  for (const Value* v : node.inputs())
    if (v) attention_cost.bytes += stored_bytes(v->type);
  attention_cost.bytes += stored_bytes(node.output()->type);
  attention_cost.flops = 4.0 * static_cast<double>(q.batch) * static_cast<double>(q.heads) * static_cast<double>(q.length) *
                         static_cast<double>(k.length) * static_cast<double>(q.size);
  return attention_cost;
}

}  // namespace

OpDef define_svengine_attention() {
  return {
      .name = "Attention",
      .domain = kInternalDomain,
      .inputs = "q, k, v, mask?",
      .attributes = {{"scale", AttributeKind::kFloat, false, 1.0f},
                     {"q_layout", AttributeKind::kString, false, "bhsd"},
                     {"k_layout", AttributeKind::kString, false, "bhsd"},
                     {"v_layout", AttributeKind::kString, false, "bhsd"},
                     {"out_layout", AttributeKind::kString, false, "bhsd"}},
      .infer = infer_attention,
      .lower = lower_attention,
      .cost = attention_cost,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5, 8], float32[2, 3, 7, 8], float32[2, 3, 7, 8], float32[2, 1, 1, 7]) {scale = 0.35}"
                 R"((float32[1, 9, 2, 16], float32[1, 9, 2, 16], float32[1, 9, 2, 16]) {q_layout = "bshd", k_layout = "bshd", )"
                 R"(v_layout = "bshd", out_layout = "bshd"})",
  };
}

}  // namespace svengine::ops
