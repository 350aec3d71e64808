#include "validate/reduce/reference.h"

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "validate/diff/match.h"

namespace svengine::validate {

std::vector<std::string> computed_names(const onnx_proto::ModelProto& model) {
  std::vector<std::string> names;
  for (const auto& node : model.graph().node())
    for (const std::string& name : node.output())
      if (!name.empty()) names.push_back(name);
  return names;
}

Result<Recording> record_other(const onnx::OnnxFile& model, const std::vector<std::string>& input_names, const std::vector<Tensor>& inputs,
                               const std::string& other, const SessionOptions& options, const std::string& folder) {
  SV_ASSIGN(const onnx::OnnxFile reference, onnx::OnnxFile::open(other));
  const DiffGraph a(model.model().graph()), b(reference.model().graph());
  TensorReader tensors_a(model), tensors_b(reference);
  const auto by_name = [](std::string_view name) { return hash64(name); };
  SV_ASSIGN(const Matching matching, match_graphs(a, b, {tensors_a, tensors_b, by_name, by_name, true}));
  std::unordered_map<std::string, std::string> names;  // of A: of B
  for (size_t v = 0; v < a.values.size(); ++v)
    if (matching.values.of_a[v] >= 0) names.emplace(a.values[v].name, b.values[static_cast<size_t>(matching.values.of_a[v])].name);
  SV_ASSIGN(const Model imported, import_onnx(other));
  std::vector<Tensor> ordered;
  for (const Value* input : imported.graph.inputs()) {
    size_t at = 0;
    while (at < input_names.size() && !(names.contains(input_names[at]) && names.at(input_names[at]) == input->name())) ++at;
    if (at == inputs.size()) return error("{}: its input '{}' is none of the model's", printable(other), input->name());
    ordered.push_back(inputs[at]);
  }
  SV_ASSIGN(const Recording recording, Recording::make(other, computed_names(reference.model()), ordered, options, folder));
  return recording.renamed(names);
}

}  // namespace svengine::validate
