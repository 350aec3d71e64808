// The engine's mean of quantised values, which GlobalAveragePool and ReduceMean between DequantizeLinear and QuantizeLinear become: sums of
// bytes are exact, and rounded once. Inputs x, x_scale, x_zero_point, y_scale, y_zero_point; attribute `axes` are neighbours.
#include <cmath>

#include "engine/graph/transposed_node.h"
#include "engine/ops/element.h"
#include "engine/ops/element_step.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/lowering.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/reduce/reduce_common.h"

namespace svengine::ops {
namespace {

/// The dimensions [first, last) that are averaged.
struct MeanAxes {
  int64_t first, last;
};

Result<MeanAxes> mean_axes(const Attributes& attributes, int64_t rank) {
  std::vector<int64_t> axes = attributes.get_ints("axes");
  if (axes.empty()) return error("there are no axes");
  for (int64_t& axis : axes) {
    SV_ASSIGN(axis, normalise_axis(axis, rank));
  }
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[0] + static_cast<int64_t>(i)) return error("axes are no neighbours");
  return MeanAxes{axes.front(), axes.back() + 1};
}

Status infer_bytes_mean(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 4));
  SV_TRY(require_zero_of(c, 2, 0));
  for (size_t i : {1, 3}) SV_TRY(require_dtype(c, i, {DType::f32}));
  for (size_t i = 1; i < 5; ++i)
    if (c.shape(i).is_static() && element_count(*c.shape(i).concrete()) != 1)
      return error("{} is {}, needs one element", c.described(i), to_string(c.type(i)));
  Shape out;
  if (c.shape(0).has_rank()) {
    SV_ASSIGN(const MeanAxes axes, mean_axes(c.attributes(), c.shape(0).rank()));
    std::vector<Dim> dims = c.shape(0).dims();
    const auto first = dims.begin() + axes.first, last = dims.begin() + axes.last;
    if (keeps_dims(c.attributes())) std::fill(first, last, Dim(1));
    else dims.erase(first, last);
    out = Shape(std::move(dims));
  }
  c.set(0, c.dtype(4), std::move(out));
  return {};
}

/// One sum as a level. Of no elements there is no mean; NaN is the lowest level, as in QuantizeLinear.
double mean_level(double sum, double n, double zero_x, double step, double zero_y, DType type) {
  const bool is_signed = type == DType::i8;
  const double level = n == 0 ? NAN : std::nearbyint((sum - n * zero_x) * (step / n)) + zero_y;
  return std::fmin(std::fmax(level, is_signed ? -128 : 0), is_signed ? 127 : 255);
}

Status lower_bytes_mean(LowerContext& c) {
  const Dims x = c.in_dims(0);
  SV_ASSIGN(const MeanAxes axes, mean_axes(c.attributes(), static_cast<int64_t>(x.size())));
  const auto count = [&](int64_t from, int64_t to) { return element_count(Dims(x.begin() + from, x.begin() + to)); };
  kernels::ByteSumArgs args;
  args.outer = count(0, axes.first), args.n = count(axes.first, axes.last), args.inner = count(axes.last, static_cast<int64_t>(x.size()));
  args.is_signed = c.in_type(0).dtype == DType::i8;
  const int64_t results = args.outer * args.inner;
  if (results == 0) return {};
  const Buffer sums = c.temporary(results * 8);
  emit_kernel(c, "sum_bytes", c.kernels().quantized->sum, args, [sums, from = c.in(0)](kernels::ByteSumArgs& a, const Run& run) {
    a.x = run.get<const uint8_t>(from), a.sums = run.get<int64_t>(sums);
  });
  const Numbers scale_x = numbers_of(c, 1), zero_x = numbers_of(c, 2), scale_y = numbers_of(c, 3), zero_y = numbers_of(c, 4);
  const DType type = c.out_type().dtype;
  emit_elements(c, "quantize_means", results, [=, n = static_cast<double>(args.n), y = c.out()](const Run& run, int64_t begin, int64_t end) {
    const auto number = [&](const Numbers& of) { return number_at(of.type, run.get<const void>(of.buffer), 0); };
    const double step = number(scale_x) / number(scale_y), from = number(zero_x), to = number(zero_y);
    for (int64_t i = begin; i < end; ++i)
      run.get<uint8_t>(y)[i] =
          static_cast<uint8_t>(static_cast<int32_t>(mean_level(static_cast<double>(run.get<const int64_t>(sums)[i]), n, from, step, to, type)));
  });
  return {};
}

std::optional<TransposedNode> transposed_bytes_mean(const Node& node, const Permutation& perm) {
  const auto axes = mean_axes(node.attributes, static_cast<int64_t>(perm.size()));
  if (!axes.ok()) return std::nullopt;
  std::vector<int64_t> stored;
  for (int64_t i = axes->first; i < axes->last; ++i) stored.push_back(perm[static_cast<size_t>(i)]);
  TransposedNode out{.inputs = {perm, {}, {}, {}, {}}, .outputs = {perm}, .attributes = node.attributes};
  out.attributes.set("axes", stored);
  if (!mean_axes(out.attributes, static_cast<int64_t>(perm.size())).ok()) return std::nullopt;
  std::vector<int64_t> dropped;
  for (int64_t i = axes->first; i < axes->last; ++i) dropped.push_back(i);
  if (!keeps_dims(node.attributes)) out.outputs[0] = without(perm, dropped);
  return out;
}

}  // namespace

OpDef define_bytes_mean() {
  return {
      .name = "BytesMean",
      .domain = kInternalDomain,
      .inputs = "x, x_scale, x_zero_point, y_scale, y_zero_point",
      .attributes = {{"axes", AttributeKind::kInts, true}, {"keepdims", AttributeKind::kInt, false, 1}},
      .infer = infer_bytes_mean,
      .lower = lower_bytes_mean,
      .cost =
          [](const Node& node) -> Cost {
            const double bytes = stored_bytes(node.input(0)->type);
            return {bytes, bytes + stored_bytes(node.output()->type)};
          },
      .traits = {.transposed = transposed_bytes_mean},
      .samples = "(uint8[2, 5, 7, 7] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, uint8[1] 0 to 256) "
                 "{axes = [2, 3], keepdims = 1}"
                 "(int8[2, 5, 9, 11] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128) "
                 "{axes = [-1, -2], keepdims = 0}"
                 "(uint8[2, 7, 7, 70] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, int8[] -128 to 128) "
                 "{axes = [1, 2], keepdims = 1}"
                 "(int8[3, 300] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, float32[] 0.01 to 0.1, uint8[1] 0 to 256) "
                 "{axes = [0], keepdims = 0}"
                 "(uint8[2, 3, 0] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, uint8[1] 0 to 256) "
                 "{axes = [2], keepdims = 1}"
                 "(uint8[0, 3, 2] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, uint8[1] 0 to 256) "
                 "{axes = [2], keepdims = 1}",
  };
}

}  // namespace svengine::ops
