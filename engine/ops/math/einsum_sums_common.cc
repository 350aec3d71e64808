#include "engine/ops/math/einsum_sums_common.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "engine/base/round.h"
#include "engine/kernels/elementwise.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/reduce/reduce_common.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// Walks an index over dims, keeping the offsets of two operands.
struct EinsumWalk {
  const Dims& dims;
  const std::vector<int64_t>&a, &b;
  int64_t index[64] = {};
  int64_t at_a = 0, at_b = 0;

  void seek(int64_t flat) {
    for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) {
      index[i] = flat % dims[i];
      at_a += index[i] * a[i], at_b += index[i] * b[i];
    }
  }
  void next() {
    for (size_t i = dims.size(); i-- > 0;) {
      at_a += a[i], at_b += b[i];
      if (++index[i] < dims[i]) return;
      at_a -= dims[i] * a[i], at_b -= dims[i] * b[i];
      index[i] = 0;
    }
  }
};

/// Sums of integers wrap around, which only unsigned ones may; float32 is summed in double.
template <class T>
struct EinsumSumOf {
  using type = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
};

template <class T>
constexpr T kEinsumOne{1};

/// Four sums side by side, whose order is the same for any steps.
template <class Sum, class T>
Sum einsum_dot(const T* a, int64_t step_a, const T* b, int64_t step_b, int64_t count) {
  Sum sums[4] = {};
  for (int64_t k = 0; k < count; ++k) sums[k % 4] += static_cast<Sum>(a[k * step_a]) * static_cast<Sum>(b[k * step_b]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class T>
void run_einsum_loop(const EinsumSums& loop, const T* a, const T* b, T* out, int64_t begin, int64_t end) {
  using Sum = typename EinsumSumOf<T>::type;
  const bool any = !loop.summed.empty();
  const int64_t last = any ? loop.summed.back() : 1, outer = last ? element_count(loop.summed) / last : 0;
  const int64_t step_a = any ? loop.a_summed.back() : 0, step_b = any ? loop.b_summed.back() : 0;
  const Dims others(loop.summed.begin(), loop.summed.end() - any);
  EinsumWalk at{loop.kept, loop.a_kept, loop.b_kept};
  at.seek(begin);
  for (int64_t i = begin; i < end; ++i, at.next()) {
    Sum sum = 0;
    EinsumWalk in{others, loop.a_summed, loop.b_summed};
    in.at_a = at.at_a, in.at_b = at.at_b;
    for (int64_t k = 0; k < outer; ++k, in.next())
      sum += b ? einsum_dot<Sum>(a + in.at_a, step_a, b + in.at_b, step_b, last) : einsum_dot<Sum>(a + in.at_a, step_a, &kEinsumOne<T>, 0, last);
    out[i] = static_cast<T>(sum);
  }
}

constexpr int64_t kLoopWork = 4096;  // terms of a task

template <class T>
Status emit_einsum_loop(LowerContext& c, const EinsumSums& loop, Buffer a, Buffer b, Buffer out) {
  if (loop.kept.size() > 64 || loop.summed.size() > 64) return unimplemented("an Einstein sum of more than 64 dimensions");
  const int64_t elements = element_count(loop.kept);
  const int64_t each = std::max<int64_t>(1, kLoopWork / std::max<int64_t>(1, element_count(loop.summed)));
  c.emit("einsum_loop", ceil_div(elements, each), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    run_einsum_loop<T>(loop, run.get<const T>(a), run.get<const T>(b), run.get<T>(out), begin * each, std::min(elements, end * each));
    return nullptr;
  });
  return {};
}

Status emit_einsum_loop(LowerContext& c, DType type, const EinsumSums& loop, Buffer a, Buffer b, Buffer out) {
  switch (type) {
    case DType::f32:
      return emit_einsum_loop<float>(c, loop, a, b, out);
    case DType::f64:
      return emit_einsum_loop<double>(c, loop, a, b, out);
    case DType::i8:
    case DType::u8:
      return emit_einsum_loop<uint8_t>(c, loop, a, b, out);
    case DType::i16:
    case DType::u16:
      return emit_einsum_loop<uint16_t>(c, loop, a, b, out);
    case DType::i32:
    case DType::u32:
      return emit_einsum_loop<uint32_t>(c, loop, a, b, out);
    case DType::i64:
    case DType::u64:
      return emit_einsum_loop<uint64_t>(c, loop, a, b, out);
    default:
      return error("is not computed in {}", name_of(type));
  }
}

/// An operand whose elements lie along the last of `dims`, or repeat along it: a copy of one that has them otherwise.
Buffer along_last(LowerContext& c, DType type, const Dims& dims, std::vector<int64_t>& strides, Buffer from) {
  if (strides.back() == 0 || strides.back() == 1) return from;
  CopyView view;
  std::vector<int64_t> dense(dims.size());
  int64_t count = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (strides[i] == 0) continue;
    view.dims.insert(view.dims.begin(), dims[i]);
    view.in_strides.insert(view.in_strides.begin(), strides[i]);
    dense[i] = count;
    count *= dims[i];
  }
  view.out_strides = strides_of(view.dims);
  const Buffer copy = c.temporary(count * static_cast<int64_t>(size_of(type)));
  emit_copies(c, "einsum_order", size_of(type), {{from, copy, std::move(view)}});
  strides = std::move(dense);
  return copy;
}

