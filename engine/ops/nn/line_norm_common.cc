#include "engine/ops/nn/line_norm_common.h"

#include <algorithm>

#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

/// Neighbouring dimensions that all belong to lines, or all do not.
struct LineGroup {
  int64_t extent, stride;
  bool reduced;
};

/// Innermost first, dimensions of 1 left out.
std::vector<LineGroup> line_groups(const Dims& dims, const std::vector<int64_t>& axes) {
  std::vector<LineGroup> groups;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d]) {
    if (dims[d] == 1) continue;
    const bool reduced = std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) > 0;
    if (!groups.empty() && groups.back().reduced == reduced)
      groups.back().extent *= dims[d];
    else
      groups.push_back({dims[d], stride, reduced});
  }
  return groups;
}

/// The groups from `first` on that are, or are not, of lines.
Result<kernels::NestOffsets> line_offsets(const std::vector<LineGroup>& groups, size_t first, bool reduced) {
  kernels::NestOffsets offsets;
  for (size_t g = first; g < groups.size(); ++g) {
    if (groups[g].reduced != reduced) continue;
    if (offsets.rank == kernels::NestOffsets::kMost)
      return unimplemented("dimensions that are normalised and others alternate more than {} times", 2 * kernels::NestOffsets::kMost);
    offsets.extent[offsets.rank] = groups[g].extent, offsets.stride[offsets.rank++] = groups[g].stride;
  }
  return offsets;
}

template <class T>
Status emit_line_norm_of(LowerContext& c, const char* name, const kernels::TaskKernel<kernels::LineNormArgsOf<T>>& kernel, kernels::LineNorm norm,
                         double guard, const std::vector<LineGroup>& groups) {
  kernels::LineNormArgsOf<T> args;
  args.norm = norm, args.guard = guard, args.n = 1;
  size_t outer = 0;
  if (outer < groups.size() && !groups[outer].reduced) args.inner = groups[outer++].extent;
  if (outer < groups.size()) args.n = groups[outer++].extent;
  SV_ASSIGN(args.lines, line_offsets(groups, outer, false));
  SV_ASSIGN(args.segments, line_offsets(groups, outer, true));
  emit_kernel(c, name, kernel, args, [x = c.in(0), y = c.out()](kernels::LineNormArgsOf<T>& a, const Run& run) {
    a.x = run.get<const T>(x), a.y = run.get<T>(y);
  });
  return {};
}

}  // namespace

Status emit_line_norm(LowerContext& c, const char* name, kernels::LineNorm norm, double guard, const std::vector<int64_t>& axes) {
  const Dims dims = c.in_dims(0);
  if (element_count(dims) == 0) return {};
  const std::vector<LineGroup> groups = line_groups(dims, axes);
  const kernels::NormKernels& kernels = *c.kernels().norm;
  switch (c.in_type(0).dtype) {
    case DType::f32:
      return emit_line_norm_of<float>(c, name, kernels.line_norm, norm, guard, groups);
    case DType::f64:
      return emit_line_norm_of<double>(c, name, kernels.line_norm_f64, norm, guard, groups);
    default:
      return error("the input is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(0).dtype}));
  }
}

}  // namespace svengine::ops
