// Weighted sums of neighbours in float64, and what becomes of them as integers.
#include "engine/ops/dispatch.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {

Buffer emit_resample(LowerContext& c, const std::string& name, const kernels::ResampleTables& tables, double outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to) {
  const std::span<const int64_t> all(dims);
  const int64_t outer = element_count(all.first(axis)), in = dims[axis], inner = element_count(all.subspan(axis + 1));
  dims[axis] = out;
  if (!to) to = c.temporary(element_count(dims) * 8);
  emit_items(c, name, outer * out, items_of_work(inner * tables.taps),
             [=, taps = tables.taps, index = c.table(std::as_bytes(std::span(tables.index))),
              weight = c.table(std::as_bytes(std::span(tables.exact)))](const Run& run, int64_t begin, int64_t end) {
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
      for (int64_t i = begin; i < end; ++i) run.get<T>(to)[i] = round_saturated<T>(run.get<const double>(from)[i]);
    });
  });
}

}  // namespace svengine::ops::wide
