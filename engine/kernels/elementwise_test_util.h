// What the tests of the elementwise kernels share: values of any type, shapes, messages.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "tests/support/guarded_buffer.h"

namespace svengine::kernels::elementwise_test {

using tests::GuardedBuffer;
using Dims = std::vector<int64_t>;

template <class T>
constexpr DType type_of() {
  if (std::is_same_v<T, float>) return DType::f32;
  if (std::is_same_v<T, double>) return DType::f64;
  if (std::is_same_v<T, int8_t>) return DType::i8;
  if (std::is_same_v<T, uint8_t>) return DType::u8;
  if (std::is_same_v<T, int16_t>) return DType::i16;
  if (std::is_same_v<T, uint16_t>) return DType::u16;
  if (std::is_same_v<T, int32_t>) return DType::i32;
  if (std::is_same_v<T, uint32_t>) return DType::u32;
  if (std::is_same_v<T, int64_t>) return DType::i64;
  return DType::u64;
}

inline int64_t volume(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

/// Small numbers most of the time, the limits of the type sometimes.
template <class T>
T any_value(std::mt19937& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::uniform_real_distribution<double>(-8, 8)(random));
  } else {
    const T extremes[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(-1), T(0), T(1)};
    return random() % 5 == 0 ? extremes[random() % 5] : static_cast<T>(static_cast<int>(random() % 41) - 20);
  }
}

template <class T>
GuardedBuffer<T> filled(int64_t n, std::mt19937& random) {
  GuardedBuffer<T> buffer(static_cast<size_t>(n));
  for (T& x : buffer) x = any_value<T>(random);
  return buffer;
}

inline Broadcast broadcast_of(const Dims& output, const std::vector<Dims>& operands) {
  const int64_t* dims[3];
  int ranks[3];
  for (size_t k = 0; k < operands.size(); ++k) dims[k] = operands[k].data(), ranks[k] = static_cast<int>(operands[k].size());
  Broadcast result;
  REQUIRE(make_broadcast(output.data(), static_cast<int>(output.size()), dims, ranks, static_cast<int>(operands.size()), &result));
  return result;
}

inline Dims common_shape(const std::vector<Dims>& operands) {
  size_t rank = 0;
  for (const Dims& d : operands) rank = std::max(rank, d.size());
  Dims output(rank, 1);
  for (const Dims& d : operands)
    for (size_t i = 0; i < d.size(); ++i)
      if (d[i] != 1) output[rank - d.size() + i] = d[i];
  return output;
}

inline bool gives_bool(BinaryOp op) { return op >= BinaryOp::kEqual && op <= BinaryOp::kXor; }

inline std::string label(const KernelTable* set, int op, DType type) {
  return std::string(set->name) + " op " + std::to_string(op) + " type " + std::to_string(static_cast<int>(type));
}

}  // namespace svengine::kernels::elementwise_test
