// Weighted sums of neighbours in float64, and what becomes of them as integers.
#include <algorithm>
#include <bit>
#include <limits>

#include "engine/ops/dispatch.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {

namespace {

constexpr int64_t kShortRow = 8;  // doubles of a vector: rows of fewer, as the colours of a pixel, are sampled as one line

/// The tables of a line whose positions are rows of `inner` elements.
kernels::ResampleTables of_elements(const kernels::ResampleTables& tables, int64_t inner) {
  kernels::ResampleTables out{.taps = tables.taps, .index = {}, .weight = {}};
  for (size_t at = 0; at < tables.index.size(); ++at)
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t index = tables.index[at];
      out.index.push_back(static_cast<int32_t>(index < 0 ? index : index * inner + i));
      out.exact.push_back(tables.exact[at]);
    }
  return out;
}

}  // namespace

Buffer emit_resample(LowerContext& c, const std::string& name, const kernels::ResampleTables& given, double outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to) {
  const std::span<const int64_t> all(dims);
  const int64_t row = element_count(all.subspan(axis + 1)), longest = std::max(dims[axis], out);
  const bool is_short = row > 1 && row < kShortRow && longest <= std::numeric_limits<int32_t>::max() / kShortRow;
  const kernels::ResampleTables tables = is_short ? of_elements(given, row) : given;
  kernels::ResampleF64Args args;
  args.outer = element_count(all.first(axis)), args.in = dims[axis], args.out = out, args.inner = element_count(all.subspan(axis + 1));
  if (is_short) args.in *= row, args.out *= row, args.inner = 1;
  args.taps = tables.taps, args.outside = outside;
  dims[axis] = out;
  if (!to) to = c.temporary(element_count(dims) * 8);
  emit_kernel(c, name, c.kernels().data->resample_f64, args,
              [=, index = c.table(std::as_bytes(std::span(tables.index))), weight = c.table(std::as_bytes(std::span(tables.exact)))](
                  kernels::ResampleF64Args& a, const Run& run) {
                a.x = run.get<const double>(from), a.y = run.get<double>(to);
                a.index = run.get<const int32_t>(index), a.weight = run.get<const double>(weight);
              });
  return to;
}

namespace {

/// round_saturated of integers of at most 32 bits, without a branch: a sum with 1.5 * 2^52 has the rounded number in its lowest bits.
template <class T>
void round_elements(const double* x, T* y, int64_t begin, int64_t end) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::lowest()), kHigh = static_cast<double>(std::numeric_limits<T>::max());
  for (int64_t i = begin; i < end; ++i) {
    const double number = x[i] == x[i] ? x[i] : 0, low = number < kLow ? kLow : number, bounded = low > kHigh ? kHigh : low;
    y[i] = static_cast<T>(std::bit_cast<int64_t>(bounded + 0x1.8p52));
  }
}

}  // namespace

void emit_rounded(LowerContext& c, Buffer from, Buffer to, DType type, int64_t count) {
  with_type(type, [&]<class T>() {
    emit_items(c, "round", count, items_of_work(4), [=](const Run& run, int64_t begin, int64_t end) {
      const double* x = run.get<const double>(from);
      T* y = run.get<T>(to);
      if constexpr (std::is_integral_v<T> && sizeof(T) <= 4) return round_elements(x, y, begin, end);
      for (int64_t i = begin; i < end; ++i) y[i] = round_saturated<T>(x[i]);
    });
  });
}

}  // namespace svengine::ops::wide
