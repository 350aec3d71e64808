// LayerNormalization: every row, from `axis` on, to mean 0 and variance 1, then times scale plus bias, which broadcast to X.
// The specification has it since opset 17; ONNX Runtime's optimiser writes it, into ai.onnx's domain, in models of any opset.
#include <bit>
#include <limits>

#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/graph/axes.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kStashTypes{DType::f32, DType::bf16};  // U of the specification: what Mean and InvStdDev are of

Status infer_layer_normalization(InferContext& c) {
  const Shape& x = c.shape(0);
  SV_TRY(dtype_attribute(c.attributes(), "stash_type", DType::f32, kStashTypes));
  for (size_t i = 0; i < 3; ++i) c.set(i, i == 0 ? c.dtype(0) : DType::f32, i == 0 ? x : Shape());
  if (!x.has_rank()) return {};
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), x.rank()));
  for (size_t i = 1; i < 3; ++i)
    if (c.has_input(i)) SV_TRY(require_broadcast_to(c, i, x, "X"));
  std::vector<Dim> statistics = x.dims();
  for (auto i = static_cast<size_t>(axis); i < statistics.size(); ++i) statistics[i] = Dim(1);
  c.set(1, DType::f32, Shape(statistics));
  c.set(2, DType::f32, Shape(std::move(statistics)));
  return {};
}

/// `v` has an element of its own for each of a row (the dimensions from `axis` on), and the same for all rows.
bool is_row(const Shape& v, const Shape& x, size_t axis) {
  const size_t rank = x.dims().size(), used = v.dims().size();
  for (size_t i = 0; i < rank; ++i) {
    const Dim d = i + used < rank ? Dim(1) : v[i + used - rank];
    if (!d.same(i < axis ? Dim(1) : x[i])) return false;
  }
  return true;
}

size_t axis_of(const Node& node) {
  const int64_t axis = node.attributes.get_int("axis", -1);
  return static_cast<size_t>(axis < 0 ? axis + node.input(0)->type.shape.rank() : axis);
}

bool has_row(const Node& node, size_t input) {
  return is_row(node.input(input)->type.shape, node.input(0)->type.shape, axis_of(node));
}

/// Operands of the kernel; scale and bias where they are rows.
struct RowNorm {
  int64_t rows, n;
  Buffer scale, bias;
};

void emit_norm_f32(LowerContext& c, const RowNorm& norm) {
  kernels::RowNormArgs args;
  args.rows = norm.rows;
  args.n = args.x_stride = args.y_stride = norm.n;
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_kernel(c, "layer_norm", c.kernels().norm->layer_norm, args,
              [in = c.in(0), norm, out = c.out(), mean = c.out(1), inv_std = c.out(2)](kernels::RowNormArgs& a, const Run& run) {
                a.x = run.get<const float>(in);
                a.scale = run.get<const float>(norm.scale);
                a.bias = run.get<const float>(norm.bias);
                a.y = run.get<float>(out);
                a.mean = run.get<float>(mean);
                a.inv_std = run.get<float>(inv_std);
              });
}

/// A row's elements are the channels of an image of one pixel.
void emit_norm_f64(LowerContext& c, const RowNorm& norm) {
  kernels::GroupNormArgsF64 args;
  args.batch = norm.rows, args.channels = norm.n, args.spatial = 1;
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_kernel(c, "layer_norm", c.kernels().norm->group_norm_f64, args,
              [in = c.in(0), norm, out = c.out(), mean = c.out(1), inv_std = c.out(2)](kernels::GroupNormArgsF64& a, const Run& run) {
                a.x = run.get<const double>(in);
                a.scale = run.get<const double>(norm.scale);
                a.bias = run.get<const double>(norm.bias);
                a.y = run.get<double>(out);
                a.mean = run.get<float>(mean);
                a.inv_std = run.get<float>(inv_std);
              });
}

