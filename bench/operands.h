// Operands of the benchmarks: aligned memory with the same random numbers every time.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>

namespace svengine::bench {

struct Free {
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using BufferOf = std::unique_ptr<T, Free>;
using Buffer = BufferOf<float>;

enum class Pages : int64_t { kSmall = 4 << 10, kHuge = 2 << 20 };

/// Reals in [-1, 1), on pages of their own: huge ones where the system grants them, as the engine's arenas are.
template <class T>
BufferOf<T> random_reals(int64_t count, Pages pages = Pages::kSmall) {
  const auto page = static_cast<size_t>(pages), bytes = (static_cast<size_t>(count) * sizeof(T) / page + 1) * page;
  BufferOf<T> buffer(static_cast<T*>(std::aligned_alloc(page, bytes)));
  if (pages == Pages::kHuge) madvise(buffer.get(), bytes, MADV_HUGEPAGE);
  std::mt19937 random(1);
  std::uniform_real_distribution<T> uniform(-1, 1);
  for (int64_t i = 0; i < count; ++i) buffer.get()[i] = uniform(random);
  return buffer;
}
inline Buffer random_floats(int64_t count, Pages pages = Pages::kSmall) { return random_reals<float>(count, pages); }

}  // namespace svengine::bench
