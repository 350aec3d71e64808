// Formulas of operators that are neither element by element nor windows: formulas.cc has the table of all.
#pragma once
#include "tests/gradients/double_forward.h"

namespace svengine::tests {

std::vector<Array> dequantize_linear(const Node& node, const std::vector<Array>& in);
std::vector<Array> linear_attention(const Node& node, const std::vector<Array>& in);
std::vector<Array> n_bits_mat_mul(const Node& node, const std::vector<Array>& in);
// ai.onnx.ml, whose results are float32 whatever goes in
std::vector<Array> scaler(const Node& node, const std::vector<Array>& in);
std::vector<Array> normalizer(const Node& node, const std::vector<Array>& in);
std::vector<Array> feature_vectorizer(const Node& node, const std::vector<Array>& in);

}  // namespace svengine::tests
