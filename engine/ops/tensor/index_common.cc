#include "engine/ops/tensor/index_common.h"

#include <algorithm>

#include "engine/base/round.h"
#include "engine/graph/axes.h"
#include "engine/kernels/data.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

constexpr int64_t kIndicesPerTask = 4096;
constexpr const char* kOutsideMessage = "an index is outside the data's dimension";

/// The position of the first of `count` indices that is outside, or count. Index i belongs to dimension extents[i % depth].
template <class Index>
int64_t first_outside(const Index* indices, int64_t begin, int64_t end, std::span<const int64_t> extents) {
  const auto is_outside = [](Index index, int64_t extent) {  // below -extent or from extent on, in one comparison
    return static_cast<uint64_t>(int64_t{index}) + static_cast<uint64_t>(extent) >= 2 * static_cast<uint64_t>(extent);
  };
  int64_t i = begin;
  if (extents.size() == 1) {
    constexpr int64_t kTogether = 16;  // one branch for so many
    for (bool found = false; i + kTogether <= end; i += kTogether) {
      for (int64_t k = 0; k < kTogether; ++k) found |= is_outside(indices[i + k], extents[0]);
      if (found) break;
    }
  }
  for (size_t d = static_cast<size_t>(i) % extents.size(); i < end; ++i, d = d + 1 == extents.size() ? 0 : d + 1)
    if (is_outside(indices[i], extents[d])) return i;
  return end;
}

int64_t first_outside(const void* indices, bool wide, int64_t begin, int64_t end, std::span<const int64_t> extents) {
  if (extents.empty()) return end;
  return wide ? first_outside(static_cast<const int64_t*>(indices), begin, end, extents)
              : first_outside(static_cast<const int32_t*>(indices), begin, end, extents);
}

Status check_constant_indices(const Tensor& t, std::span<const int64_t> extents) {
  if (extents.empty()) return {};
  const bool wide = t.type() == DType::i64;
  const int64_t bad = first_outside(t.raw(), wide, 0, t.count(), extents);
  if (bad == t.count()) return {};
  const int64_t extent = extents[static_cast<size_t>(bad) % extents.size()];
  return error("index {} is outside [{}, {}]", index_at(t.raw(), wide, bad), -extent, extent - 1);
}

/// A kernel that looks at the indices itself and writes nothing but a new output, where a look at all of them before would take as long again.
template <class Args>
void emit_checked_gather(LowerContext& c, const char* name, const kernels::TaskKernel<Args>& kernel, const Args& args) {
  c.emit(name, kernel.tasks(args),
         [args, run_kernel = kernel.run, data = c.in(0), indices = c.in(1), out = c.out()](const Run& run, int64_t begin, int64_t end) {
           int64_t outside = kernels::kNoBadIndex;
           Args bound = args;
           bound.data = run.get<void>(data);
           bound.indices = run.get<void>(indices);
           bound.y = run.get<void>(out);
           bound.error = &outside;
           run_kernel(bound, begin, end, nullptr);
           return outside == kernels::kNoBadIndex ? nullptr : kOutsideMessage;
         });
}

Status check_if_constant(const LowerContext& c, size_t input, const Dims& extents) {
  const Tensor* t = c.constant(input);
  return t ? check_constant_indices(*t, extents) : Status();
}

void copy_dims(const Dims& dims, int64_t (&to)[kernels::kMaxDims]) { std::copy(dims.begin(), dims.end(), to); }

}  // namespace

int64_t index_at(const void* indices, bool wide, int64_t i) {
  if (!wide) {
    int32_t index;
    std::memcpy(&index, static_cast<const std::byte*>(indices) + i * 4, 4);
    return index;
  }
  int64_t index;
  std::memcpy(&index, static_cast<const std::byte*>(indices) + i * 8, 8);
  return index;
}

Status check_indices(const InferContext& c, size_t input, std::span<const Dim> sizes) {
  const Tensor* t = c.constant(input);
  std::vector<int64_t> extents;
  for (const Dim& d : sizes) {
    if (!d.is_static()) return {};
    extents.push_back(d.value());
  }
  return t ? check_constant_indices(*t, extents) : Status();
}

