// What the tests of the backward kernels share: random guarded buffers and comparisons with a reference.
#pragma once
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/gradient.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"

namespace svengine::kernels::gradient_test {

using Buffer = tests::GuardedBuffer<float>;

inline Buffer random_buffer(int64_t count, unsigned seed, float low = -2, float high = 2) {
  Buffer buffer(static_cast<size_t>(count));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  for (float& v : buffer) v = uniform(random);
  return buffer;
}

inline void require_close(const Buffer& got, const ReferenceGradient& want, const std::string& what) {
  REQUIRE(got.size() == want.value.size());
  size_t i = 0;
  for (const float v : got) {
    if (!(std::fabs(v - want.value[i]) <= want.error[i])) {
      INFO(what << " element " << i << " is " << v << ", needs " << want.value[i] << " within " << want.error[i]);
      FAIL("wrong");
    }
    ++i;
  }
  REQUIRE(got.intact());
}

}  // namespace svengine::kernels::gradient_test
