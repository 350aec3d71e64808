// RMSNormalization: every row, from `axis` on, divided by the root of its mean square, then times scale, which broadcasts to X.
#include <cmath>

#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/kernels/norm.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/language/attention_common.h"

namespace svengine::ops {
namespace {

Status infer_rms_normalization(InferContext& c) {
  SV_TRY(dtype_attribute(c.attributes(), "stash_type", DType::f32, kRealTypes));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, kRealTypes));
  const Shape& x = c.shape(0);
  if (c.dtype(0) != c.dtype(1))
    return error("scale is {}, must be {} as X is: cast one of them", name_of(c.dtype(1)), name_of(c.dtype(0)));
  c.set(0, c.dtype(0), x);
  if (!x.has_rank()) return {};
  SV_TRY(normalise_axis(c.attributes().get_int("axis", -1), x.rank()));
  return require_broadcast_to(c, 1, x, "X");
}

int64_t rms_axis(const Node& node) {
  const int64_t axis = node.attributes.get_int("axis", -1);
  return axis < 0 ? axis + node.input(0)->type.shape.rank() : axis;
}

/// scale has an element for each of a row: the kernel's work.
bool has_scale_of_row(const Node& node) {
  const Type &x = node.input(0)->type, &scale = node.input(1)->type;
  const size_t rank = x.shape.dims().size(), axis = static_cast<size_t>(rms_axis(node));
  const std::vector<Dim>& d = scale.shape.dims();
  for (size_t i = 0; i < rank; ++i) {
    const Dim have = i + d.size() < rank ? Dim(1) : d[i + d.size() - rank];
    if (!have.same(i < axis ? Dim(1) : x.shape[i])) return false;
  }
  return true;
}

std::vector<int64_t> axes_from(int64_t axis, int64_t rank) {
  std::vector<int64_t> axes;
  for (; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

void emit_rms_of_doubles(LowerContext& c, int64_t rows, int64_t n, double epsilon) {
  c.emit("rms_norm", rows, [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t row = begin; row < end; ++row) {
      const double* x = run.get<const double>(in) + row * n;
      double* y = run.get<double>(out) + row * n;
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
      const double factor = 1 / std::sqrt(sum / static_cast<double>(n) + epsilon);
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] * factor;
    }
    return nullptr;
  });
}

/// A scale that is a row is the kernel's work; others, and those of doubles, are broadcast by a step of their own.
Status lower_rms_normalization(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const auto axis = static_cast<size_t>(rms_axis(c.node()));
  kernels::RowNormArgs args;
  args.rows = element_count(std::span(dims).first(axis));
  args.n = args.x_stride = args.y_stride = element_count(std::span(dims).subspan(axis));
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  if (args.n == 0) return {};
  const bool wide = c.in_type(0).dtype == DType::f64, row = !wide && has_scale_of_row(c.node());
  if (wide)
    emit_rms_of_doubles(c, args.rows, args.n, args.epsilon);
  else
    emit_kernel(c, "rms_norm", c.kernels().norm->rms_norm, args,
                [in = c.in(0), scale = row ? c.in(1) : Buffer{}, out = c.out()](kernels::RowNormArgs& a, const Run& run) {
                  a.x = run.get<const float>(in);
                  a.scale = run.get<const float>(scale);
                  a.y = run.get<float>(out);
                });
  if (row) return {};
  const Operand out = result_of(c);
  return emit_binary(c, kernels::BinaryOp::kMul, out, operand_of(c, 1), out);
}

/// With n = x / rms and g = dy scale, means over the row: dx = (g - n mean(g n)) / rms.
Status rms_normalization_gradient(GradientContext& c) {
  Value* x = c.input(0);
  if (!x->type.shape.has_rank()) return error("the gradient needs an input of known rank");
  const std::vector<int64_t> axes = axes_from(rms_axis(c.node()), x->type.shape.rank());
  Value* over = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)));
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, over}); };
  Value* root = c.op("Sqrt", {c.op("Add", {mean(c.op("Mul", {x, x})), c.scalar(c.attributes().get_float("epsilon", 1e-5f), x)})});
  Value* n = c.op("Div", {x, root});
  if (c.wants(0)) {
    Value* g = c.op("Mul", {c.dy(), c.input(1)});
    c.set(0, c.op("Div", {c.op("Sub", {g, c.op("Mul", {n, mean(c.op("Mul", {g, n}))})}), root}));
  }
  if (c.wants(1)) c.set(1, c.sum_to(c.op("Mul", {c.dy(), n}), c.input(1)));
  return {};
}

}  // namespace

OpDef define_rms_normalization() {
  return {
      .name = "RMSNormalization",
      .since = 23,
      .until = 28,
      .inputs = "X, scale",
      .attributes = {{"axis", AttributeKind::kInt, false, -1},
                     {"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"stash_type", AttributeKind::kInt, false, 1}},
      .infer = infer_rms_normalization,
      .lower = lower_rms_normalization,
      .gradient = rms_normalization_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 7, 33], float32[33])"
                 "(float32[3, 4, 5], float32[4, 5]) {axis = 1}"
                 "(float32[3, 4, 5], float32[4, 1]) {axis = 0}"
                 "(float64[2, 3], float64[3])",
  };
}

}  // namespace svengine::ops
