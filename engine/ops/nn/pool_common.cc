#include "engine/ops/nn/pool_common.h"

#include "engine/ops/kernel_step.h"
#include "engine/ops/like.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

kernels::Extent pool_extent(const Dims& values, int64_t fill) {
  const auto three = to_three(values, fill);
  return {three[0], three[1], three[2]};
}

}  // namespace

Status infer_pool(InferContext& c) {
  SV_TRY(check_spatial_rank(c.shape(0), "X"));
  const Shape& x = c.shape(0);
  Shape out;
  if (x.has_rank()) {
    SV_ASSIGN(std::vector<Dim> spatial, window_output(c.attributes(), x, {}));
    std::vector<Dim> dims{x[0], x[1]};
    dims.insert(dims.end(), spatial.begin(), spatial.end());
    out = Shape(std::move(dims));
  }
  c.set(0, c.dtype(0), out);
  c.set(1, DType::i64, out);
  return {};
}

Result<kernels::PoolShape> pool_shape(const Attributes& attributes, const Dims& x, const Dims& kernel) {
  SV_ASSIGN(Window w, window_of(attributes, Dims(x.begin() + 2, x.end()), kernel));
  SV_TRY(check_padded(w));
  return kernels::PoolShape{x[0],
                            x[1],
                            pool_extent(w.in, 1),
                            pool_extent(w.out, 1),
                            pool_extent(w.kernel, 1),
                            pool_extent(w.strides, 1),
                            pool_extent(w.dilations, 1),
                            pool_extent(w.pads_begin, 0),
                            pool_extent(w.pads_end, 0)};
}

Status lower_pool(LowerContext& c, const char* kernel, kernels::PoolArgs args) {
  args.blocked = c.in_type(0).block > 0;
  SV_ASSIGN(args.shape, pool_shape(c.attributes(), c.in_dims(0)));
  args.column_major_indices = c.attributes().get_int("storage_order") != 0;
  if (wide::is_wide(c)) {
    wide::emit_pool(c, kernel, args);
    return {};
  }
  emit_kernel(c, kernel, c.kernels().pool->window, args,
              [in = c.in(0), out = c.out(), indices = args.blocked ? Buffer{} : c.out(1)](kernels::PoolArgs& a, const Run& run) {
                a.input = run.get<const float>(in);
                a.output = run.get<float>(out);
                a.indices = run.get<int64_t>(indices);
              });
  return {};
}

Status set_pool_gradient(GradientContext& c, const char* mode) {
  Attributes attributes = c.attributes();
  attributes.set("mode", std::string(mode));
  c.set(0, c.internal("PoolGrad", {c.dy(), c.input(0)}, std::move(attributes)));
  return {};
}

Status infer_pool_gradient(InferContext& c) {
  c.set(0, c.type(1));
  const Shape& x = c.shape(1);
  if (!x.has_rank()) return {};
  SV_TRY(check_spatial_rank(x, "X"));
  SV_ASSIGN(const std::vector<Dim> spatial, window_output(c.attributes(), x, {}));
  std::vector<Dim> pooled{x[0], x[1]};
  pooled.insert(pooled.end(), spatial.begin(), spatial.end());
  if (c.has_input(2)) SV_TRY(require_shape(c, 2, Shape(pooled)));
  return require_shape(c, 0, Shape(std::move(pooled)));
}

Status check_power(const Attributes& attributes) {
  const int64_t p = attributes.get_int("p", 2);
  return p >= 1 && p <= INT32_MAX ? Status() : error("p is {}, needs 1 to {}", p, INT32_MAX);
}

Status infer_global_pool(InferContext& c) {
  SV_TRY(check_spatial_rank(c.shape(0), "X"));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  std::vector<Dim> out(static_cast<size_t>(x.rank()), Dim(1));
  out[0] = x[0];
  out[1] = x[1];
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Status lower_global_pool(LowerContext& c, const char* kernel, kernels::PoolKind kind, int32_t power) {
  if (wide::is_wide(c)) {
    wide::emit_global_pool(c, kernel, kind, power);
    return {};
  }
  const Dims dims = c.in_dims(0);
  kernels::GlobalPoolArgs args;
  args.kind = kind;
  args.blocked = c.in_type(0).block > 0;
  args.batch = dims[0];
  args.channels = dims[1];
  args.size = element_count(std::span(dims).subspan(2));
  args.power = power;
  emit_kernel(c, kernel, c.kernels().pool->global, args, [in = c.in(0), out = c.out()](kernels::GlobalPoolArgs& a, const Run& run) {
    a.input = run.get<const float>(in);
    a.output = run.get<float>(out);
  });
  return {};
}

bool can_block_pool(const Node& node, int) {
  return node.input(0)->type.block > 0;
}

Cost pool_cost(const Node& node) {
  Cost cost;
  const Shape& x = node.input(0)->type.shape;
  cost.bytes = stored_bytes(node.input(0)->type) + stored_bytes(node.output()->type);
  Dims spatial;
  for (size_t i = 2; x.has_rank() && i < x.dims().size(); ++i) spatial.push_back(x[i].is_static() ? x[i].value() : 1);
  double window = static_cast<double>(element_count(node.attributes.get_ints("kernel_shape", spatial)));
  cost.flops = stored_bytes(node.output()->type) / 4 * window;
  return cost;
}

}  // namespace svengine::ops
