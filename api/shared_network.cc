#include "api/shared_network.h"

#include "api/convert.h"
#include "runtime/derivative_graphs.h"
#include "runtime/float_mode.h"

namespace svengine {

Result<Model> import_copy(std::span<const std::byte> bytes) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return import_onnx(std::span<const std::byte>(*copy), copy, "the network in memory");
}

Result<std::shared_ptr<SharedNetwork>> SharedNetwork::open(Graph graph, const SessionOptions& options, bool convert) {
  std::shared_ptr<SharedNetwork> network(new SharedNetwork);
  network->options_ = options;
  network->convert_ = convert;
  SV_ASSIGN(std::shared_ptr<CompiledModel> model, CompiledModel::create(graph.clone(), options));
  for (const std::vector<CompiledModel::Port>* ports : {&model->inputs(), &model->outputs()})
    for (const CompiledModel::Port& p : *ports)
      if (is_handle(p.type.dtype)) return error("'{}' is {}; this interface has tensors of numbers and bool alone", p.name, to_string(p.type));
  for (const CompiledModel::Port& p : model->inputs()) network->inputs_.push_back(describe_port(p));
  for (const CompiledModel::Port& p : model->outputs()) network->outputs_.push_back(describe_port(p));
  network->models_[0] = std::move(model);
  network->imported_ = std::move(graph);
  return network;
}

Result<std::shared_ptr<CompiledModel>> SharedNetwork::model(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<CompiledModel>& model = models_[static_cast<size_t>(purpose)];
  if (model) return model;
  const FloatMode mode(false);
  SV_ASSIGN(Graph graph, purpose == Purpose::vjp ? vjp_graph(imported_) : jvp_graph(imported_));
  SV_ASSIGN(model, CompiledModel::create(std::move(graph), options_));
  return model;
}

}  // namespace svengine
