// Networks of 8-bit integers from networks of float32.
//
//   static    ranges of values are measured beforehand, on samples (calibrate.h), and written down: QuantizeLinear and DequantizeLinear around
//             the products and what lies between them (insert.h), which runtimes fuse to integer operators
//   dynamic   of MatMul and Gemm with constant weights alone: every run measures its own ranges (DynamicQuantizeLinear), and the product is
//             MatMulInteger, as ONNX Runtime's quantize_dynamic writes it:
//
//      A ─> DynamicQuantizeLinear ─┬────────────> MatMulInteger(w int8) ─> Cast ─> Mul ─> (+ bias)
//                                  └─> scale ─> Mul(scale of w) ───────────────────^
#pragma once
#include <vector>

#include "importers/onnx/model.h"
#include "validate/quantize/calibrate.h"
#include "validate/quantize/insert.h"

namespace svengine::validate {

/// Brings an imported network to the form in which it is quantised: batch norms and constants added to a convolution's result go into its
/// weights and bias, what is constant is folded. It is a network of ai.onnx still, and computes the same but for roundings.
Status prepare_for_quantization(Graph& graph, const SessionOptions& session);

struct StaticOptions {
  NodeSelection nodes;
  CalibrationOptions calibration;
  InsertOptions insert;
};

struct QuantizedCounts {
  int64_t products = 0;       // that were quantised
  int64_t left = 0;           // that might have been
  int64_t values = 0;         // that are written with 8 bits
};

/// The ranges that a scheme needs, by name.
Result<std::unordered_map<std::string, Range>> calibrate_scheme(const Graph& graph, const Scheme& scheme, InputSamples& samples,
                                                                const CalibrationOptions& options);

/// `graph` is prepared.
Result<QuantizedCounts> quantize_static(Graph& graph, InputSamples& samples, const StaticOptions& options);

/// `graph` is prepared. Counted as left are also products with operands that are both computed, Conv, and forms of Gemm that scale or
/// transpose A.
Result<QuantizedCounts> quantize_dynamic(Graph& graph, const NodeSelection& nodes, bool per_channel);

/// Writes it with what the file it is from says of itself. Opsets before 13, in which scales have no axis, become 13.
Status write_quantized(const Graph& graph, const Model& from, const std::string& producer_version, const std::string& path);

}  // namespace svengine::validate
