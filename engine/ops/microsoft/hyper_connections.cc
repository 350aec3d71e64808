// com.microsoft's hyper-connections: a network's residual stream as C streams of H features, [..., C, H], of which a layer reads a
// mixture and to which it adds its output by gates. Streams may be flat, [..., C H]; then num_branches is C. All in float32.
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

/// Streams' shape with C and H apart; unknown where it is not known.
Result<Shape> grouped_streams(const InferContext& c) {
  const int64_t branches = c.attributes().get_int("num_branches", 0);
  if (branches < 0) return error("num_branches is {}, must be 0 (X is grouped) or the number of branches", branches);
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return Shape();
  if (x.rank() < (branches > 0 ? 1 : 2)) return error("input 0 is {}, needs [..., C, H], or [..., C H] with num_branches", to_string(x));
  if (branches == 0) return x;
  std::vector<Dim> dims = x.dims();
  if (dims.back().is_static() && dims.back().value() % branches != 0)
    return error("the last dimension of input 0 {} is no multiple of num_branches = {}", to_string(x), branches);
  dims.push_back(dims.back().is_static() ? Dim(dims.back().value() / branches) : Dim());
  dims[dims.size() - 2] = Dim(branches);
  return Shape(std::move(dims));
}

Value* grouped(ExpandContext& c, Value* x, int64_t branches) {
  if (branches == 0 || !x) return x;
  std::vector<int64_t> dims(static_cast<size_t>(x->type.shape.rank()), 0);
  const Dim& last = x->type.shape.back();
  dims.back() = branches;
  dims.push_back(last.is_static() ? last.value() / branches : -1);
  return c.reshape(x, std::move(dims));
}

Value* streams_in_float32(ExpandContext& c) { return grouped(c, c.cast(c.input(0), DType::f32), c.attributes().get_int("num_branches", 0)); }

/// Input `at` is one of these shapes.
Status require_one_of(const InferContext& c, size_t at, const std::vector<Shape>& allowed) {
  if (!c.has_input(at) || !c.shape(at).has_rank()) return {};
  std::string list;
  for (const Shape& s : allowed) {
    bool fits = s.rank() == c.shape(at).rank();
    for (int64_t d = 0; fits && d < s.rank(); ++d) fits = !known_different(s[d], c.shape(at)[d]);
    if (fits) return {};
    list += fmt::format("{}{}", list.empty() ? "" : " or ", to_string(s));
  }
  return error("{} is {}, needs {}", c.described(at), to_string(c.shape(at)), list);
}

/// The leading dimensions of streams, and then those.
Shape beside(const Shape& streams, std::initializer_list<Dim> last) {
  std::vector<Dim> dims(streams.dims().begin(), streams.dims().end() - 2);
  dims.insert(dims.end(), last);
  return Shape(std::move(dims));
}

Status infer_branchwise_norm(InferContext& c) {
  SV_ASSIGN(const Shape x, grouped_streams(c));
  c.set(0, c.dtype(0), c.shape(0));
  if (!x.has_rank()) return {};
  const Dim branches = x[x.rank() - 2], width = x.back();
  return require_one_of(c, 1, {Shape{width}, Shape{multiply(branches, width)}, Shape{branches, width}});
}

