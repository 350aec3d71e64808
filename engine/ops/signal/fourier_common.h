// Discrete Fourier transforms of lines: shared by DFT and STFT.
//
// Lengths whose prime factors are at most kMostFactor take a pass over the data for every factor (Stockham's order, which needs no
// permutation); others are the convolution of Bluestein by transforms of a power of two. Both are O(n log n). Several lines go side by
// side, so that every pass is loops over contiguous numbers. All is computed in double: the error of a transform in float would be that of
// its largest numbers, in small ones too.
#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Twiddle factors and the like of one length; immutable.
class FourierPlan {
 public:
  explicit FourierPlan(int64_t n);

  int64_t length() const { return n_; }
  /// Numbers that transform() needs as scratch for so many lines.
  int64_t scratch_numbers(int64_t lines) const;

  /// X_k = sum over j of x_j e^(-2 pi i j k / n) of `lines` lines side by side: element j of line l is re[j * lines + l], im likewise;
  /// in place.
  void transform(double* re, double* im, int64_t lines, double* scratch) const;

 private:
  static constexpr int64_t kMostFactor = 31;
  void run_passes(double* re, double* im, int64_t lines, double* scratch) const;
  void run_convolution(double* re, double* im, int64_t lines, double* scratch) const;

  int64_t n_;
  std::vector<int64_t> factors_;
  std::vector<std::complex<double>> roots_;  // e^(-2 pi i j / n)
  std::unique_ptr<FourierPlan> inner_;       // Bluestein's power of two
  std::vector<std::complex<double>> chirp_;  // e^(-pi i j^2 / n)
  std::vector<std::complex<double>> kernel_;  // the transform of what is convolved with, over its length
};

/// Line (a, b) of an operand starts at a * stride_a + b * stride_b, its elements are stride_k apart, and each has `parts` numbers.
struct FourierOperand {
  Buffer buffer;
  int64_t parts = 2;
  int64_t count = 0;  // elements of a line that there are
  int64_t stride_a = 0, stride_b = 0, stride_k = 0;
};

struct FourierLines {
  DType type = DType::f32;  // of everything: f32 or f64
  int64_t a = 1, b = 1;     // numbers of lines
  FourierOperand in, out;
  Buffer window;           // [n] factors of the input; absent: 1
  bool inverse = false;    // with e^(+2 pi i ...) / n
  bool hermitian = false;  // the input is the first half of a spectrum, whose other half is its conjugate
};

/// Emits the step that transforms every line to length n, padded with zeros or cut.
Status emit_fourier(LowerContext& c, const char* name, int64_t n, const FourierLines& lines);

/// DFT's rule: dft_gradient_common.cc.
Status dft_gradient(GradientContext& c);

/// STFT's rule: stft_gradient_common.cc.
Status stft_gradient(GradientContext& c);

/// Some 5 n log2 n operations for a line, and everything moved once.
Cost fourier_cost(const Node& node);

/// Input `slot` of one integer, if it is known; a value below 1 is an error.
Result<std::optional<int64_t>> fourier_length(const InferContext& c, size_t slot);

}  // namespace svengine::ops
