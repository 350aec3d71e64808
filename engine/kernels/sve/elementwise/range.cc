// Arithmetic progressions.
#include "engine/kernels/sve/elementwise/parts.h"
#include "engine/kernels/sve/elementwise/walk.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

template <class T>
void range_floats(const RangeArgs& args, int64_t first, int64_t last) {
  T* y = static_cast<T*>(args.y);
  const double start = args.start, delta = args.delta;
  for (int64_t i = first; i < last; ++i) y[i] = T(start + double(i) * delta);
}
template <class T>
void range_integers(const RangeArgs& args, int64_t first, int64_t last) {
  T* y = static_cast<T*>(args.y);
  const uint64_t start = uint64_t(args.integer_start), delta = uint64_t(args.integer_delta);
  for (int64_t i = first; i < last; ++i) y[i] = T(start + uint64_t(i) * delta);
}

}  // namespace

int64_t range_tasks(const RangeArgs& args) noexcept { return divide_up(args.n, kElementwiseTask); }

void range_run(const RangeArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t first = begin * kElementwiseTask, last = smaller(end * kElementwiseTask, args.n);
  switch (args.type) {
    case DType::f64: return range_floats<double>(args, first, last);
    case DType::i16: return range_integers<int16_t>(args, first, last);
    case DType::i32: return range_integers<int32_t>(args, first, last);
    case DType::i64: return range_integers<int64_t>(args, first, last);
    default: return range_floats<float>(args, first, last);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
