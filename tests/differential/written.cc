#include "tests/differential/written.h"

#include <filesystem>

#include "importers/onnx/export.h"
#include "importers/onnx/tensor_file.h"
#include "importers/onnx/write_model.h"
#include "tests/differential/choices.h"
#include "tests/differential/converted.h"
#include "tests/differential/way.h"

namespace svengine::differential {
namespace {

Status write_values(const std::vector<Value*>& ports, const Values& values, const std::string& folder, const char* kind) {
  for (size_t i = 0; i < ports.size(); ++i)
    SV_TRY(save_value_proto(values.at(ports[i]), ports[i]->name(), fmt::format("{}/{}_{}.pb", folder, kind, i)));
  return {};
}

Status write(const RandomGraph& random, const onnx::OnnxFile& file, const std::string& folder) {
  const std::string data = folder + "/test_data_set_0";
  std::error_code failed;
  std::filesystem::create_directories(data, failed);
  if (failed) return error("cannot make the folder {}: {}", data, failed.message());
  SV_TRY(onnx::write_model(file, folder + "/model.onnx"));
  SV_TRY(write_values(random.graph.inputs(), random.values, data, "input"));
  return write_values(random.graph.outputs(), random.values, data, "output");
}

}  // namespace

std::string write_to_folder(const RandomGraph& random, const CheckOptions& options, const std::string& folder) {
  Choices choose(options.seed);
  const int opset = static_cast<int>(choose.between(onnx::kOldestExport, kNewestOpset));
  Graph graph = random.graph.clone();
  const Status made = make_of_opset(graph, opset, pass_context(*options.kernels[0]));
  if (!made.ok()) return made.error().message();
  const Result<onnx::OnnxFile> file = export_model(graph, {.opset = opset});
  if (!file.ok()) return {};
  const Status written = write(random, *file, fmt::format("{}/{}", folder, options.seed));
  return written.ok() ? std::string() : written.error().message();
}

}  // namespace svengine::differential
