// Elementwise kernels: one operand, two operands with NumPy broadcasting, selection, conversion, progressions, random numbers.
//
// Every kernel is a TaskKernel without scratch: tasks() cuts the output by its shape into pieces of about
// kElementwiseTask elements, results are bitwise the same for any split. Sizes of 0 give 0 tasks. Buffers need the alignment
// of their elements only. The output may be one of the inputs if both have the same element size and the same layout (that
// operand is contiguous and not broadcast); otherwise nothing may overlap.
//
// bool is a byte, 0 or 1 as ONNX stores it; any other byte counts as true where a bool is read as a condition (where,
// cast, not) and makes and, or, xor undefined. f16 and bf16 are only converted: arithmetic on them is cast, kernel, cast.
//
// NaN: every float function but kThresholdedRelu gives NaN for NaN; min, max and clip let it through; comparisons with it are false.
// Float accuracy is stated in engine/kernels/sve/math*.h in ULP and tested in math_test.cc.
// Integers wrap. Division and remainder by zero give 0, and the lowest value divided by -1 is itself: nothing traps.
#pragma once
#include <cstdint>

#include "engine/kernels/activation.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

inline constexpr int64_t kElementwiseTask = 16384;  // elements: 64 KiB of floats read and as many written

// ---- One operand -----------------------------------------------------------------------------------------------------

/// y = f(x). f32 and f64 have all except kNot and kBitwiseNot; of the activations, which activation.inc describes, integers have kClip and
/// kRelu, and of the others those marked *; bool has kNot and kIdentity, all types kIdentity.
enum class UnaryOp : int32_t {
  kIdentity,
  kAbs,         // *
  kNeg,         // *
  kSign,        // * -1, 0, 1
  kFloor,
  kCeil,
  kRound,       // half to even
  kSqrt,
  kReciprocal,
  kExp,
  kLog,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
#define SVENGINE_ACTIVATION(Name, ...) k##Name,
#include "engine/kernels/activation.inc"
  // results are bool
  kIsNaN,
  kIsInf,       // see detect_negative and detect_positive
  // not for floats
  kNot,         // bool
  kBitwiseNot,  // *
};
inline constexpr int kUnaryOpCount = static_cast<int>(UnaryOp::kBitwiseNot) + 1;

struct UnaryArgs {
  UnaryOp op = UnaryOp::kIdentity;
  DType type = DType::f32;  // of x; y is the same, except bool for kIsNaN and kIsInf
  const void* x = nullptr;
  void* y = nullptr;
  int64_t n = 0;  // contiguous elements
  double alpha = 0, beta = 0;                 // rounded to float for f32, and for what products end in but Clip
  int64_t low = INT64_MIN, high = INT64_MAX;  // integer kClip; high of unsigned 64-bit is taken as uint64_t
  bool detect_negative = true, detect_positive = true;
};

// ---- Broadcasting ----------------------------------------------------------------------------------------------------

inline constexpr int kMaxBroadcastDims = 8;

/// A loop nest over a contiguous row-major output, outermost dimension first, at most `kMaxBroadcastDims` deep, with the
/// element strides of up to three operands. Strides are free except in the innermost dimension: 0 or 1 there.
/// Fewest dimensions run fastest: make it with make_broadcast, or merge neighbours that every operand walks evenly.
///
/// For example a per-channel bias on NCHWc data with 16 lanes: size {N, Cb, H W, 16}, strides of the data
/// {Cb H W 16, H W 16, 16, 1}, of the bias {0, 16, 0, 1}.
struct Broadcast {
  int32_t rank = 1;
  int64_t size[kMaxBroadcastDims] = {};
  int64_t stride[3][kMaxBroadcastDims] = {};
};

/// The loop nest of contiguous operands of the given shapes (operands[i] points at ranks[i] dimensions), which NumPy's rules
/// broadcast to `output`. Dimensions of 1 vanish, neighbours merge. False if more than kMaxBroadcastDims remain.
/// At most three operands; shapes must be compatible.
bool make_broadcast(const int64_t* output, int rank, const int64_t* const* operands, const int* ranks, int count,
                    Broadcast* result) noexcept;

