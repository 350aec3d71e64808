#include "validate/reduce/recording.h"

#include <unistd.h>

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "importers/onnx/tensor_file.h"
#include "runtime/segment.h"

namespace svengine::validate {
namespace {

/// Bytes that a value will have; a guess where its shape depends on data.
int64_t bytes_of_value(const Value& value) {
  int64_t count = 1;
  if (!value.type.shape.has_rank()) return 1 << 20;
  for (const Dim& d : value.type.shape.dims()) count *= d.is_static() ? d.value() : 64;
  return count * static_cast<int64_t>(size_of(value.type.dtype));
}

std::unordered_map<std::string, Value*> values_by_name(const Graph& graph) {
  std::unordered_map<std::string, Value*> out;
  graph.for_each_value([&](Value& v) { out.emplace(v.name(), &v); });
  return out;
}

/// Names in groups that one run may keep.
Result<std::vector<std::vector<std::string>>> group_names(const Graph& graph, const std::vector<std::string>& names,
                                                          const std::vector<Tensor>& inputs, const SessionOptions& options) {
  std::vector<Dims> dims;
  for (const Tensor& t : inputs) dims.push_back(t.dims());
  SV_ASSIGN(const Graph shaped, specialize(graph, dims, {}, pass_context(*options.kernels)));
  const auto values = values_by_name(shaped);
  std::vector<std::vector<std::string>> groups;
  int64_t bytes = Recording::kMostAtOnce;
  for (const std::string& name : names) {
    const auto at = values.find(name);
    const int64_t size = at == values.end() ? 0 : bytes_of_value(*at->second);
    if (groups.empty() || bytes + size > Recording::kMostAtOnce) groups.emplace_back(), bytes = 0;
    groups.back().push_back(name);
    bytes += size;
  }
  return groups;
}

}  // namespace

Status Recording::add(const std::string& name, const Tensor& tensor) {
  Entry entry{fmt::format("{}/value_{}.pb", folder_, next_++), name, tensor.type(), tensor.dims()};
  SV_TRY(save_tensor_proto(tensor, name, entry.path));
  files_[name] = std::move(entry);
  return {};
}

Result<Recording> Recording::make(const std::string& model, const std::vector<std::string>& names, const std::vector<Tensor>& inputs,
                                  SessionOptions options, const std::string& folder) {
  Recording out;
  out.folder_ = folder;
  options.optimize = false;
  SV_TRY(choose_kernels(options));
  SV_ASSIGN(const Model imported, import_onnx(model));
  const Graph& graph = imported.graph;
  if (inputs.size() != graph.inputs().size())
    return error("{}: has {} inputs, {} are given", printable(model), graph.inputs().size(), inputs.size());
  std::vector<std::string> wanted;
  const auto values = values_by_name(graph);
  for (size_t i = 0; i < inputs.size(); ++i) SV_TRY(out.add(graph.inputs()[i]->name(), inputs[i]));
  for (const std::string& name : names) {
    const auto at = values.find(name);
    if (at == values.end() || at->second->is_input()) continue;
    if (at->second->is_constant()) SV_TRY(out.add(name, at->second->constant()));
    else wanted.push_back(name);
  }
  SV_ASSIGN(const auto groups, group_names(graph, wanted, inputs, options));
  for (const std::vector<std::string>& group : groups) {
    Graph copy = graph.clone();
    const auto copies = values_by_name(copy);
    const size_t first = copy.outputs().size();
    for (const std::string& name : group) copy.add_output(copies.at(name));
    SV_ASSIGN(const auto session, Session::create(std::move(copy), options));
    Result<std::vector<Tensor>> results = session->run(inputs);
    if (!results.ok()) return std::move(results).error().in(printable(model));
    for (size_t i = 0; i < group.size(); ++i)
      if (!is_container((*results)[first + i].type())) SV_TRY(out.add(group[i], (*results)[first + i]));
  }
  return out;
}

void Recording::take(const Recording& other, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const auto at = other.files_.find(name); at != other.files_.end()) files_[name] = at->second;
}

Result<Tensor> Recording::tensor(const std::string& name) const {
  const auto at = files_.find(name);
  if (at == files_.end()) return error("'{}' was not recorded", printable(name));
  SV_ASSIGN(TensorFile file, load_tensor_proto(at->second.path));
  return std::move(file.tensor);
}

std::optional<onnx_proto::ValueInfoProto> Recording::type(const std::string& name) const {
  const auto at = files_.find(name);
  if (at == files_.end()) return std::nullopt;
  onnx_proto::ValueInfoProto out;
  out.set_name(name);
  auto* tensor = out.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(at->second.type));
  auto* shape = tensor->mutable_shape();
  for (const int64_t d : at->second.dims) shape->add_dim()->set_dim_value(d);
  return out;
}

Status Recording::save(const std::string& name, const std::string& path) const {
  const auto at = files_.find(name);
  if (at == files_.end()) return error("'{}' was not recorded", printable(name));
  ::unlink(path.c_str());
  if (at->second.name == name && ::link(at->second.path.c_str(), path.c_str()) == 0) return {};
  SV_ASSIGN(const Tensor value, tensor(name));
  return save_tensor_proto(value, name, path);
}

Recording Recording::renamed(const std::unordered_map<std::string, std::string>& names) const {
  Recording out;
  out.folder_ = folder_;
  out.next_ = next_;
  for (const auto& [to, from] : names)
    if (const auto at = files_.find(from); at != files_.end()) out.files_[to] = at->second;
  return out;
}

}  // namespace svengine::validate
