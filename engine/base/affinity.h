// On which cpus a thread may run, on machines of any size.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace svengine {

/// The cpus the calling thread may run on, rising, in the system's numbering; at least one (0, where the system does not say).
std::vector<int> allowed_cpus();

/// Binds the calling thread to `cpus`; with none, or where the system refuses, it stays where it was: this is for speed alone.
void bind_thread(std::span<const int> cpus);

/// sched_getaffinity: fills a mask of `bytes` bytes (a multiple of 8), and says how many bytes of it the system uses; less than
/// 0: the mask is too small (EINVAL), or something else is wrong.
using ReadAffinity = int (*)(size_t bytes, unsigned long* mask);
/// allowed_cpus() of a system that answers so.
std::vector<int> allowed_cpus(ReadAffinity read);

}  // namespace svengine
