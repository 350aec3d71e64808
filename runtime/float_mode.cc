#include "runtime/denormals.h"

namespace svengine {
namespace {

// The one place outside the kernels that knows the processor: the control register has no portable name.
#if defined(__x86_64__)
constexpr uint64_t kFlush = (1u << 15) | (1u << 6);  // MXCSR.FTZ, MXCSR.DAZ
uint64_t read_control() { return __builtin_ia32_stmxcsr(); }
void write_control(uint64_t value) { __builtin_ia32_ldmxcsr(static_cast<unsigned>(value)); }
#else
constexpr uint64_t kFlush = (uint64_t{1} << 24) | (uint64_t{1} << 19);  // FPCR.FZ, FPCR.FZ16
uint64_t read_control() {
  uint64_t value;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_control(uint64_t value) { asm volatile("msr fpcr, %0" : : "r"(value)); }
#endif

}  // namespace

DenormalMode::DenormalMode(bool flush) : saved_(read_control()) {
  const uint64_t wanted = flush ? saved_ | kFlush : saved_ & ~kFlush;
  if (wanted != saved_) write_control(wanted);
}

DenormalMode::~DenormalMode() {
  // Exception flags raised meanwhile stay raised, as after any computation; only the mode is the caller's again.
  const uint64_t now = read_control();
  const uint64_t restored = (now & ~kFlush) | (saved_ & kFlush);
  if (restored != now) write_control(restored);
}

uint64_t DenormalMode::control_register() { return read_control(); }

}  // namespace svengine
