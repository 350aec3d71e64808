// Selection between two broadcast operands by a broadcast condition.
#include "engine/kernels/sve/elementwise/parts.h"
#include "engine/kernels/sve/elementwise/walk.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

struct WhereRow {
  const uint8_t* condition;
  const void* x;
  const void* y;
  void* result;
  int64_t columns;
};
using WhereFunction = void (*)(const WhereRow& row);

/// kC, kX, kY: whether the columns are contiguous, else one value.
template <class T, bool kC, bool kX, bool kY>
void select_row(const WhereRow& row) {
  const uint8_t* c = row.condition;
  const T *x = static_cast<const T*>(row.x), *y = static_cast<const T*>(row.y);
  T* result = static_cast<T*>(row.result);
  const int64_t columns = row.columns;
  const uint8_t one_c = *c;
  const T one_x = *x, one_y = *y;
#pragma GCC ivdep  // the result is an operand of the same layout or overlaps none
  for (int64_t i = 0; i < columns; ++i) {
    const T then = kX ? x[i] : one_x, otherwise = kY ? y[i] : one_y;
    result[i] = (kC ? c[i] : one_c) != 0 ? then : otherwise;
  }
}

template <class T, bool kC, bool kX>
WhereFunction find_row(bool y) {
  return y ? select_row<T, kC, kX, true> : select_row<T, kC, kX, false>;
}
template <class T>
WhereFunction find_row(bool c, bool x, bool y) {
  if (c) return x ? find_row<T, true, true>(y) : find_row<T, true, false>(y);
  return x ? find_row<T, false, true>(y) : find_row<T, false, false>(y);
}

template <class T>
void run_elements(const WhereArgs& args, int64_t begin, int64_t end) {
  const Broadcast& b = args.broadcast;
  const BroadcastPartition partition(b);
  const int last = b.rank - 1;
  const WhereFunction select = find_row<T>(b.stride[0][last] != 0, b.stride[1][last] != 0, b.stride[2][last] != 0);
  for_each_tile(b, partition, begin, end, [&](const int64_t* offset, int64_t out, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; ++r) {
      select({args.condition + offset[0] + r * row_stride(b, 0), static_cast<const T*>(args.x) + offset[1] + r * row_stride(b, 1),
              static_cast<const T*>(args.y) + offset[2] + r * row_stride(b, 2),
              static_cast<T*>(args.result) + out + r * partition.columns, columns});
    }
  });
}

}  // namespace

int64_t where_tasks(const WhereArgs& args) noexcept { return BroadcastPartition(args.broadcast).tasks(); }

void where_run(const WhereArgs& args, int64_t begin, int64_t end, void*) noexcept {
  switch (args.element_bytes) {
    case 1: return run_elements<uint8_t>(args, begin, end);
    case 2: return run_elements<uint16_t>(args, begin, end);
    case 4: return run_elements<uint32_t>(args, begin, end);
    default: return run_elements<uint64_t>(args, begin, end);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
