#include "importers/onnx/import.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <new>
#include <optional>

#include "engine/ops/registry.h"
#include "importers/onnx/graph_importer.h"
#include "importers/io/names.h"
#include "importers/onnx/onnx_file.h"
#include "importers/onnx/parse_model.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/value_type.h"

namespace svengine {
namespace {

using onnx::Bytes;

Model describe_file(const onnx_proto::ModelProto& proto, const std::string& path) {
  constexpr size_t kMostText = size_t{1} << 20;
  Model model;
  model.path = path;
  model.ir_version = proto.ir_version();
  for (const auto& import : proto.opset_import())
    model.opsets.push_back({std::string(canonical_domain(import.domain())), import.version()});
  model.producer_name = printable(proto.producer_name(), kMostText);
  model.producer_version = printable(proto.producer_version(), kMostText);
  model.domain = printable(proto.domain(), kMostText);
  model.model_version = proto.model_version();
  model.doc = printable(proto.doc_string(), kMostText);
  for (const auto& entry : proto.metadata_props())
    model.metadata.emplace_back(printable(entry.key(), kMostText), printable(entry.value(), kMostText));
  return model;
}

Result<Model> import(const onnx_proto::ModelProto& proto, const onnx::TensorSource& tensors, const std::string& path,
                     const ImportOptions& options) {
  const OpRegistry& ops = options.ops ? *options.ops : all_ops();
  SV_TRY(onnx::check_versions(proto));
  const auto with_versions = [&](Error problem) {
    const std::vector<std::string> newer = onnx::version_warnings(proto, ops);
    return newer.empty() ? problem : error("{}; the model {}", problem.message(), fmt::join(newer, "; it "));
  };
  Result<std::vector<std::string>> imports = onnx::check_supported(proto, ops, options.strict);
  if (!imports.ok()) return with_versions(std::move(imports).error());
  Model model = describe_file(proto, path);
  model.warnings = onnx::version_warnings(proto, ops);
  for (std::string& warning : *imports) model.warnings.push_back(std::move(warning));
  onnx::GraphImporter importer(proto, ops, tensors, options);
  Result<Graph> graph = importer.run();
  if (!graph.ok()) return with_versions(std::move(graph).error());
  model.graph = std::move(graph).value();
  for (std::string& warning : importer.warnings()) model.warnings.push_back(std::move(warning));
  return model;
}

Result<Model> import(Bytes bytes, const std::shared_ptr<const void>& owner, const std::string& path, onnx::ExternalFiles* external,
                     const ImportOptions& options) {
  SV_ASSIGN(const onnx_proto::ModelProto proto, onnx::parse_model(bytes));
  return import(proto, onnx::TensorSource(bytes, owner, external), path, options);
}

using Declared = google::protobuf::RepeatedPtrField<onnx_proto::ValueInfoProto>;

std::vector<std::pair<std::string, std::string>> declarations(const Declared& values) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& info : values) {
    const Result<Type> type = onnx::declared_type(info);
    out.emplace_back(printable(info.name()), type.ok() ? to_string(*type) : type.error().message());
  }
  return out;
}

/// Names the file in errors, and makes running out of memory one.
template <class Import>
Result<Model> guarded(const std::string& name, Import&& run) {
  try {
    Result<Model> model = run();
    if (!model.ok()) return std::move(model).error().in(printable(name));
    return model;
  } catch (const std::bad_alloc&) {
    return error("{}: not enough memory to import the model", printable(name));
  }
}

}  // namespace

Result<FileSurvey> survey_onnx(const std::string& path) {
  try {
    SV_ASSIGN(const auto file, MappedFile::open(path));
    Result<onnx_proto::ModelProto> proto = onnx::parse_model(file->bytes());
    if (!proto.ok()) return std::move(proto).error().in(printable(path));
    FileSurvey survey;
    survey.model = describe_file(*proto, path);
    survey.operators = onnx::operators_of(*proto, all_ops());
    survey.inputs = declarations(proto->graph().input());
    survey.outputs = declarations(proto->graph().output());
    survey.initializers = proto->graph().initializer_size() + proto->graph().sparse_initializer_size();
    return survey;
  } catch (const std::bad_alloc&) {
    return error("{}: not enough memory to look over the model", printable(path));
  }
}

Result<Model> import_onnx(const std::string& path, const ImportOptions& options) {
  return guarded(path, [&]() -> Result<Model> {
    SV_ASSIGN(const auto file, MappedFile::open(path));
    onnx::ExternalFiles external(std::filesystem::path(path).parent_path().string());
    return import(file->bytes(), file, path, &external, options);
  });
}

Result<Model> import_onnx(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const std::string& name,
                          const ImportOptions& options) {
  return guarded(name, [&]() -> Result<Model> {
    std::optional<onnx::ExternalFiles> external;
    if (!options.external_folder.empty()) external.emplace(options.external_folder);
    return import(bytes, owner, {}, external ? &*external : nullptr, options);
  });
}

Result<Model> import_onnx(const onnx::OnnxFile& file, const ImportOptions& options) {
  return guarded(file.path(), [&]() -> Result<Model> {
    if (file.has_added()) return error("the model has tensors that are in no file; write it first");
    return import(file.model(), file.source(), file.path(), options);
  });
}

}  // namespace svengine
