#include "engine/ops/nn/group_norm_common.h"

#include "engine/kernels/norm.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {

Status infer_group_norm(InferContext& c) {
  for (size_t i = 1; i < 3; ++i) {
    SV_TRY(require_rank(c, i, 1));
    if (c.shape(0).has_rank() && c.shape(i).has_rank() && known_different(c.shape(0)[1], c.shape(i)[0]))
      return error("{} has {} elements, needs one for each of the {} channels", c.described(i), c.shape(i)[0].value(), c.shape(0)[1].value());
  }
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

namespace {

template <class T>
Status emit_group_norm(LowerContext& c, const kernels::TaskKernel<kernels::GroupNormArgsOf<T>>& kernel, int64_t groups) {
  const Dims dims = c.in_dims(0);
  kernels::GroupNormArgsOf<T> args;
  args.batch = dims[0], args.channels = dims[1];
  args.groups = groups == kGroupsAreChannels ? dims[1] : groups;
  args.spatial = element_count(std::span(dims).subspan(2));
  args.epsilon = c.attributes().get_float("epsilon", 1e-5f);
  emit_kernel(c, "group_norm", kernel, args,
              [in = c.in(0), scale = c.in(1), bias = c.in(2), out = c.out()](kernels::GroupNormArgsOf<T>& a, const Run& run) {
                a.x = run.get<const T>(in);
                a.y = run.get<T>(out);
                a.scale = run.get<const T>(scale);
                a.bias = run.get<const T>(bias);
              });
  return {};
}

}  // namespace

Status lower_group_norm(LowerContext& c, int64_t groups) {
  if (element_count(c.in_dims(0)) == 0) return {};
  const kernels::NormKernels& norm = *c.kernels().norm;
  return wide::is_wide(c) ? emit_group_norm<double>(c, norm.group_norm_f64, groups) : emit_group_norm<float>(c, norm.group_norm, groups);
}

namespace {

std::vector<int64_t> axes_of_pixels(int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  return axes;
}

/// Elements of a group of x where they are known, else -1: a reshape finds them where there is a batch.
int64_t elements_of_group(const Shape& x, int64_t groups) {
  int64_t count = 1;
  for (int64_t d = groups == kGroupsAreChannels ? 2 : 1; d < x.rank(); ++d) {
    if (!x[static_cast<size_t>(d)].is_static()) return -1;
    count *= x[static_cast<size_t>(d)].value();
  }
  return groups == kGroupsAreChannels ? count : count / groups;
}

}  // namespace

/// As of a layer norm over each group: h is the normalised value, g its gradient, rows are groups.
Status group_norm_gradient(GradientContext& c, int64_t groups) {
  Value* x = c.input(0);
  const int64_t rank = x->type.shape.rank();
  if (rank < 2) return error("the gradient needs an input of known rank");
  const auto list = [&](const std::vector<int64_t>& v) {
    return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, std::span<const int64_t>(v)));
  };
  Value *shape = list({0, groups, elements_of_group(x->type.shape, groups)}), *over = list({2});
  const auto in_rows = [&](Value* v) { return c.op("Reshape", {v, shape}); };
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, over}); };
  const auto per_channel = [&](Value* v) { return rank == 2 ? v : c.op("Unsqueeze", {v, list(axes_of_pixels(rank))}); };
  const auto of_channels = [&](Value* v) {
    std::vector<int64_t> axes{0};
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    return c.op("ReduceSum", {v, list(axes)}, make_attributes({{"keepdims", int64_t{0}}}));
  };
  Value* rows = in_rows(x);
  Value* centered = c.op("Sub", {rows, mean(rows)});
  Value* root = c.op(
      "Sqrt", {c.op("Add", {mean(c.op("Mul", {centered, centered})), c.scalar(c.attributes().get_float("epsilon", 1e-5f), x)})});
  Value* h = c.op("Div", {centered, root});
  if (c.wants(0)) {
    Value* g = in_rows(c.op("Mul", {c.dy(), per_channel(c.input(1))}));
    Value* rest = c.op("Sub", {c.op("Sub", {g, mean(g)}), c.op("Mul", {h, mean(c.op("Mul", {g, h}))})});
    c.set(0, c.reshape_to(c.op("Div", {rest, root}), x));
  }
  if (c.wants(1)) c.set(1, of_channels(c.op("Mul", {c.dy(), c.reshape_to(h, x)})));
  if (c.wants(2)) c.set(2, of_channels(c.dy()));
  return {};
}

}  // namespace svengine::ops
