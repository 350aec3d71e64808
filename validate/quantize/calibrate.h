// The ranges of values inside a network over samples of its inputs.
//
// The network runs with these values as outputs besides its own: as many at a time as fit the memory limit, the samples once more for every
// such part. Methods that need a histogram take the samples twice: once for the extremes, once to count.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"
#include "validate/quantize/ranges.h"

namespace svengine::validate {

/// Inputs to run a network on. One caller at a time.
class InputSamples {
 public:
  virtual ~InputSamples() = default;
  virtual size_t size() const = 0;
  /// For messages.
  virtual std::string name(size_t index) const { return fmt::format("sample {}", index); }
  /// Tensors in the order of the network's inputs; the same ones every time. Errors name the file.
  virtual Result<std::vector<Tensor>> read(size_t index) = 0;
};

struct CalibrationOptions {
  CalibrationMethod method = CalibrationMethod::min_max;
  double percentile = 99.999;             // ONNX Runtime's, too
  int64_t most_bytes = int64_t{256} << 20;  // of the values that one run gives back
  SessionOptions session;
};

/// Ranges in the order of the names, each of a float32 value of the graph. A value that is NaN or infinite is an error that names it. `graph`
/// is as imported.
Result<std::vector<Range>> calibrate(const Graph& graph, const std::vector<std::string>& names, InputSamples& samples,
                                     const CalibrationOptions& options);

}  // namespace svengine::validate
