// What the bit-equality test of the SVE intrinsics runs: every intrinsic of engine/kernels/host over awkward operands.
//
// The cases are compiled once per instruction set, like kernels, in namespace svengine::acle::SVENGINE_ACLE_SET, and
// hand their results to a Sink that the test program (compiled for any processor) implements. As in kernels nothing of
// the standard library is used here: its inline functions would be compiled for one instruction set and linked for all.
#pragma once
#include <stdint.h>

namespace svengine::acle {

enum class Kind { kInteger, kFloat32, kFloat64 };  // what a NaN looks like in the recorded bytes

// Three arrays for each element type, to be combined element by element; `count` is a multiple of 64.
struct Operands {
  int float_count, integer_count;
  const float* f32[3];
  const double* f64[3];
  const void* integers[4][3];  // [log2 of the width in bytes]: the same bytes whether signed or not
  char* guarded_end;           // the page before may be used, the byte here and all after it fault
};

struct Sink {
  const Operands* operands;
  void (*begin)(Sink*, const char* intrinsic,
                const char* type);  // results up to the next begin() belong to this intrinsic
  void (*put)(Sink*, int predicate, Kind kind, int width, const void* data, int bytes);  // elements of `width` bytes
};

#ifdef SVENGINE_ACLE_SET
namespace SVENGINE_ACLE_SET {
void cases_float(Sink*);
void cases_integer(Sink*);
void cases_compare(Sink*);
void cases_memory(Sink*);
void cases_convert(Sink*);
void cases_permute(Sink*);
void cases_reduce(Sink*);
extern const int kBits;
}  // namespace SVENGINE_ACLE_SET
#endif

}  // namespace svengine::acle
