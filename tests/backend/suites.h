// The tests of a folder of ONNX's backend tests: models, data sets, bounds.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine::backend {

/// A model and what it should answer. Of the light ones (one file each) the input is a pattern.
struct Case {
  std::string name;  // suite/test
  std::filesystem::path model;
  std::vector<std::filesystem::path> data_sets;  // folders; none: a light one
  double rtol = 1e-3, atol = 1e-7;               // those of ONNX's own runner
};

/// All of them, by suite and name: SUITE/NAME/{model.onnx,test_data_set_N/,bounds.json} and light/NAME.onnx.
std::vector<Case> find_cases(const std::filesystem::path& root);

/// The expected output `i` of a light model: light/NAME_output_i.pb.
std::filesystem::path light_output(const Case& test, size_t i);
/// Its input: float32, i / count for element i; dimensions of no size are 1.
Result<Tensor> light_input(const Shape& shape);

/// The operators in the model, those of subgraphs and functions too, without repetition: "Add", "ai.onnx.ml.Scaler".
std::vector<std::string> operators_of(const std::filesystem::path& model);

}  // namespace svengine::backend
