// Weighted sums of neighbours in float64, and what becomes of them as integers.
#include <algorithm>

#include "engine/ops/dispatch.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

struct Taps {
  const int32_t* index;
  const double* weight;
  int64_t taps, in, out;
  double outside;
};

/// Results [begin, end) along the last axis, one after the other.
void resample_elements(const Taps& t, const double* from, double* to, int64_t begin, int64_t end) {
  const double* x = from + begin / t.out * t.in;
  for (int64_t at = begin, j = begin % t.out; at < end; ++at) {
    double sum = 0;
    for (int64_t tap = 0; tap < t.taps; ++tap) sum += t.weight[tap * t.out + j] * x[std::max(0, t.index[tap * t.out + j])];
    to[at] = t.index[j] >= 0 ? sum : t.outside;
    if (++j == t.out) j = 0, x += t.in;
  }
}

}  // namespace

Buffer emit_resample(LowerContext& c, const std::string& name, const kernels::ResampleTables& tables, double outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to) {
  const std::span<const int64_t> all(dims);
  const int64_t outer = element_count(all.first(axis)), in = dims[axis], inner = element_count(all.subspan(axis + 1));
  dims[axis] = out;
  if (!to) to = c.temporary(element_count(dims) * 8);
  emit_items(c, name, outer * out, items_of_work(inner * tables.taps),
             [=, taps = tables.taps, index = c.table(std::as_bytes(std::span(tables.index))),
              weight = c.table(std::as_bytes(std::span(tables.exact)))](const Run& run, int64_t begin, int64_t end) {
               if (inner == 1)
                 return resample_elements({run.get<const int32_t>(index), run.get<const double>(weight), taps, in, out, outside},
                                          run.get<const double>(from), run.get<double>(to), begin, end);
               for (int64_t line = begin; line < end; ++line) {
                 const int64_t j = line % out;
                 double* y = run.get<double>(to) + line * inner;
                 const bool exists = run.get<const int32_t>(index)[j] >= 0;
                 std::fill_n(y, inner, exists ? 0 : outside);
                 for (int64_t t = 0; exists && t < taps; ++t) {
                   const double factor = run.get<const double>(weight)[t * out + j];
                   const double* x =
                       run.get<const double>(from) + (line / out * in + run.get<const int32_t>(index)[t * out + j]) * inner;
                   for (int64_t i = 0; i < inner; ++i) y[i] += factor * x[i];
                 }
               }
             });
  return to;
}

void emit_rounded(LowerContext& c, Buffer from, Buffer to, DType type, int64_t count) {
  with_type(type, [&]<class T>() {
    emit_items(c, "round", count, items_of_work(4), [=](const Run& run, int64_t begin, int64_t end) {
      const double* x = run.get<const double>(from);
      T* y = run.get<T>(to);
      for (int64_t i = begin; i < end; ++i) y[i] = round_saturated<T>(x[i]);
    });
  });
}

}  // namespace svengine::ops::wide
