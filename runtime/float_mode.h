// The processor's floating-point mode while the engine computes: the same whatever the caller's is, which comes back with every bit.
//
//     rounding     to nearest        a caller that rounds upwards gets the results that everybody gets
//     traps        none              codes that run with -ffpe-trap or feenableexcept() do not end at a NaN that a kernel masks out
//     subnormals   0, or as they are
//     flags        the caller's      what a kernel's unused lanes raise is not what the caller asks fetestexcept() about
//
// On A64FX a subnormal operand costs about 90 cycles (Microarchitecture Manual 6.5.3), unless FPCR.FZ and FPCR.FZ16 are both
// set; on x86-64 the same switches are MXCSR.FTZ and MXCSR.DAZ.
#pragma once
#include <cstdint>

namespace svengine {

/// Sets the calling thread's mode and restores the caller's at the end of its life.
class FloatMode {
 public:
  explicit FloatMode(bool flush_denormals);
  ~FloatMode();
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;

  /// Mode and flags of the calling thread: MXCSR, or FPCR and FPSR.
  struct Registers {
    uint64_t control = 0, status = 0;
    bool operator==(const Registers&) const = default;
  };
  static Registers registers();

 private:
  Registers saved_;
};

}  // namespace svengine
