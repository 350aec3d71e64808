// Writes a scheme into a graph: QuantizeLinear and DequantizeLinear around what is quantised, as ONNX Runtime's and TensorRT's tools do.
//
//   x ─> Conv(w, b) ─> Relu ─> y      =>      x ─> Q ─> DQ ─> Conv(DQ(w int8), DQ(b int32)) ─> Relu ─> Q ─> DQ ─> y
//
// The result of the last DequantizeLinear has the value's name, so everything that reads the value reads what 8 bits leave of it, and values
// of both networks can be compared by name. Weights are int8, symmetric, one scale for each output channel; a bias is int32 by
// the product of the input's and the weights' scales.
#pragma once
#include <string>
#include <unordered_map>

#include "validate/quantize/parameters.h"
#include "validate/quantize/scheme.h"

namespace svengine::validate {

struct InsertOptions {
  DType activations = DType::u8;  // or i8
  bool per_channel = true;        // of weights
};

/// `ranges`: of every value of the scheme, by its name.
Status insert_quantization(Graph& graph, const Scheme& scheme, const std::unordered_map<std::string, Range>& ranges, const InsertOptions& options);

/// The axis of a product's weights (input 1) that its output channels are; -1: there is none, or it has not one scale each.
int64_t channel_axis(const Node& product);

}  // namespace svengine::validate
