// Short forms for samples of quantised operators, and the check of how many zero points and scales there may be.
#pragma once
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/samples.h"

namespace svengine::ops {

inline SampleInput u8(Dims dims) { return any(DType::u8, std::move(dims), 0, 256); }
inline SampleInput i8(Dims dims) { return any(DType::i8, std::move(dims), -128, 128); }
inline SampleInput scale(double low = 0.01, double high = 0.1, Dims dims = {}) { return f32(std::move(dims), low, high); }

/// A constant of all kinds of bytes.
template <class T>
Tensor bytes(Dims dims) {
  Result<MutableTensor> tensor = Tensor::allocate(sizeof(T) == 1 && T(-1) < T(0) ? DType::i8 : DType::u8, std::move(dims));
  for (int64_t i = 0; i < tensor->count(); ++i) tensor->raw()[i] = static_cast<std::byte>(i * 77 + 13);
  return *tensor;
}

/// Zero points and scales of a product's operands, by the indices of inputs.
struct CountedInputs {
  size_t a, b;
  std::vector<size_t> of_rows = {}, of_columns = {}, single = {}, biases = {};
  bool b_transposed = false, a_transposed = false;
};
/// Each has one element, or one for each row of A or column of B, or of every matrix of them; biases one for each column of B, and no fewer.
/// Unknown dimensions pass.
Status check_counts(const InferContext& c, const CountedInputs& inputs);

}  // namespace svengine::ops
