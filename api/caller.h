// One caller's calls of a network: tensors in whatever layout, the sessions that compute, and what is kept from call to call.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "api/layout.h"
#include "api/shared_network.h"
#include "runtime/session.h"

namespace svengine {

/// One call at a time. After the first call with the same shapes and layouts nothing is allocated.
class Caller {
 public:
  Caller(std::shared_ptr<SharedNetwork> network, SessionContext options) : network_(std::move(network)), options_(std::move(options)) {}

  /// Makes the session of plain calls now.
  Status open();

  const SharedNetwork& network() const { return *network_; }

  /// Outputs without data are filled in: they lie in memory of this caller until its next call.
  Status run(std::span<const TensorLayout> inputs, std::span<TensorLayout> outputs);
  /// `output_gradients`: by output; of unknown type: zeros. `input_gradients`: by input; those of inputs that are no floats are left alone.
  Status run_vjp(std::span<const TensorLayout> inputs, std::span<const TensorLayout> output_gradients, std::span<TensorLayout> outputs,
                 std::span<TensorLayout> input_gradients);
  Status run_jvp(std::span<const TensorLayout> inputs, std::span<const TensorLayout> input_tangents, std::span<TensorLayout> outputs,
                 std::span<TensorLayout> output_tangents);

  /// Whether what the last call refused was in its arguments, not in what the network computed.
  bool arguments_refused() const { return arguments_refused_; }

 private:
  /// A session with the memory for what is not read and written in place.
  struct Line {
    std::unique_ptr<Session> session;
    std::vector<TensorLayout> inputs, outputs;  // of the present call, in the session's order
    std::vector<ConstBinding> sources;
    std::vector<Binding> places;
    std::vector<MutableTensor> gathered;        // dense copies of inputs
    std::vector<MutableTensor> zeros;           // for inputs that nobody gives
  };

  Result<Line*> line(SharedNetwork::Purpose purpose);
  Status call(Line& line);
  Status check(const Line& line) const;
  /// Whether an output may be written over the input before it has been read.
  static bool lies_on_output(const Line& line, const TensorLayout& input);
  Status gather_inputs(Line& line);
  Status scatter_outputs(Line& line);
  /// Input `index` is zeros.
  static Status put_zeros(Line& line, size_t index, DType type, std::span<const int64_t> dims);

  std::shared_ptr<SharedNetwork> network_;
  SessionContext options_;
  Line lines_[3];
  bool arguments_refused_ = false;
};

}  // namespace svengine