// ---- Two operands ----------------------------------------------------------------------------------------------------

enum class BinaryOp : int32_t {
  // result of the operands' type: all types except bool
  kAdd,
  kSub,
  kMul,
  kDiv,    // integers truncate
  kPow,    // IEEE 754 pow; integers: modulo 2^bits, a negative exponent gives the truncated quotient (0 for 0)
  kMin,
  kMax,
  kMod,    // sign of the divisor (Python's %)
  kFmod,   // sign of the dividend (C's fmod and %)
  kPRelu,  // a < 0 ? b a : a
  // result is bool: all types, bool included
  kEqual,
  kGreater,
  kLess,
  kGreaterOrEqual,
  kLessOrEqual,
  // result is bool: bool only
  kAnd,
  kOr,
  kXor,
  // integers
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kShiftLeft,   // by b, 0 when b is the width or more; unsigned integers
  kShiftRight,
};
inline constexpr int kBinaryOpCount = 23;

struct BinaryArgs {
  BinaryOp op = BinaryOp::kAdd;
  DType type = DType::f32;  // of both operands
  const void* a = nullptr;               // strides: broadcast.stride[0]
  const void* b = nullptr;               // strides: broadcast.stride[1]
  void* y = nullptr;                     // contiguous
  Broadcast broadcast;
  ActivationArgs activation;  // on the result; f32 kAdd, kSub, kMul, kDiv, kMin, kMax, kPow only
};

// ---- Selection -------------------------------------------------------------------------------------------------------

struct WhereArgs {
  const uint8_t* condition = nullptr;  // strides: broadcast.stride[0]
  const void* x = nullptr;             // strides: broadcast.stride[1]; taken where the condition is not 0
  const void* y = nullptr;             // strides: broadcast.stride[2]
  void* result = nullptr;              // contiguous; may be x or y if that one has its layout
  int32_t element_bytes = 4;           // 1, 2, 4, 8
  Broadcast broadcast;
};

// ---- Conversion ------------------------------------------------------------------------------------------------------

/// Any type to any. To bool: whether not 0 (NaN is true). Float to integer truncates; beyond the range of a 32- or 64-bit
/// integer it saturates, narrower ones take the low bits of the 64-bit result, and NaN gives 0 (ONNX leaves all of this
/// open). Integer to a narrower integer takes the low bits. To floats: nearest, ties to even, overflow to infinity.
struct CastArgs {
  DType from = DType::f32, to = DType::f32;
  const void* x = nullptr;
  void* y = nullptr;  // may be x if from and to have the same size
  int64_t n = 0;
};

// ---- Progressions ----------------------------------------------------------------------------------------------------

/// y[i] = start + i delta. Floats: computed in double, rounded once. f32, f64, i16, i32, i64.
struct RangeArgs {
  DType type = DType::f32;
  void* y = nullptr;
  int64_t n = 0;
  double start = 0, delta = 0;                 // floats
  int64_t integer_start = 0, integer_delta = 0;  // integers
};

/// y[i] = number first + i of the stream of random numbers that has this key, evenly in [0, 1): a multiple of 2^-53, of the two first words of
/// that block of Philox (base/philox.h). The same bits in every kernel set.
struct UniformArgs {
  double* y = nullptr;
  int64_t n = 0;
  uint64_t first = 0;
  uint32_t key[2] = {};
};

struct ElementwiseKernels {
  bool (*has_unary)(UnaryOp op, DType type) noexcept;
  TaskKernel<UnaryArgs> unary;
  bool (*has_binary)(BinaryOp op, DType type) noexcept;
  TaskKernel<BinaryArgs> binary;
  TaskKernel<WhereArgs> where;
  TaskKernel<CastArgs> cast;
  TaskKernel<RangeArgs> range;
  TaskKernel<UniformArgs> uniform;
};

}  // namespace svengine::kernels