/// out[kept] = a times b, of at most as many dimensions as the kernel takes.
void emit_einsum_outer(LowerContext& c, DType type, EinsumSums sums, Buffer a, Buffer b, Buffer out) {
  if (sums.kept.empty()) sums.kept = {1}, sums.a_kept = {1}, sums.b_kept = {1};
  a = along_last(c, type, sums.kept, sums.a_kept, a);
  b = along_last(c, type, sums.kept, sums.b_kept, b);
  kernels::BinaryArgs args;
  args.op = kernels::BinaryOp::kMul, args.type = type;
  args.broadcast.rank = static_cast<int32_t>(sums.kept.size());
  std::copy(sums.kept.begin(), sums.kept.end(), args.broadcast.size);
  std::copy(sums.a_kept.begin(), sums.a_kept.end(), args.broadcast.stride[0]);
  std::copy(sums.b_kept.begin(), sums.b_kept.end(), args.broadcast.stride[1]);
  emit_kernel(c, "einsum_outer", c.kernels().elementwise->binary, args, [a, b, out](kernels::BinaryArgs& one, const Run& run) {
    one.a = run.get<const void>(a), one.b = run.get<const void>(b), one.y = run.get<void>(out);
  });
}

/// A reduction of one operand: its dimensions as they lie in memory, and where kept ones are in the result.
struct EinsumReduction {
  Dims dims;
  std::vector<bool> reduced;
  CopyView order;  // from the reduction's result to `out`
  bool dense = true, in_order = true;
};

EinsumReduction einsum_reduction(const EinsumSums& sums) {
  const size_t kept = sums.kept.size(), all = kept + sums.summed.size();
  const auto extent = [&](size_t i) { return i < kept ? sums.kept[i] : sums.summed[i - kept]; };
  const auto stride = [&](size_t i) { return i < kept ? sums.a_kept[i] : sums.a_summed[i - kept]; };
  std::vector<size_t> by_stride(all);
  std::iota(by_stride.begin(), by_stride.end(), size_t{0});
  std::stable_sort(by_stride.begin(), by_stride.end(), [&](size_t i, size_t j) { return stride(i) > stride(j); });
  EinsumReduction r;
  r.order = {.dims = sums.kept, .in_strides = std::vector<int64_t>(kept), .out_strides = strides_of(sums.kept)};
  int64_t within = 1, left = 1;
  for (size_t k = all; k-- > 0;) {
    const size_t i = by_stride[k];
    r.dense = r.dense && stride(i) == within;
    within *= extent(i);
    if (i >= kept) continue;
    r.order.in_strides[i] = left;
    left *= extent(i);
  }
  for (const size_t i : by_stride) r.dims.push_back(extent(i)), r.reduced.push_back(i >= kept);
  r.in_order = r.order.in_strides == r.order.out_strides;
  return r;
}

/// The types of the reduction kernel, whose sums wrap as those of unsigned integers do.
DType summed_as(DType type) { return type == DType::u32 ? DType::i32 : type == DType::u64 ? DType::i64 : type; }

}  // namespace

Status emit_einsum_sums(LowerContext& c, DType type, EinsumSums sums, Buffer a, Buffer b, Buffer out) {
  merge_walks(sums.kept, sums.a_kept, sums.b_kept);
  merge_walks(sums.summed, sums.a_summed, sums.b_summed);
  const int64_t count = element_count(sums.kept);
  if (count == 0) return {};
  if (!b && sums.summed.empty()) {
    CopyView view{.dims = sums.kept, .in_strides = sums.a_kept, .out_strides = strides_of(sums.kept)};
    emit_copies(c, "einsum_order", size_of(type), {{a, out, std::move(view)}});
    return {};
  }
  if (b && sums.summed.empty() && sums.kept.size() <= kernels::kMaxBroadcastDims) {
    emit_einsum_outer(c, type, std::move(sums), a, b, out);
    return {};
  }
  const bool summable = size_of(type) >= 4 && element_count(sums.summed) > 0;
  const EinsumReduction reduction = einsum_reduction(sums);
  if (b || !summable || !reduction.dense || reduction.dims.size() > kernels::kReduceDims)
    return emit_einsum_loop(c, type, sums, a, b, out);
  const Buffer result = reduction.in_order ? out : c.temporary(count * static_cast<int64_t>(size_of(type)));
  SV_TRY(emit_reduction_steps(c, kernels::ReduceOp::kSum, reduction.dims, reduction.reduced, summed_as(type), a, result));
  if (!reduction.in_order) emit_copies(c, "einsum_order", size_of(type), {{result, out, reduction.order}});
  return {};
}

}  // namespace svengine::ops
