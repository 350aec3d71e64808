#include "runtime/float_mode.h"

namespace svengine {
namespace {

// The one place outside the kernels that knows the processor: the control registers have no portable name.
#if defined(__x86_64__)
constexpr uint64_t kNoTraps = 0x3fu << 7;            // MXCSR: rounding to nearest is 0, traps are masked by ones
constexpr uint64_t kFlush = (1u << 15) | (1u << 6);  // FTZ, DAZ
uint64_t read_control() { return __builtin_ia32_stmxcsr(); }  // which holds the flags, too
void write_control(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
uint64_t read_status() { return 0; }
void write_status(uint64_t) {}
#else
constexpr uint64_t kNoTraps = 0;                                          // FPCR: nearest, no trap, IEEE's half precision
constexpr uint64_t kFlush = (uint64_t{1} << 24) | (uint64_t{1} << 19);    // FZ, FZ16
uint64_t read_control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
uint64_t read_status() {
  uint64_t value;
  asm volatile("mrs %0, fpsr" : "=r"(value));
  return value;
}
void write_status(uint64_t value) { asm volatile("msr fpsr, %0" : : "r"(value)); }
#endif

}  // namespace

FloatMode::FloatMode(bool flush_denormals) : saved_(registers()) {
  const uint64_t wanted = flush_denormals ? kNoTraps | kFlush : kNoTraps;
  if (wanted != saved_.control) write_control(wanted);
}

FloatMode::~FloatMode() {
  if (read_control() != saved_.control) write_control(saved_.control);
  if (read_status() != saved_.status) write_status(saved_.status);
}

FloatMode::Registers FloatMode::registers() { return {read_control(), read_status()}; }

}  // namespace svengine
