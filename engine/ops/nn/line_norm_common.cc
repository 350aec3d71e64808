#include "engine/ops/nn/line_norm_common.h"

#include <algorithm>
#include <memory>

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

/// Where the groups from `first` on begin that are, or are not, of lines: offsets in ascending order.
std::vector<int64_t> line_offsets(const std::vector<LineGroup>& groups, size_t first, bool reduced) {
  std::vector<int64_t> offsets{0};
  for (size_t g = first; g < groups.size(); ++g) {
    if (groups[g].reduced != reduced) continue;
    const size_t inner = offsets.size();
    for (int64_t i = 1; i < groups[g].extent; ++i)
      for (size_t k = 0; k < inner; ++k) offsets.push_back(offsets[k] + i * groups[g].stride);
  }
  return offsets;
}

template <class T>
void emit_line_norm_of(LowerContext& c, const char* name, const kernels::TaskKernel<kernels::LineNormArgsOf<T>>& kernel,
                       kernels::LineNormArgsOf<T> args, const std::vector<LineGroup>& groups) {
  size_t outer = 0;
  if (outer < groups.size() && !groups[outer].reduced) args.inner = groups[outer++].extent;
  if (outer < groups.size()) args.n = groups[outer++].extent;
  const auto lines = std::make_shared<std::vector<int64_t>>(), segments = std::make_shared<std::vector<int64_t>>();
  args.lines = 1;
  // The usual ones are one behind the other, and need no table.
  size_t kept = 0;
  for (size_t g = outer; g < groups.size(); ++g) kept += !groups[g].reduced;
  if (kept == 1 && !groups[outer].reduced)
    args.lines = groups[outer].extent;
  else if (kept > 0)
    *lines = line_offsets(groups, outer, false), args.lines = static_cast<int64_t>(lines->size());
  if (groups.size() > outer + kept) *segments = line_offsets(groups, outer, true), args.segments = static_cast<int64_t>(segments->size());
  emit_kernel(c, name, kernel, args, [=, x = c.in(0), y = c.out()](kernels::LineNormArgsOf<T>& a, const Run& run) {
    a.x = run.get<const T>(x), a.y = run.get<T>(y);
    a.line_at = lines->empty() ? nullptr : lines->data();
    a.segment_at = segments->empty() ? nullptr : segments->data();
  });
}

}  // namespace

Status emit_line_norm(LowerContext& c, const char* name, kernels::LineNorm norm, double guard, const std::vector<int64_t>& axes) {
  const Dims dims = c.in_dims(0);
  if (element_count(dims) == 0) return {};
  const std::vector<LineGroup> groups = line_groups(dims, axes);
  const kernels::NormKernels& kernels = *c.kernels().norm;
  switch (c.in_type(0).dtype) {
    case DType::f32:
      emit_line_norm_of<float>(c, name, kernels.line_norm, {.norm = norm, .guard = guard, .n = 1}, groups);
      return {};
    case DType::f64:
      emit_line_norm_of<double>(c, name, kernels.line_norm_f64, {.norm = norm, .guard = guard, .n = 1}, groups);
      return {};
    default:
      return error("the input is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(0).dtype}));
  }
}

}  // namespace svengine::ops