/// Scale and B that are rows are the kernel's work; others are broadcast by steps of their own.
Status lower_layer_normalization(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const size_t axis = axis_of(c.node());
  RowNorm norm{element_count(std::span(dims).first(axis)), element_count(std::span(dims).subspan(axis)), {}, {}};
  if (norm.n == 0) {  // of nothing: no y, and NaN for mean and deviation, as 0 / 0 is
    for (const size_t i : {size_t{1}, size_t{2}})
      if (c.has_output(i)) emit_fill(c, c.out(i), norm.rows, 4, std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN()));
    return {};
  }
  if (norm.rows == 0) return {};
  const bool row_scale = has_row(c.node(), 1), row_bias = row_scale && c.has_input(2) && has_row(c.node(), 2);
  if (row_scale) norm.scale = c.in(1);
  if (row_bias) norm.bias = c.in(2);
  wide::is_wide(c) ? emit_norm_f64(c, norm) : emit_norm_f32(c, norm);
  const Operand out = result_of(c);
  if (!row_scale) SV_TRY(emit_binary(c, kernels::BinaryOp::kMul, out, operand_of(c, 1), out));
  if (c.has_input(2) && !row_bias) SV_TRY(emit_binary(c, kernels::BinaryOp::kAdd, out, operand_of(c, 2), out));
  return {};
}

/// Scale is no row: x' = (x - mean) inv_std, and with g = dy scale and means over the row
/// dx = inv_std (g - mean(g) - x' mean(g x')).
void set_broadcast_gradients(GradientContext& c, Value* mean, Value* inv_std) {
  std::vector<int64_t> axes;
  for (size_t i = axis_of(c.node()); i < c.input(0)->type.shape.dims().size(); ++i) axes.push_back(static_cast<int64_t>(i));
  Value* over = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)));
  const auto row_mean = [&](Value* v) { return c.op("ReduceMean", {v, over}); };
  Value* normal = c.op("Mul", {c.op("Sub", {c.input(0), mean}), inv_std});
  Value* g = c.op("Mul", {c.dy(), c.input(1)});
  Value* along = c.op("Mul", {normal, row_mean(c.op("Mul", {g, normal}))});
  if (c.wants(0)) c.set(0, c.op("Mul", {inv_std, c.op("Sub", {c.op("Sub", {g, row_mean(g)}), along})}));
  if (c.wants(1)) c.set(1, c.sum_to(c.op("Mul", {c.dy(), normal}), c.input(1)));
  if (c.wants(2)) c.set(2, c.sum_to(c.dy(), c.input(2)));
}

Status layer_normalization_gradient(GradientContext& c) {
  for (size_t i : {size_t{1}, size_t{2}})
    if (c.output_gradient(i)) return error("output {} is used; only that of output 0 has a gradient", i);
  if (wide::is_wide_gradient(c)) {  // whose outputs 1 and 2 are float32
    wide::NormOperands norm;
    for (size_t i = axis_of(c.node()); i < c.input(0)->type.shape.dims().size(); ++i) norm.axes.push_back(static_cast<int64_t>(i));
    return wide::set_norm_gradient(c, norm);
  }
  Value *mean = c.output(1), *inv_std = c.output(2);
  if (!has_row(c.node(), 1)) {
    set_broadcast_gradients(c, mean, inv_std);
    return {};
  }
  const Node* grad = c.builder().node(kInternalDomain, "LayerNormGrad", {c.dy(), c.input(0), c.input(1), mean, inv_std}, 3,
                                      make_attributes({{"axis", c.attributes().get_int("axis", -1)}}));
  if (!grad) return {};
  c.set(0, grad->output(0));
  c.set(1, c.reshape_to(grad->output(1), c.input(1)));
  if (!c.wants(2)) return {};
  c.set(2, has_row(c.node(), 2) ? c.reshape_to(grad->output(2), c.input(2)) : c.sum_to(c.dy(), c.input(2)));
  return {};
}

}  // namespace

OpDef define_layer_normalization() {
  return {
      .name = "LayerNormalization",
      .specified_since = 17,
      .inputs = "X, Scale, B?",
      .outputs = {1, 3},
      .attributes = {{"axis", AttributeKind::kInt, false, -1},
                     {"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"stash_type", AttributeKind::kInt, false, 1}},
      .infer = infer_layer_normalization,
      .lower = lower_layer_normalization,
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .gradient = layer_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 7, 33], float32[33], float32[33])"
                 "(float32[3, 4, 5], float32[4, 5]) {axis = 1} 3"
                 "(float32[7, 5, 7], float32[7, 1, 1], float32[5, 1])"
                 "(float64[2, 7, 33], float64[33], float64[33]) 3"
                 "(float16[2, 33], float16[33]) 2"
                 "(bfloat16[2, 33], bfloat16[33])"
                 "(float32[3, 4, 5], float32[4, 5], float32[1]) {axis = 1}",
  };
}

}  // namespace svengine::ops
