// What training leaves, as a file.
#pragma once
#include "importers/onnx/export.h"
#include "importers/onnx/model.h"
#include "runtime/train/trainer.h"

namespace svengine::validate {

struct TrainedNetwork {
  Graph graph;
  ExportOptions options;
};

/// The trainer's network with its present weights, for export_onnx(): in the opset of the model that it was made of where that can be written,
/// and with what only older opsets have said as later ones do.
Result<TrainedNetwork> trained_network(const Trainer& trainer, const Model& model);

/// Whether ONNX can hold it: to be asked before hours of training, not after.
Status check_trained_network(const Trainer& trainer, const Model& model);

}  // namespace svengine::validate
