// Normalisations as ONNX Runtime fuses them: of a sum with a residual, by the root mean square, of groups in channels-last
// layout, and of the sum of a transformer's embeddings.
#include "engine/graph/axes.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

constexpr float kRuntimeEpsilon = 1e-12f;

/// Type and shape of the statistics of the last dimension.
void set_statistics(InferContext& c, size_t output, const Shape& x) {
  if (!x.has_rank()) return c.set(output, DType::f32, Shape());
  std::vector<Dim> dims = x.dims();
  if (!dims.empty()) dims.back() = Dim(1);
  c.set(output, DType::f32, Shape(std::move(dims)));
}

/// skip may lack dimensions of the input's, or have 1 there.
Status infer_skip_norm(InferContext& c) {
  SV_TRY(infer_as_first(c));
  SV_TRY(require_rank_at_least(c, 0, 2));
  SV_TRY(require_broadcast_to(c, 1, c.shape(0), "input"));
  for (size_t i = 2; i < c.input_count(); ++i) SV_TRY(require_last(c, i));
  set_statistics(c, 1, c.shape(0)), set_statistics(c, 2, c.shape(0));
  c.set(3, c.dtype(0), c.shape(0));
  return {};
}

Value* skip_sum(ExpandContext& c, size_t bias) {
  Value* sum = c.op("Add", {c.input(0), c.input(1)});
  return c.has_input(bias) ? c.op("Add", {sum, c.input(bias)}) : sum;
}

struct RootMeanSquare {
  Value *y, *inverse;
};

/// Over the dimensions from `axis` on; `inverse` only where it is asked for, for then no kernel does all of it.
RootMeanSquare rms_norm(ExpandContext& c, Value* x, Value* scale, int64_t axis, float epsilon, bool inverse) {
  if (!inverse && x->type.dtype == scale->type.dtype)
    return {c.op("RMSNormalization", {x, scale}, make_attributes({{"axis", axis}, {"epsilon", epsilon}})), nullptr};
  const DType type = wide_type(x->type.dtype);
  std::vector<int64_t> axes;
  for (int64_t i = axis < 0 ? axis + x->type.shape.rank() : axis; i < x->type.shape.rank(); ++i) axes.push_back(i);
  Value* wide = c.cast(x, type);
  Value* mean = c.op("ReduceMean", {c.op("Mul", {wide, wide}), c.ints(std::move(axes))});
  Value* r = c.op("Reciprocal", {c.op("Sqrt", {c.op("Add", {mean, c.number(epsilon, type)})})});
  return {c.op("Mul", {c.cast(c.op("Mul", {wide, r}), scale->type.dtype), scale}), c.cast(r, DType::f32)};
}

Status expand_skip_layer_norm(ExpandContext& c) {
  Value* sum = skip_sum(c, 4);
  const bool statistics = c.has_output(1) || c.has_output(2);
  std::vector<Value*> inputs{sum, c.input(2)};
  if (c.has_input(3)) inputs.push_back(c.input(3));
  const Node* norm = c.builder().node(
      "", "LayerNormalization", std::move(inputs), statistics ? 3 : 1,
      make_attributes({{"axis", int64_t{-1}}, {"epsilon", c.attributes().get_float("epsilon", kRuntimeEpsilon)}}));
  if (!norm) return {};
  c.set(0, norm->output(0)), c.set(1, norm->output(1)), c.set(2, norm->output(2)), c.set(3, sum);
  return {};
}

Status expand_skip_simplified(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  Value* sum = skip_sum(c, 3);
  if (!sum) return {};
  const RootMeanSquare norm =
      rms_norm(c, sum, c.input(2), -1, c.attributes().get_float("epsilon", kRuntimeEpsilon), c.has_output(2));
  if (c.has_output(1)) return error("output mean is asked for; this normalisation has none");
  c.set(0, norm.y), c.set(2, norm.inverse), c.set(3, sum);
  return {};
}

Status infer_simplified(InferContext& c) {
  SV_TRY(dtype_attribute(c.attributes(), "stash_type", DType::f32, kRealTypes));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, kRealTypes));
  c.set(0, c.dtype(1), c.shape(0));
  c.set(1, DType::f32, Shape());
  if (!c.shape(0).has_rank()) return {};
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), c.shape(0).rank()));
  SV_TRY(require_broadcast_to(c, 1, c.shape(0), "X"));
  std::vector<Dim> dims = c.shape(0).dims();
  for (auto i = static_cast<size_t>(axis); i < dims.size(); ++i) dims[i] = Dim(1);
  c.set(1, DType::f32, Shape(std::move(dims)));
  return {};
}

Status expand_simplified(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  const RootMeanSquare norm = rms_norm(c, c.input(0), c.input(1), c.attributes().get_int("axis", -1),
                                       c.attributes().get_float("epsilon", 1e-5f), c.has_output(1));
  c.set(0, norm.y), c.set(1, norm.inverse);
  return {};
}

