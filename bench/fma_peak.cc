#include "bench/fma_peak.h"

#include <time.h>

#include <cstdint>

namespace svengine::bench {

// Each returns the operations it did.
#ifdef SVENGINE_HAVE_AVX512
int64_t fma_loop_avx512(int64_t rounds, float* sink);
#endif
#ifdef SVENGINE_HAVE_AVX2
int64_t fma_loop_avx2(int64_t rounds, float* sink);
#endif
#ifdef SVENGINE_HAVE_SVE512
int64_t fma_loop_sve512(int64_t rounds, float* sink);
#endif

namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double fma_peak(std::string_view kernel_set) {
  using Loop = int64_t (*)(int64_t, float*);
  Loop loop = nullptr;
#ifdef SVENGINE_HAVE_AVX512
  if (kernel_set == "avx512") loop = fma_loop_avx512;
#endif
#ifdef SVENGINE_HAVE_AVX2
  if (kernel_set == "avx2") loop = fma_loop_avx2;
#endif
#ifdef SVENGINE_HAVE_SVE512
  if (kernel_set == "sve512") loop = fma_loop_sve512;
#endif
  if (!loop) return 0;
  float sink[64];
  const double start = thread_seconds();
  const int64_t operations = loop(100000, sink);
  return static_cast<double>(operations) / (thread_seconds() - start);
}

}  // namespace svengine::bench
