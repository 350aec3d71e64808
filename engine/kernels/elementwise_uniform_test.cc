#include <catch2/catch.hpp>

#include "engine/base/random.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace elementwise_uniform_test {
using namespace svengine;
using namespace svengine::kernels;
using namespace svengine::tests;

TEST_CASE("uniform numbers are those of the stream, bit for bit, also where the lower word of their numbers turns over") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const uint64_t seed : {uint64_t{0}, uint64_t{0x40a00000}, uint64_t{0xfedcba9876543210}})
      for (const uint64_t first : {uint64_t{0}, uint64_t{7}, uint64_t{0xfffffff3}, uint64_t{0x1fffffffe}, uint64_t{0x123456789abcdef}})
        for (const int64_t n : {0, 1, 5, 16, 100, 40000}) {
          if (n > 100 && first > 7) continue;
          GuardedBuffer<double> y(static_cast<size_t>(n));
          UniformArgs args{.y = y.data(), .n = n, .first = first};
          args.key[0] = static_cast<uint32_t>(seed), args.key[1] = static_cast<uint32_t>(seed >> 32);
          run_tasks(set->elementwise->uniform, args);
          for (int64_t i = 0; i < n; ++i) {
            const PhiloxCounter words = RandomStream(seed).block(first + static_cast<uint64_t>(i));
            const uint64_t bits = (static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 11;
            INFO(set->name << " first " << first << " number " << i);
            REQUIRE(y[static_cast<size_t>(i)] == static_cast<double>(bits) * 0x1p-53);
          }
          REQUIRE(y.intact());
        }
}
}  // namespace elementwise_uniform_test
