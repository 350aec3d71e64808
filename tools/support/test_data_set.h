// Recorded inputs and outputs of a network, as ONNX's model zoo and backend tests have them:
//
//   test_data_set_0/input_0.pb input_1.pb output_0.pb      or .npy; numbers in the order of the model's inputs and outputs
//
// A .pb does not say whether it holds a tensor, a sequence, an optional or a map: the ports do.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace svengine::tool {

struct TestDataSet {
  std::string path;
  std::vector<Tensor> inputs, outputs;
};

/// The data sets that a folder means: itself when it holds input or output files, else its test_data_set_N, by number.
Result<std::vector<std::string>> find_test_data_sets(const std::string& folder);

Result<TestDataSet> load_test_data_set(const std::string& path, const std::vector<Session::Port>& inputs, const std::vector<Session::Port>& outputs);

/// Its inputs alone; outputs need not be there.
Result<std::vector<Tensor>> load_set_inputs(const std::string& path, const std::vector<Session::Port>& inputs);

}  // namespace svengine::tool
