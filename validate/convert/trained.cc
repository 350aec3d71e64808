#include "validate/convert/trained.h"

#include <algorithm>

#include "engine/ops/registry.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/onnx_file.h"
#include "runtime/compiled_model.h"
#include "validate/convert/older_forms.h"

namespace svengine::validate {
namespace {

int opset_of(const Model& model, const ExportOptions& options) {
  for (const OpsetImport& import : model.opsets)
    if (import.domain.empty() && import.version >= onnx::kOldestExport) return static_cast<int>(std::min<int64_t>(import.version, kNewestOpset));
  return options.opset;
}

}  // namespace

Result<TrainedNetwork> trained_network(const Trainer& trainer, const Model& model) {
  SV_ASSIGN(Graph graph, trainer.network());
  TrainedNetwork out{std::move(graph), {.doc = model.doc, .metadata = model.metadata}};
  out.options.opset = opset_of(model, out.options);
  SV_TRY(onnx::replace_old_forms(out.graph, all_ops()));
  SessionOptions session;
  SV_TRY(choose_kernels(session));
  SV_TRY(make_older(out.graph, out.options.opset, pass_context(*session.kernels)));
  return out;
}

Status check_trained_network(const Trainer& trainer, const Model& model) {
  SV_ASSIGN(const TrainedNetwork network, trained_network(trainer, model));
  Result<onnx::OnnxFile> file = export_model(network.graph, network.options);
  return file.ok() ? Status() : std::move(file).error();
}

}  // namespace svengine::validate
