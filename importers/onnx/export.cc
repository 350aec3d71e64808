#include "importers/onnx/export.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "engine/graph/domains.h"
#include "engine/graph/op_def.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/onnx_file.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/write_model.h"

namespace svengine {
namespace {

using namespace onnx_proto;

/// IR versions that came with opsets, newest first: onnx.helper.VERSION_TABLE.
constexpr std::pair<int, int64_t> kIrOfOpset[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}};

int64_t ir_of_opset(int opset) {
  for (const auto& [since, ir] : kIrOfOpset)
    if (opset >= since) return ir;
  return 6;
}

/// The outputs' names and types. A value that is listed again is a copy there, for no two outputs have one name.
Status add_outputs(const Graph& graph, const onnx::NameScope& scope, GraphProto& out) {
  std::unordered_set<std::string> listed;
  for (const Value* v : graph.outputs()) {
    ValueInfoProto& output = *out.add_output();
    SV_TRY(onnx::export_value_info(*v, output));
    for (int n = 1; listed.contains(output.name()) || (n > 1 && scope.has(output.name())); ++n) output.set_name(fmt::format("{}_{}", v->name(), n));
    listed.insert(output.name());
    if (output.name() == v->name()) continue;
    NodeProto& copy = *out.add_node();
    copy.set_op_type("Identity");
    copy.set_name(output.name());
    copy.add_input(v->name());
    copy.add_output(output.name());
  }
  return {};
}

/// Everything but the initializers.
Result<GraphProto> make_structure(const Graph& graph, int opset) {
  GraphProto out;
  out.set_name(graph.name.empty() ? "graph" : graph.name);
  const onnx::NameScope scope(graph);
  for (const auto& node : graph.nodes()) {
    SV_ASSIGN(*out.add_node(), onnx::export_node(*node, opset, scope));
  }
  for (const Value* v : graph.inputs()) SV_TRY(onnx::export_value_info(*v, *out.add_input()));
  SV_TRY(add_outputs(graph, scope, out));
  SV_TRY(onnx::add_value_info(graph, out));
  onnx::make_node_names_unique(out);
  return out;
}

/// Operators that a domain's newest version has no more, and the last that has them.
constexpr std::tuple<std::string_view, std::string_view, int> kDeprecated[] = {{kMlDomain, "TreeEnsembleClassifier", 4},
                                                                               {kMlDomain, "TreeEnsembleRegressor", 4}};

/// The newest version that has an operator, of a domain that is not ai.onnx.
int64_t newest_version_with(const OpDef& op) {
  for (const auto& [domain, name, last] : kDeprecated)
    if (domain == op.domain && name == op.name) return last;
  return op.until == kNoLastOpset ? op.since : op.until;
}

struct Versions {
  int64_t needed = 1, newest = std::numeric_limits<int64_t>::max();
};

/// Of every domain but ai.onnx the version that its operators in the graph need, and the newest that has them all.
void note_domains(const Graph& graph, std::map<std::string, Versions>& domains) {
  for (const auto& node : graph.nodes()) {
    const OpDef& op = node->op();
    if (*op.domain && std::string_view(op.domain) != kInternalDomain) {
      Versions& of = domains[op.domain];
      of = {std::max<int64_t>(of.needed, op.since), std::min(of.newest, newest_version_with(op))};
    }
    for (const auto& [name, value] : node->attributes)
      if (const Subgraph* body = std::get_if<Subgraph>(&value)) note_domains(**body, domains);
  }
}

ModelProto make_header(const Graph& graph, const ExportOptions& options) {
  ModelProto model;
  model.set_ir_version(std::max(options.ir_version, ir_of_opset(options.opset)));
  model.set_producer_name(options.producer_name);
  if (!options.producer_version.empty()) model.set_producer_version(options.producer_version);
  if (!options.doc.empty()) model.set_doc_string(options.doc);
  std::map<std::string, Versions> domains;
  note_domains(graph, domains);
  std::map<std::string, int64_t> versions{{"", options.opset}};
  for (const auto& [domain, of] : domains) versions[domain] = std::max(of.needed, of.newest);
  for (const auto& [domain, version] : versions) {
    OperatorSetIdProto* opset = model.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }
  for (const auto& [key, value] : options.metadata) {
    StringStringEntryProto* entry = model.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  return model;
}

/// Constants that nodes read or that are outputs. An axes input that became an attribute stays as an unused initializer,
/// which is dropped here.
void add_initializers(const Graph& graph, onnx::OnnxFile& file) {
  GraphProto& structure = *file.model().mutable_graph();
  std::unordered_set<std::string_view> used;
  onnx::note_read_names(structure, used);
  for (const ValueInfoProto& output : structure.output()) used.insert(output.name());
  graph.for_each_value([&](Value& v) {
    if (v.is_constant() && used.count(v.name())) *structure.add_initializer() = file.add(v.name(), v.constant());
  });
}

}  // namespace

Result<onnx::OnnxFile> export_model(const Graph& graph, const ExportOptions& options) {
  if (options.opset < onnx::kOldestExport || options.opset > kNewestOpset)
    return error("export as ONNX: opset {} is not one of {} to {}", options.opset, onnx::kOldestExport, kNewestOpset);
  Result<GraphProto> structure = make_structure(graph, options.opset);
  if (!structure.ok()) return std::move(structure).error().in("export as ONNX");
  ModelProto model = make_header(graph, options);
  *model.mutable_graph() = std::move(*structure);
  onnx::OnnxFile file = onnx::OnnxFile::of(std::move(model));
  add_initializers(graph, file);
  return file;
}

Status export_onnx(const Graph& graph, const ExportOptions& options, const std::string& path) {
  SV_ASSIGN(const onnx::OnnxFile file, export_model(graph, options));
  Status status = onnx::write_model(file, path);
  if (!status.ok()) return std::move(status).error().in("export as ONNX");
  return {};
}

}  // namespace svengine
