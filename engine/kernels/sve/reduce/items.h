// The walk over the outputs of a reduction, the same for every operation: lines, columns, and lines too short to go one by one.
#pragma once
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// One operation's functions. The walk calls them by pointers, for a copy of it for each was a fifth of the code of reductions.
template <class T>
struct ReduceFunctions {
  T (*line)(ReduceShape&, const T* x);
  void (*columns)(ReduceShape&, const T* x, T* y, int64_t columns);  // the first `together` of them
  int64_t together;
  void (*short_lines)(const T* x, T* y, int64_t n, int64_t count);  // contiguous, of 1 to `longest` elements, more than `few`
  int64_t longest;
  int64_t few;
};

template <class T>
void reduce_items(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end, const ReduceFunctions<T>& f) {
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  if (begin >= end) return;
  if (shape.lines && shape.repeats == 1 && shape.run > 0 && shape.run <= f.longest && end - begin > f.few)
    return f.short_lines(x + begin * shape.run, y + begin, shape.run, end - begin);
  shape.kept.seek(begin / shape.column_chunks);
  for (int64_t item = begin; item < end; ++item) {
    const T* from = x + shape.kept.offset(0);
    if (shape.lines) {
      y[item] = f.line(shape, from);
    } else {
      const int64_t chunk = item % shape.column_chunks, first = chunk * kReduceColumns;
      T* to = y + item / shape.column_chunks * shape.columns;
      const int64_t last = smaller(shape.columns, first + kReduceColumns);
      for (int64_t at = first; at < last; at += f.together) f.columns(shape, from + at, to + at, last - at);
      if (chunk + 1 < shape.column_chunks) continue;
    }
    shape.kept.next();
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
