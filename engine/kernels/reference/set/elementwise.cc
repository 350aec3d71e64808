// The elementwise family's row, and its kernels that compute nothing: selection and progressions.
#include "engine/kernels/reference/set/elementwise.h"

#include "engine/base/philox.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

Walk<3> walk_of(const Broadcast& b) {
  Walk<3> walk;
  for (int d = 0; d < b.rank; ++d) walk.add(b.size[d], {b.stride[0][d], b.stride[1][d], b.stride[2][d]});
  return walk;
}

int64_t where_items(const WhereArgs& args) { return walk_of(args.broadcast).positions(); }

void where_range(const WhereArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    Walk<3> walk = walk_of(args.broadcast);
    const T *x = static_cast<const T*>(args.x), *y = static_cast<const T*>(args.y);
    for_each_position(walk, begin, end, [&](int64_t i, const Walk<3>& at) {
      static_cast<T*>(args.result)[i] = args.condition[at.offset(0)] ? x[at.offset(1)] : y[at.offset(2)];
    });
  });
}

int64_t range_items(const RangeArgs& args) { return args.n; }

template <class T>
void float_progression(const RangeArgs& args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<T*>(args.y)[i] = static_cast<T>(args.start + static_cast<double>(i) * args.delta);
}
template <class T>
void integer_progression(const RangeArgs& args, int64_t begin, int64_t end) {
  const auto start = static_cast<uint64_t>(args.integer_start), delta = static_cast<uint64_t>(args.integer_delta);
  for (int64_t i = begin; i < end; ++i) static_cast<T*>(args.y)[i] = static_cast<T>(start + static_cast<uint64_t>(i) * delta);
}

void progression(const RangeArgs& args, int64_t begin, int64_t end, void*) {
  switch (args.type) {
    case DType::f64:
      return float_progression<double>(args, begin, end);
    case DType::i16:
      return integer_progression<int16_t>(args, begin, end);
    case DType::i32:
      return integer_progression<int32_t>(args, begin, end);
    case DType::i64:
      return integer_progression<int64_t>(args, begin, end);
    default:
      return float_progression<float>(args, begin, end);
  }
}

int64_t uniform_items(const UniformArgs& args) { return args.n; }

void uniform_numbers(const UniformArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) {
    const uint64_t number = args.first + static_cast<uint64_t>(i);
    const PhiloxCounter words = philox4x32({static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0}, {args.key[0], args.key[1]});
    args.y[i] = static_cast<double>((static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 11) * 0x1p-53;
  }
}

/// Elements of a task.
constexpr int64_t kEach = 4096;

}  // namespace

extern const ElementwiseKernels elementwise_kernels;
constinit const ElementwiseKernels elementwise_kernels{has_unary,
                                                       by_items<UnaryArgs, unary_items, unary_range, kEach>(),
                                                       has_binary,
                                                       by_items<BinaryArgs, binary_items, binary_range, kEach>(),
                                                       by_items<WhereArgs, where_items, where_range, kEach>(),
                                                       by_items<CastArgs, cast_items, cast_range, kEach>(),
                                                       by_items<RangeArgs, range_items, progression, kEach>(),
                                                       by_items<UniformArgs, uniform_items, uniform_numbers, kEach>()};

}  // namespace svengine::kernels::reference
