// A static program holds OpenBLAS where CMake found Debian's archive (cmake/FindOpenBLAS.cmake), as the addresses of weak symbols tell. All
// else, the library for other programs and Python's module among it, opens the system's shared library when it is asked for. That one may be
// a build with threads of its own, and in use by the program around us: nothing of it is changed here. If it would use its threads, it is
// refused.
#include "engine/kernels/openblas/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <string_view>

#define SVENGINE_LINKED extern "C" __attribute__((weak, visibility("hidden")))
SVENGINE_LINKED void cblas_sgemm(int, int, int, int32_t, int32_t, int32_t, float, const float*, int32_t, const float*, int32_t, float, float*,
                                 int32_t);
SVENGINE_LINKED void cblas_dgemm(int, int, int, int32_t, int32_t, int32_t, double, const double*, int32_t, const double*, int32_t, double, double*,
                                 int32_t);
SVENGINE_LINKED char* openblas_get_config(void);
SVENGINE_LINKED char* openblas_get_corename(void);
SVENGINE_LINKED void openblas_set_num_threads(int);
SVENGINE_LINKED void gotoblas_dynamic_init(void);
SVENGINE_LINKED void gotoblas_dynamic_quit(void);
#undef SVENGINE_LINKED

namespace svengine::kernels::openblas {
namespace {

constexpr const char* kSharedLibrary = "libopenblas.so.0";

std::string described(const char* config, const char* core) { return fmt::format("{}, kernels {}", config, core); }

/// 0.3.21, Debian 12's, does not know A64FX and takes its kernels for any ARMv8, which have vectors of 128 bits. Those it has for Neoverse
/// V1 are in SVE of any length. The choice is made before main(), by the processor or by OPENBLAS_CORETYPE, which a user may have set.
void choose_sve_kernels() {
  constexpr unsigned long kSve = 1UL << 22;  // HWCAP_SVE of aarch64
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  const bool generic = std::string_view(openblas_get_corename()) == "armv8";
  if (!generic || !(getauxval(AT_HWCAP) & kSve) || std::getenv(kVariable) || !gotoblas_dynamic_init || !gotoblas_dynamic_quit) return;
  setenv(kVariable, "NEOVERSEV1", 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv(kVariable);
}

Result<Library> linked() {
  choose_sve_kernels();
  if (openblas_set_num_threads) openblas_set_num_threads(1);  // where the archive is a build with threads; this program is its only user
  return Library{cblas_sgemm, cblas_dgemm, described(openblas_get_config(), openblas_get_corename())};
}

template <class F>
F function(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

Result<Library> loaded() {
  if (getauxval(AT_BASE) == 0)
    return error("this static program was built without it: install libopenblas-serial-dev and build again, or use svengine-dynamic");
  void* file = dlopen(kSharedLibrary, RTLD_NOW | RTLD_LOCAL);  // stays: its code is in the tables
  if (!file) return error("{}; Debian has it in libopenblas0-serial", dlerror());
  Library out{function<GemmFunction<float>>(file, "cblas_sgemm"), function<GemmFunction<double>>(file, "cblas_dgemm"), ""};
  const auto config = function<char* (*)()>(file, "openblas_get_config"), core = function<char* (*)()>(file, "openblas_get_corename");
  const auto threads = function<int (*)()>(file, "openblas_get_num_threads");
  if (!out.sgemm || !out.dgemm || !config || !core || !threads) return error("{} lacks functions of OpenBLAS", kSharedLibrary);
  out.description = described(config(), core());
  if (out.description.find("USE64BITINT") != std::string::npos) return error("{} has integers of 64 bits: {}", kSharedLibrary, out.description);
  if (threads() != 1)
    return error("{} would use {} threads of its own in each of ours ({}): set OPENBLAS_NUM_THREADS=1, or install libopenblas0-serial",
                 kSharedLibrary, threads(), out.description);
  return out;
}

}  // namespace

Result<const Library*> library() {
  static const Result<Library> found = cblas_sgemm && cblas_dgemm && openblas_get_config && openblas_get_corename ? linked() : loaded();
  if (!found.ok()) return Error(found.error()).in("OpenBLAS");
  return &found.value();
}

}  // namespace svengine::kernels::openblas