Status expand_branchwise_norm(ExpandContext& c) {
  Value* x = streams_in_float32(c);
  if (!x || !x->type.shape.has_rank()) return {};
  const Dim branches = x->type.shape[x->type.shape.rank() - 2], width = x->type.shape.back();
  Value* scale = c.number(1, DType::f32);
  if (c.has_input(1)) {
    if (!branches.is_static() || !width.is_static() || !c.shape(1).has_rank()) return {};
    scale = c.cast(c.input(1), DType::f32);
    if (c.shape(1).rank() == 1) {
      if (!c.shape(1)[0].is_static()) return {};
      if (c.shape(1)[0] != width) scale = c.reshape(scale, {branches.value(), width.value()});
    }
  }
  Value* y = c.op("RMSNormalization", {x, scale}, make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", 1e-5f)}}));
  c.set(0, c.cast(c.reshape_like(y, c.input(0)), c.dtype(0)));
  return {};
}

Status infer_pre_mix(InferContext& c) {
  SV_ASSIGN(const Shape x, grouped_streams(c));
  c.set(0, c.dtype(0), Shape());
  if (!x.has_rank()) return {};
  const Dim branches = x[x.rank() - 2], width = x.back();
  c.set(0, c.dtype(0), beside(x, {width}));
  std::vector<Shape> allowed{beside(x, {branches}), beside(x, {branches, Dim(1)}), x};
  if (c.shape(0).rank() < x.rank()) allowed.push_back(c.shape(0));
  return require_one_of(c, 1, allowed);
}

/// Gates for each branch, or each of its features, as [..., C, 1] or [..., C, H]. Null where a dimension is needed that is not known.
Value* gates_of(ExpandContext& c, Value* gates, Value* streams) {
  gates = c.cast(gates, DType::f32);
  if (!gates || !gates->type.shape.has_rank() || gates->type.shape.rank() == streams->type.shape.rank()) return gates;
  const Dim branches = streams->type.shape[streams->type.shape.rank() - 2], last = gates->type.shape.back();
  if (!branches.is_static() || !last.is_static()) return nullptr;
  return last == branches ? c.unsqueeze(gates, {-1}) : grouped(c, gates, branches.value());
}

Status expand_pre_mix(ExpandContext& c) {
  Value* x = streams_in_float32(c);
  if (!x || !x->type.shape.has_rank() || !c.shape(1).has_rank()) return {};
  Value* gates = gates_of(c, c.input(1), x);
  if (!gates) return {};
  Value* sum = c.op("ReduceSum", {c.op("Mul", {x, gates}), c.ints({-2})}, make_attributes({{"keepdims", int64_t{0}}}));
  if (const float scale = c.attributes().get_float("reduction_scale", 1); scale != 1) sum = c.op("Mul", {sum, c.number(scale, DType::f32)});
  c.set(0, c.cast(sum, c.dtype(0)));
  return {};
}

Status infer_post_mix(InferContext& c) {
  SV_ASSIGN(const Shape x, grouped_streams(c));
  c.set(0, c.dtype(0), c.shape(0));
  if (!x.has_rank()) return {};
  const Dim branches = x[x.rank() - 2], width = x.back();
  SV_TRY(require_shape(c, 1, beside(x, {width})));
  SV_TRY(require_one_of(c, 2, {beside(x, {branches}), beside(x, {branches, Dim(1)}), x}));
  return require_shape(c, 3, beside(x, {branches, branches}));
}

Status expand_post_mix(ExpandContext& c) {
  Value* x = streams_in_float32(c);
  if (!x || !x->type.shape.has_rank() || !c.shape(2).has_rank()) return {};
  Value* gates = gates_of(c, c.input(2), x);
  if (!gates) return {};
  Value* added = c.op("Mul", {gates, c.unsqueeze(c.cast(c.input(1), DType::f32), {-2})});
  if (c.has_input(3)) {
    std::vector<int64_t> swapped(static_cast<size_t>(x->type.shape.rank()));
    for (size_t i = 0; i < swapped.size(); ++i) swapped[i] = static_cast<int64_t>(i);
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    x = c.op("MatMul", {c.transpose(c.cast(c.input(3), DType::f32), std::move(swapped)), x});
  }
  c.set(0, c.cast(c.reshape_like(c.op("Add", {x, added}), c.input(0)), c.dtype(0)));
  return {};
}

enum EngramInput : size_t { kEngramKey, kEngramQuery, kEngramValue, kEngramKeyScale, kEngramQueryScale, kEngramConvScale };

Status infer_engram_gate(InferContext& c) {
  SV_TRY(require_rank(c, kEngramKey, 4));
  SV_TRY(require_same_shape(c, kEngramKey, kEngramQuery));
  const Shape& key = c.shape(kEngramKey);
  for (size_t i = 0; i < 2; ++i) c.set(i, c.dtype(0), key);
  if (c.has_output(1) && !c.has_input(kEngramConvScale)) return error("output gated_value_normed needs input conv_norm_scale");
  if (!key.has_rank()) return {};
  SV_TRY(require_shape(c, kEngramValue, Shape{key[0], key[1], key[3]}));
  for (size_t i = 0; i < 3; ++i) SV_TRY(require_shape(c, kEngramKeyScale + i, Shape{key[2], key[3]}));
  return {};
}

Status expand_engram_gate(ExpandContext& c) {
  const auto width = c.dim(kEngramKey, 3);
  if (!width) return {};
  const Attributes norm = make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", 1e-5f)}});
  const auto in_f32 = [&](size_t i) { return c.cast(c.input(i), DType::f32); };
  const auto normed = [&](Value* x, size_t scale) { return c.op("RMSNormalization", {x, in_f32(scale)}, norm); };
  Value* products = c.op("Mul", {normed(in_f32(kEngramKey), kEngramKeyScale), normed(in_f32(kEngramQuery), kEngramQueryScale)});
  Value* dot = c.op("Div", {c.op("ReduceSum", {products, c.ints({-1})}), c.op("Sqrt", {c.number(static_cast<double>(*width), DType::f32)})});
  Value* root = c.op("Sqrt", {c.op("Max", {c.op("Abs", {dot}), c.number(1e-6, DType::f32)})});
  Value* gate = c.op("Sigmoid", {c.op("Mul", {c.op("Sign", {dot}), root})});
  Value* y = c.cast(c.op("Mul", {gate, c.unsqueeze(in_f32(kEngramValue), {2})}), c.dtype(0));
  c.set(0, y);
  if (c.has_output(1)) c.set(1, c.cast(normed(c.cast(y, DType::f32), kEngramConvScale), c.dtype(0)));
  return {};
}

const AttributeDef kBranches{"num_branches", AttributeKind::kInt, false, 0};
const AttributeDef kNormEpsilon{"epsilon", AttributeKind::kFloat, false, 1e-5f};

}  // namespace

