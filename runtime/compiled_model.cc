#include "runtime/compiled_model.h"

#include "engine/graph/expand.h"
#include "runtime/float_mode.h"
#include "runtime/segment_model.h"

namespace svengine {

Status choose_kernels(SessionOptions& options) {
  if (options.kernels) return {};
  if (kernels::available_kernel_sets().empty())
    return error("this processor runs none of the fast kernel sets built into this program; the set 'reference' runs anywhere, slowly");
  options.kernels = kernels::available_kernel_sets().front();
  return {};
}

CompiledModel::~CompiledModel() = default;

Result<std::shared_ptr<CompiledModel>> CompiledModel::create(Graph graph, SessionOptions options) {
  SV_TRY(choose_kernels(options));
  const FloatMode mode(false);  // of constants that are folded
  std::shared_ptr<CompiledModel> model(new CompiledModel);
  if (options.optimize) SV_TRY(run_pipeline(graph, pass_context(*options.kernels), Stage::load));
  else SV_TRY(make_runnable(graph, pass_context(*options.kernels)));  // no optimisation
  for (const Value* v : graph.inputs()) model->inputs_.push_back({v->name(), v->type});
  for (const Value* v : graph.outputs()) model->outputs_.push_back({v->name(), v->type});
  model->kernels_ = options.kernels;
  model->weights_ = std::make_unique<WeightStore>();
  model->bodies_ = std::make_unique<BodyModels>();
  if (!options.cache.empty()) {
    if (options.topology.groups.empty()) options.topology = detect_topology(0);
    Team team(options.topology, options.flush_denormals);
    model->cache_ = std::make_unique<WeightCache>(options.cache, graph, options.kernels->name, team, *model->weights_);
  }
  std::vector<bool> needs_value(graph.inputs().size(), false);
  model->root_ = std::make_unique<SegmentModel>(
      std::move(graph), std::move(needs_value),
      SegmentModel::Shared{*options.kernels, *model->weights_, LowerOptions{.exact_convolution = options.exact_convolution, .seed = options.seed},
                           options.optimize, options.recompute, model->cache_.get(), *model->bodies_, model->planning_});
  return model;
}

CacheReport CompiledModel::cache_report() const {
  const std::lock_guard lock(planning_);
  return cache_ ? cache_->report() : CacheReport();
}

}  // namespace svengine
