// Waiting for another thread: spinning first, then giving way. Never sleeping, because a sleeping A64FX core takes milliseconds to wake.
#pragma once
#include <sched.h>

namespace svengine {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

/// Until done(); after `spins` looks the processor is yielded often: whoever is waited for may want it.
template <class Done>
void spin_until(int spins, const Done& done) {
  constexpr int kSpinsBetweenYields = 16;
  for (int looks = 0; !done();) {
    relax();
    if (++looks >= spins) {
      sched_yield();
      looks -= kSpinsBetweenYields;
    }
  }
}

/// Looks before the first yield: longer than threads with a processor each are apart after balanced steps.
constexpr int spins_before_yield(bool more_threads_than_cpus) { return more_threads_than_cpus ? 16 : 20000; }

}  // namespace svengine
