// What works are made of: operands, calls, and the numbers in their names.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/base/round.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::tests {

using Call = std::function<void()>;

/// Owns operands; copies of a call share them.
class Memory {
 public:
  /// Reals in [-1, 1), page-aligned.
  float* random(int64_t count) {
    constexpr int64_t kAlignment = 4096;
    auto* floats = static_cast<float*>(
        std::aligned_alloc(kAlignment, static_cast<size_t>((count * 4 / kAlignment + 1) * kAlignment)));
    if (!floats) std::abort();
    std::minstd_rand source(1);
    for (int64_t i = 0; i < count; ++i) floats[i] = static_cast<float>(source() % 65536) / 32768 - 1;
    buffers_.emplace_back(floats, std::free);
    return floats;
  }
  float* scratch(int64_t bytes) { return bytes ? random(bytes / 4 + 1) : nullptr; }

 private:
  std::vector<std::shared_ptr<float>> buffers_;
};

inline const kernels::KernelTable& best() { return *kernels::available_kernel_sets().front(); }

/// All tasks of a kernel, in this thread.
template <class Args>
Call call_of(const kernels::TaskKernel<Args>& kernel, const Args& args, Memory memory) {
  float* scratch = memory.scratch(kernel.scratch_bytes(args));
  const int64_t tasks = kernel.tasks(args);
  return [=, memory = std::move(memory), run = kernel.run] { run(args, 0, tasks, scratch); };
}

/// Channels as stored.
inline int64_t blocked(int64_t channels) { return round_up(channels, best().lanes); }

/// The numbers of a name that has `format` (of scanf, numbers as %lld) and nothing after it.
template <class... Numbers>
bool scan(const std::string& name, const std::string& format, Numbers&... numbers) {
  int end = -1;
  return std::sscanf(name.c_str(), (format + "%n").c_str(), &numbers..., &end) ==
             static_cast<int>(sizeof...(Numbers)) &&
         end == static_cast<int>(name.size());
}

}  // namespace svengine::tests
