#include "importers/onnx/export.h"

#include <string_view>
#include <unordered_set>

#include "engine/base/file.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/wire.h"

namespace svengine {
namespace {

using namespace onnx_proto;

constexpr size_t kMostBytes = (size_t{1} << 31) - 1;
constexpr uint32_t kModelGraph = 7, kGraphInitializer = 5;

/// An initializer's bytes are `head` and then the tensor's own, or the packed ones.
struct Initializer {
  std::string head;
  const Tensor* tensor;
  std::string packed = {};

  std::span<const std::byte> data() const {
    return packed.empty() ? std::span<const std::byte>(tensor->raw(), tensor->byte_size()) : std::as_bytes(std::span<const char>(packed));
  }
};

Initializer make_initializer(const Value& value) {
  const Tensor& tensor = value.constant();
  std::string message = onnx::export_tensor_header(tensor, value.name()).SerializeAsString();
  message += onnx::raw_data_head(tensor);
  Initializer out{{}, &tensor};
  const size_t size = onnx::raw_data_of(tensor, out.packed).size();
  onnx::append_field_head(out.head, kGraphInitializer, message.size() + size);
  out.head += message;
  return out;
}

/// Everything but the initializers.
Result<GraphProto> make_structure(const Graph& graph, int opset) {
  GraphProto out;
  out.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const auto& node : graph.nodes()) {
    SV_ASSIGN(*out.add_node(), onnx::export_node(*node, opset));
  }
  for (const Value* v : graph.inputs()) SV_TRY(onnx::export_value_info(*v, *out.add_input()));
  for (const Value* v : graph.outputs()) SV_TRY(onnx::export_value_info(*v, *out.add_output()));
  return out;
}

std::string make_header(const ExportOptions& options) {
  ModelProto model;
  model.set_ir_version(options.ir_version);
  model.set_producer_name(options.producer_name);
  if (!options.producer_version.empty()) model.set_producer_version(options.producer_version);
  if (!options.doc.empty()) model.set_doc_string(options.doc);
  OperatorSetIdProto* opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(options.opset);
  for (const auto& [key, value] : options.metadata) {
    StringStringEntryProto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model.SerializeAsString();
}

/// Constants that nodes read or that are outputs. An axes input that became an attribute stays as an unused initializer,
/// which is dropped here.
std::vector<Initializer> collect_initializers(const Graph& graph, const GraphProto& structure) {
  std::unordered_set<std::string_view> used;
  onnx::note_read_names(structure, used);
  for (const ValueInfoProto& output : structure.output()) used.insert(output.name());
  std::vector<Initializer> out;
  graph.for_each_value([&](Value& v) {
    if (v.is_constant() && used.count(v.name())) out.push_back(make_initializer(v));
  });
  return out;
}

Status write_model(const Graph& graph, const ExportOptions& options, const std::string& path) {
  if (options.opset < onnx::kOldestExport || options.opset > kNewestOpset)
    return error("opset {} is not one of {} to {}", options.opset, onnx::kOldestExport, kNewestOpset);
  SV_ASSIGN(const GraphProto structure, make_structure(graph, options.opset));
  std::string header = make_header(options);
  const std::string body = structure.SerializeAsString();
  const std::vector<Initializer> initializers = collect_initializers(graph, structure);
  size_t graph_size = body.size();
  for (const Initializer& i : initializers) graph_size += i.head.size() + i.data().size();
  if (graph_size + header.size() + 16 > kMostBytes)
    return error("the model has {} bytes; an ONNX file can have less than 2 GiB", graph_size + header.size());
  onnx::append_field_head(header, kModelGraph, graph_size);
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(header));
  SV_TRY(file.write(body));
  for (const Initializer& i : initializers) {
    SV_TRY(file.write(i.head));
    SV_TRY(file.write(i.data()));
  }
  return file.finish();
}

}  // namespace

Status export_onnx(const Graph& graph, const ExportOptions& options, const std::string& path) {
  Status status = write_model(graph, options, path);
  if (!status.ok()) return std::move(status).error().in("export as ONNX");
  return {};
}

}  // namespace svengine