Status infer_runtime_group_norm(InferContext& c) {
  SV_TRY(require_rank(c, 0, 4));
  const bool last = c.attributes().get_int("channels_last", 1) != 0;
  const Dim channels = c.shape(0).has_rank() ? c.shape(0)[last ? 3 : 1] : Dim();
  for (size_t i = 1; i < 3; ++i) {
    SV_TRY(require_rank(c, i, 1));
    if (c.shape(i).has_rank() && known_different(c.shape(i)[0], channels))
      return error("{} has {} elements, needs one for each of the {} channels", c.described(i), c.shape(i)[0].value(),
                   channels.value());
  }
  const int64_t activation = c.attributes().get_int("activation", 0), groups = c.attributes().get_int("groups", 0);
  if (activation != 0 && activation != 1) return error("activation is {}, must be 0 (none) or 1 (SiLU)", activation);
  if (groups < 1 || (channels.is_static() && channels.value() % groups != 0))
    return error("groups is {}, must divide the number of channels", groups);
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Value* runtime_group_norm(ExpandContext& c, Value* x) {
  const bool last = c.attributes().get_int("channels_last", 1) != 0;
  if (last) x = c.transpose(x, {0, 3, 1, 2});
  const DType type = x ? x->type.dtype : DType::f32;
  Value* y = c.op("GroupNormalization", {x, c.cast(c.input(1), type), c.cast(c.input(2), type)},
                  make_attributes({{"num_groups", c.attributes().get_int("groups", 1)},
                                   {"epsilon", c.attributes().get_float("epsilon", 1e-5f)}}));
  if (c.attributes().get_int("activation", 0) == 1) y = c.op("Mul", {y, c.op("Sigmoid", {y})});
  return last ? c.transpose(y, {0, 2, 3, 1}) : y;
}

Status expand_runtime_group_norm(ExpandContext& c) {
  c.set(0, runtime_group_norm(c, c.input(0)));
  return {};
}

/// skip is of X's shape, or [N, C] or [N, 1, 1, C].
Status infer_skip_group_norm(InferContext& c) {
  SV_TRY(infer_runtime_group_norm(c));
  if (c.attributes().get_int("channels_last", 1) == 0)
    return error("channels_last is 0; this operator adds a vector of the last dimension: it must be 1");
  SV_TRY(require_last(c, 4));
  const bool flat = c.shape(3).has_rank() && c.shape(3).rank() == 2;
  if (!flat) SV_TRY(require_rank(c, 3, 4));
  c.set(1, c.dtype(0), c.shape(0));
  return {};
}

Status expand_skip_group_norm(ExpandContext& c) {
  if (!c.shape(3).has_rank()) return {};
  Value* skip = c.shape(3).rank() == 2 ? c.unsqueeze(c.input(3), {1, 2}) : c.input(3);
  Value* sum = c.op("Add", {c.input(0), skip});
  if (c.has_input(4)) sum = c.op("Add", {sum, c.input(4)});
  c.set(0, sum ? runtime_group_norm(c, sum) : nullptr);
  c.set(1, sum);
  return {};
}

std::vector<AttributeDef> group_norm_attributes() {
  return {{"channels_last", AttributeKind::kInt, false, 1},
          {"activation", AttributeKind::kInt, true},
          {"groups", AttributeKind::kInt, true},
          {"epsilon", AttributeKind::kFloat, false, 1e-5f}};
}

}  // namespace

OpDef define_microsoft_skip_layer_normalization() {
  return {
      .name = "SkipLayerNormalization",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, skip, gamma, beta?, bias?",
      .outputs = {1, 4},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, kRuntimeEpsilon}},
      .expand = expand_skip_layer_norm,
      .infer = infer_skip_norm,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 9], float32[2, 3, 9], float32[9], float32[9], float32[9]) 4"
                 "(float32[2, 3, 5], float32[3, 5], float32[5])",
  };
}

OpDef define_microsoft_skip_simplified_layer_normalization() {
  return {
      .name = "SkipSimplifiedLayerNormalization",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, skip, gamma, bias?",
      .outputs = {1, 4},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, kRuntimeEpsilon}},
      .expand = expand_skip_simplified,
      .infer = infer_skip_norm,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 9], float32[2, 3, 9], float32[9], float32[9])"
                 "(float32[1, 2], float32[1, 2], float32[2])",
  };
}

/// ONNX Runtime writes it into domain ai.onnx, where no specification has it.
OpDef define_simplified_layer_normalization() {
  return {
      .name = "SimplifiedLayerNormalization",
      .until = 28,
      .inputs = "X, scale",
      .outputs = {1, 2},
      .attributes = {{"axis", AttributeKind::kInt, false, -1},
                     {"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"stash_type", AttributeKind::kInt, false, 1}},
      .expand = expand_simplified,
      .infer = infer_simplified,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 9], float32[9])"
                 "(float32[2, 3, 4], float32[3, 4]) {axis = 1} 2",
  };
}

OpDef define_microsoft_group_norm() {
  return {
      .name = "GroupNorm",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, gamma, beta",
      .attributes = group_norm_attributes(),
      .expand = expand_runtime_group_norm,
      .infer = infer_runtime_group_norm,
      .types = {{"T", {DType::f16, DType::f32}, {0}}, {"M", {DType::f16, DType::f32}, {1, 2}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 4, 6], float32[6], float32[6]) {groups = 2, activation = 1}"
                 "(float32[1, 2, 1, 1], float32[2], float32[2]) {groups = 1, activation = 0, channels_last = 0}",
  };
}

OpDef define_microsoft_skip_group_norm() {
  return {
      .name = "SkipGroupNorm",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, gamma, beta, skip, bias?",
      .outputs = {1, 2},
      .attributes = group_norm_attributes(),
      .expand = expand_skip_group_norm,
      .infer = infer_skip_group_norm,
      .types = {{"T", {DType::f16, DType::f32}, {0, 3, 4}}, {"M", {DType::f16, DType::f32}, {1, 2}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 4, 6], float32[6], float32[6], float32[2, 6], float32[6]) {groups = 2, activation = 1} 2",
  };
}

}  // namespace svengine::ops
