// What a model says of itself as a whole: versions, imports, metadata.
#include <algorithm>
#include <map>
#include <set>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using Imports = google::protobuf::RepeatedPtrField<onnx_proto::OperatorSetIdProto>;

std::string shown_domain(const std::string& domain) { return domain.empty() ? "ai.onnx" : printable(domain, 60); }

/// Of the model or of a function (`where`).
void check_imports(Context& c, const Imports& imports, const std::string& where) {
  std::map<std::string, int64_t> seen;
  for (const auto& import : imports) {
    const std::string domain(canonical_domain(import.domain()));
    const int64_t version = import.version();
    if (version < 1 || version > INT32_MAX)
      c.found.add("opset-range", where, fmt::format("opset {} of {} does not exist", version, shown_domain(domain)));
    const auto [known, is_new] = seen.emplace(domain, version);
    if (!is_new)
      c.found.add("opset-twice", where,
                  fmt::format("{} is imported twice, as opset {} and {}", shown_domain(domain), known->second, version));
    const int newest = domain.empty() ? kNewestOpset : c.schemas.newest(domain);
    if (newest > 0 && version > newest && version <= INT32_MAX)
      c.found.add("opset-newer", where,
                  fmt::format("opset {} of {} is newer than {}, the newest known: its operators are taken as those of {}", version,
                              shown_domain(domain), newest, newest));
  }
}

bool imports_spelled(const Imports& imports, const std::string& domain) {
  return std::any_of(imports.begin(), imports.end(), [&](const auto& import) { return import.domain() == domain; });
}

void check_domains(Context& c) {
  for (const Body& body : c.bodies) {
    // A model that imports nothing at all says so once.
    if (!body.function && c.model().opset_import_size() == 0) continue;
    const Imports& imports = body.function ? body.function->opset_import() : c.model().opset_import();
    const bool spelled = imports_spelled(imports, "ai.onnx");
    for (int i = 0; i < body.nodes->size(); ++i) {
      const std::string& domain = body.nodes->Get(i).domain();
      if (c.opset_of(body, domain) == 0)
        c.add("domain-not-imported", body, i,
              fmt::format("domain {} is not among the opset imports of the {}", shown_domain(std::string(canonical_domain(domain))),
                          body.function ? "function" : "model"));
      else if (!spelled && domain == "ai.onnx")
        c.add("domain-spelling", body, i, "its domain is 'ai.onnx', imported is ''");
    }
  }
}

}  // namespace

void check_model_level(Context& c) {
  const onnx_proto::ModelProto& model = c.model();
  const int64_t ir = model.ir_version();
  if (!model.has_ir_version())
    c.found.add("ir-version", "", "no IR version is given");
  else if (ir < 1)
    c.found.add("ir-version", "", fmt::format("IR version {} does not exist", ir));
  else if (ir > onnx::kNewestIr)
    c.found.add("ir-version", "", fmt::format("IR version {} is newer than {}, the newest known", ir, onnx::kNewestIr));
  if (!model.has_graph()) c.found.add("graph-missing", "", "the model has no graph");
  if (model.opset_import_size() == 0 && ir >= onnx::kOldestIrWithOpsets)
    c.found.add("opset-missing", "", fmt::format("no opset is imported; IR version {} demands that", ir));
  if (model.opset_import_size() > 0 && ir >= 1 && ir < onnx::kOldestIrWithOpsets)
    c.found.add("opset-in-old-ir", "",
                fmt::format("an opset is imported, but IR version {} has none: its operators are those of opset 1", ir));
  check_imports(c, model.opset_import(), "");
  for (const Body& body : c.bodies)
    if (body.function && body.parent < 0) check_imports(c, body.function->opset_import(), c.where(body));
  check_domains(c);
  std::set<std::string> keys;
  for (const auto& entry : model.metadata_props())
    if (!keys.insert(entry.key()).second)
      c.found.add("metadata-twice", "", fmt::format("key '{}' is there twice", printable(entry.key(), 60)));
  if (model.training_info_size())
    c.found.add("training-info", "", "training information is there; only the graph and the functions are looked at");
}

}  // namespace svengine::validate
