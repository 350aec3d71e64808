#include "tests/backend/suites.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuites[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};
constexpr const char* kLight = "light";

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  if (!fs::exists(folder)) return entries;
  for (const auto& e : fs::directory_iterator(folder)) entries.push_back(e.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

void read_bounds(const fs::path& file, Case& test) {
  std::ifstream in(file);
  const nlohmann::json bounds = nlohmann::json::parse(in, nullptr, false);
  if (!bounds.is_object()) return;
  test.rtol = bounds.value("rtol", test.rtol);
  test.atol = bounds.value("atol", test.atol);
}

void add_operators(const google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>& nodes, std::set<std::string>& out) {
  for (const auto& node : nodes) {
    const bool is_default = node.domain().empty() || node.domain() == "ai.onnx";
    out.insert((is_default ? "" : node.domain() + ".") + node.op_type());
    for (const auto& attribute : node.attribute()) add_operators(attribute.g().node(), out);
  }
}

}  // namespace

std::vector<Case> find_cases(const fs::path& root) {
  std::vector<Case> cases;
  for (const char* suite : kSuites) {
    for (const fs::path& folder : sorted_entries(root / suite)) {
      if (!fs::exists(folder / "model.onnx")) continue;
      Case test{std::string(suite) + "/" + folder.filename().string(), folder / "model.onnx", {}};
      read_bounds(folder / "bounds.json", test);
      for (const fs::path& set : sorted_entries(folder))
        if (set.filename().string().starts_with("test_data_set_")) test.data_sets.push_back(set);
      cases.push_back(std::move(test));
    }
  }
  for (const fs::path& file : sorted_entries(root / kLight))
    if (file.extension() == ".onnx") cases.push_back({std::string(kLight) + "/" + file.stem().string(), file, {}});
  return cases;
}

fs::path light_output(const Case& test, size_t i) {
  return test.model.parent_path() / (test.model.stem().string() + "_output_" + std::to_string(i) + ".pb");
}

Result<Tensor> light_input(const Shape& shape) {
  Dims dims;
  for (const Dim& d : shape.dims()) dims.push_back(d.is_static() ? d.value() : 1);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, dims));
  const std::span<float> values = out.data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(values.size()));
  return out;
}

std::vector<std::string> operators_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  onnx_proto::ModelProto model;
  std::set<std::string> out;
  if (!model.ParseFromIstream(&file)) return {};
  add_operators(model.graph().node(), out);
  for (const auto& function : model.functions()) add_operators(function.node(), out);
  return {out.begin(), out.end()};
}

}  // namespace svengine::backend