Status check_elementwise_indices(const InferContext& c, size_t axis) {
  const Shape &data = c.shape(0), &indices = c.shape(1);
  if (data.rank() != indices.rank())
    return error("data has rank {} and indices {}, need one rank", data.rank(), indices.rank());
  for (size_t i = 0; i < data.dims().size(); ++i)
    if (i != axis && data[i].is_static() && indices[i].is_static() && indices[i].value() > data[i].value())
      return error("dimension {} of the indices is {}, the data has only {}", i, indices[i].value(), data[i].value());
  return check_indices(c, 1, {&data[axis], 1});
}

Status require_kernel_rank(const Dims& dims) {
  if (dims.size() <= kernels::kMaxDims) return {};
  return unimplemented("rank {} is above the {} that this operator supports", dims.size(), kernels::kMaxDims);
}

Status emit_index_check(LowerContext& c, size_t input, Dims extents) {
  if (c.constant(input)) return check_if_constant(c, input, extents);
  const int64_t count = element_count(c.in_dims(input));
  const bool wide = c.in_type(input).dtype == DType::i64;
  c.emit("check_indices", ceil_div(count, kIndicesPerTask),
         [=, indices = c.in(input), extents = std::move(extents)](const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t last = std::min(count, end * kIndicesPerTask);
           const int64_t bad = first_outside(run.get<void>(indices), wide, begin * kIndicesPerTask, last, extents);
           return bad == last ? nullptr : kOutsideMessage;
         });
  return {};
}

Status emit_axis_index_check(LowerContext& c) {
  const Dims data = c.in_dims(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(data.size())));
  return emit_index_check(c, 1, {data[static_cast<size_t>(axis)]});
}

Dims indexed_dims(const LowerContext& c, size_t batch_dims) {
  const Dims data = c.in_dims(0);
  const auto first = data.begin() + static_cast<std::ptrdiff_t>(batch_dims);
  return Dims(first, first + static_cast<std::ptrdiff_t>(c.in_dims(1).back()));
}

void emit_gather(LowerContext& c, GatherShape shape, Buffer indices, bool wide) {
  kernels::GatherArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.index_bytes = wide ? 8 : 4;
  args.outer = shape.outer;
  args.extent = shape.size;
  args.inner = shape.inner;
  args.count = shape.indices;
  emit_kernel(c, "gather", c.kernels().data->gather, args,
              [data = c.in(0), indices, out = c.out()](kernels::GatherArgs& a, const Run& run) {
                a.data = run.get<void>(data);
                a.indices = run.get<void>(indices);
                a.y = run.get<void>(out);
              });
}

Status emit_gather_elements(LowerContext& c, size_t axis) {
  const Dims data = c.in_dims(0), indices = c.in_dims(1);
  SV_TRY(require_kernel_rank(data));
  SV_TRY(check_if_constant(c, 1, {data[axis]}));
  kernels::GatherElementsArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.index_bytes = static_cast<int32_t>(size_of(c.in_type(1).dtype));
  args.rank = static_cast<int32_t>(data.size());
  args.axis = static_cast<int32_t>(axis);
  copy_dims(data, args.data_extent);
  copy_dims(indices, args.index_extent);
  emit_checked_gather(c, "gather_elements", c.kernels().data->gather_elements, args);
  return {};
}

Status emit_gather_nd(LowerContext& c, size_t batch_dims) {
  const Dims data = c.in_dims(0), indices = c.in_dims(1);
  const auto depth = static_cast<size_t>(indices.back());
  const std::span<const int64_t> d(data), n(indices);
  const Dims extents = indexed_dims(c, batch_dims);
  SV_TRY(require_kernel_rank(extents));
  SV_TRY(check_if_constant(c, 1, extents));
  kernels::GatherNdArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.depth = static_cast<int32_t>(depth);
  args.batch = element_count(d.first(batch_dims));
  args.count = element_count(n.subspan(batch_dims, n.size() - 1 - batch_dims));
  args.slice = element_count(d.subspan(batch_dims + depth));
  copy_dims(extents, args.extent);
  emit_checked_gather(c, "gather_nd", c.kernels().data->gather_nd, args);
  return {};
}

}  // namespace svengine::ops
