// How much of an output's signal another network's output loses: the signal-to-noise ratio, 10 log10(sum x^2 / sum (x - y)^2), in decibels.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "validate/quantize/calibrate.h"

namespace svengine::validate {

/// Sums over samples, in double.
struct Noise {
  double signal = 0, noise = 0;
  double largest = 0;  // absolute error
  int64_t elements = 0;
  std::string mismatch;  // of the last sample that had one

  /// Infinity where the outputs are equal; -infinity where an element is NaN or infinite on one side alone.
  double snr() const;
  /// sqrt(noise / signal).
  double relative() const;
};

/// Adds the difference of two tensors of numbers; nothing is said of strings and sequences. Another type or shape, as where a network counts
/// what it finds, is infinite noise.
void add_noise(Noise& to, const Tensor& expected, const Tensor& got);

struct OutputNoise {
  std::string name;
  Noise noise;
};

/// The outputs that others are compared with: computed once, and kept as far as `most_bytes` go; the others are computed again.
class ReferenceOutputs {
 public:
  explicit ReferenceOutputs(std::unique_ptr<Session> session, int64_t most_bytes = int64_t{256} << 20)
      : session_(std::move(session)), room_(most_bytes) {}

  const std::vector<Session::Port>& ports() const { return session_->outputs(); }
  Result<std::vector<Tensor>> of(size_t sample, const std::vector<Tensor>& inputs);

 private:
  std::unique_ptr<Session> session_;
  std::unordered_map<size_t, std::vector<Tensor>> kept_;
  int64_t room_;
};

/// Another network on every sample, output by output.
Result<std::vector<OutputNoise>> compare_on_samples(ReferenceOutputs& expected, Session& got, InputSamples& samples);

/// The smallest ratio of several outputs.
double worst_snr(const std::vector<OutputNoise>& outputs);

}  // namespace svengine::validate