OpDef define_microsoft_branchwise_rms_norm() {
  OpDef op = composite_op("BranchwiseRMSNorm", "X, scale?", {kBranches, kNormEpsilon}, infer_branchwise_norm, expand_branchwise_norm,
                          "(float32[2, 3, 5], float32[3, 5]) (float32[2, 15], float32[15]) {num_branches = 3}"
                          "(float32[3, 5], float32[5]) {epsilon = 0.1} (float32[2, 1, 6]) {num_branches = 2}");
  op.types = {{"T", kSingleTypes, {0}}, {"M", kSingleTypes, {1}}};
  return op;
}

OpDef define_microsoft_hyper_connection_pre_mix() {
  OpDef op = composite_op("HyperConnectionPreMix", "streams, pre_mix", {kBranches, {"reduction_scale", AttributeKind::kFloat, false, 1.0f}},
                          infer_pre_mix, expand_pre_mix,
                          "(float32[2, 3, 4, 5], float32[2, 3, 4]) {reduction_scale = 0.5} (float32[2, 12], float32[2, 12]) {num_branches = 3}"
                          "(float32[2, 12], float32[2, 3, 1]) {num_branches = 3} (float32[4, 5], float32[4, 5])");
  op.types = {{"T", kSingleTypes, {0}}, {"M", kSingleTypes, {1}}};
  return op;
}

OpDef define_microsoft_hyper_connection_post_mix() {
  OpDef op = composite_op("HyperConnectionPostMix", "streams, block_output, post_mix, stream_mix?", {kBranches}, infer_post_mix, expand_post_mix,
                          "(float32[2, 3, 4, 5], float32[2, 3, 5], float32[2, 3, 4], float32[2, 3, 4, 4])"
                          "(float32[2, 12], float32[2, 4], float32[2, 3, 4]) {num_branches = 3}");
  op.types = {{"T", kSingleTypes, {0, 1}}, {"M", kSingleTypes, {2, 3}}};
  return op;
}

OpDef define_microsoft_engram_gate() {
  OpDef op = composite_op("EngramGate", "key, query, value, key_norm_scale, query_norm_scale, conv_norm_scale?", {kNormEpsilon},
                          infer_engram_gate, expand_engram_gate,
                          "(float32[2, 3, 2, 5], float32[2, 3, 2, 5], float32[2, 3, 5], float32[2, 5], float32[2, 5], float32[2, 5]) 2"
                          "(float32[1, 1, 1, 4], float32[1, 1, 1, 4], float32[1, 1, 4], float32[1, 4], float32[1, 4])");
  op.types = {{"T", kSingleTypes, {0, 1, 2, 3, 4, 5}}};
  op.outputs = {1, 2};
  return op;
}

}  // namespace svengine::ops
