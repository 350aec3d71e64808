#include "runtime/session.h"

#include <algorithm>
#include <map>

#include "engine/graph/expand.h"
#include "runtime/bodies.h"
#include "runtime/segment.h"
#include "runtime/weight_cache.h"

namespace svengine {
namespace {

Status check_input(const Session::Port& port, const Tensor& tensor,
                   std::map<std::string, std::pair<int64_t, std::string>>& symbols) {
  const auto wanted = [&] { return fmt::format("input '{}' needs {}", port.name, to_string(port.type)); };
  if (tensor.type() != port.type.dtype)
    return error("{}, got {}[{}]", wanted(), name_of(tensor.type()), to_string(tensor.dims()));
  if (!port.type.shape.has_rank() || port.type.dtype >= DType::sequence) return {};
  if (static_cast<int64_t>(tensor.dims().size()) != port.type.shape.rank())
    return error("{}, got rank {} ({})", wanted(), tensor.dims().size(), to_string(tensor.dims()));
  for (size_t i = 0; i < tensor.dims().size(); ++i) {
    const Dim& dim = port.type.shape[i];
    const int64_t size = tensor.dims()[i];
    if (dim.is_static() && dim.value() != size)
      return error("{}, got {}: dimension {} is {}, not {}", wanted(), to_string(tensor.dims()), i, size, dim.value());
    if (!dim.is_symbolic()) continue;
    const auto [it, fresh] = symbols.emplace(dim.symbol(), std::pair(size, port.name));
    if (!fresh && it->second.first != size)
      return error("{}, got {}: {} is {} here but {} for input '{}'", wanted(), to_string(tensor.dims()), dim.symbol(), size,
                   it->second.first, it->second.second);
  }
  return {};
}

}  // namespace

Status choose_kernels(SessionOptions& options) {
  if (options.kernels) return {};
  if (kernels::available_kernel_sets().empty())
    return error("this processor runs none of the fast kernel sets built into this program; the set 'reference' runs anywhere, slowly");
  options.kernels = kernels::available_kernel_sets().front();
  return {};
}

Session::~Session() = default;

std::shared_ptr<RunMemory> keep_run_memory() { return std::make_shared<RunMemory>(RunMemory{SharedArena(true), SharedArena(true)}); }

Result<std::unique_ptr<Session>> Session::create(Graph graph, SessionOptions options) {
  std::unique_ptr<Session> session(new Session);
  SV_TRY(choose_kernels(options));
  if (options.topology.groups.empty()) options.topology = detect_topology(0);
  if (options.optimize) SV_TRY(run_pipeline(graph, pass_context(*options.kernels), Stage::load));
  else SV_TRY(make_runnable(graph, pass_context(*options.kernels)));  // no optimisation
  for (const Value* v : graph.inputs()) session->inputs_.push_back({v->name(), v->type});
  for (const Value* v : graph.outputs()) session->outputs_.push_back({v->name(), v->type});
  session->options_ = options;
  session->team_ = std::make_unique<Team>(options.topology, options.flush_denormals);
  session->weights_ = std::make_unique<WeightStore>();
  session->bodies_ = std::make_unique<Bodies>();
  session->data_dependent_ = std::make_unique<RunMemory>();
  if (!options.cache.empty())
    session->cache_ =
        std::make_unique<WeightCache>(options.cache, graph, options.kernels->name, *session->team_, *session->weights_);
  if (options.shard && options.topology.groups.size() > 1) {
    SV_ASSIGN(BatchParallel batch_parallel, make_batch_parallel(graph, *session->team_));
    session->batch_parallel_ = std::make_unique<BatchParallel>(std::move(batch_parallel));
  }
  std::vector<bool> needs_value(graph.inputs().size(), false);
  session->root_ = std::make_unique<Segment>(std::move(graph), std::move(needs_value),
                                             Segment::Shared{*session->team_, *options.kernels, *session->weights_,
                                                             LowerOptions{.exact_convolution = options.exact_convolution},
                                                             options.optimize, options.recompute, session->batch_parallel_.get(),
                                                             session->cache_.get(), *session->bodies_, options.memory.get(), *session->data_dependent_});
  return session;
}

Status Session::check_inputs(const std::vector<Tensor>& inputs) const {
  if (inputs.size() != inputs_.size()) return error("got {} inputs, the network has {}", inputs.size(), inputs_.size());
  std::map<std::string, std::pair<int64_t, std::string>> symbols;
  for (size_t i = 0; i < inputs.size(); ++i) SV_TRY(check_input(inputs_[i], inputs[i], symbols));
  return {};
}

Status Session::prepare(const std::vector<Tensor>& inputs) {
  SV_TRY(check_inputs(inputs));
  return root_->prepare(inputs);
}

Result<std::vector<Tensor>> Session::run(const std::vector<Tensor>& inputs, bool profile) { return run_into(inputs, {}, profile); }

Result<std::vector<Tensor>> Session::run_into(const std::vector<Tensor>& inputs, const std::vector<MutableTensor>& output_buffers,
                                              bool profile) {
  SV_TRY(check_inputs(inputs));
  const auto aligned = [](const Tensor& t) { return t.is_aligned(); };
  if (std::all_of(inputs.begin(), inputs.end(), aligned)) return root_->run(inputs, profile, output_buffers);
  std::vector<Tensor> copies = inputs;  // out of the middle of a file, for example
  for (Tensor& t : copies) {
    if (aligned(t)) continue;
    SV_ASSIGN(t, t.aligned_copy());
  }
  return root_->run(copies, profile, output_buffers);
}

Result<int64_t> Session::planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const {
  std::vector<Tensor> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    SV_TRY(check_dims(inputs[i]));
    shapes.push_back(Tensor::wrap(i < inputs_.size() ? inputs_[i].type.dtype : DType::undefined, inputs[i], nullptr, nullptr));
  }
  SV_TRY(check_inputs(shapes));
  return root_->planned_bytes(inputs, recompute);
}

std::vector<std::shared_ptr<const Plan>> Session::plans() const {
  std::vector<std::shared_ptr<const Plan>> plans;
  root_->collect_plans(plans);
  bodies_->for_each([&](const Segment& s) { s.collect_plans(plans); });
  return plans;
}

std::vector<ProfileRow> Session::profile() const {
  std::vector<ProfileRow> rows;
  root_->collect_profile(rows);
  bodies_->for_each([&](const Segment& s) { s.collect_profile(rows); });
  return rows;
}

CacheReport Session::cache_report() const { return cache_ ? cache_->report() : CacheReport(); }

std::string Session::page_report() const { return std::string(name_of(root_->page_kind())); }

}  // namespace svengine
