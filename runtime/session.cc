#include "runtime/session.h"

#include <algorithm>
#include <map>

#include "engine/base/limits.h"
#include "runtime/float_mode.h"
#include "runtime/segment.h"

namespace svengine {
namespace {

Status check_input(const Session::Port& port, const Tensor& tensor,
                   std::map<std::string, std::pair<int64_t, std::string>>& symbols) {
  const auto wanted = [&] { return fmt::format("input '{}' needs {}", port.name, to_string(port.type)); };
  if (tensor.type() != port.type.dtype)
    return error("{}, got {}[{}]", wanted(), name_of(tensor.type()), to_string(tensor.dims()));
  if (!port.type.shape.has_rank() || is_container(port.type.dtype)) return {};
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

/// The caller's memory, for one run.
Result<Tensor> borrowed(const ConstBinding& b, size_t index) {
  if (size_of(b.type) == 0 || is_handle(b.type)) return error("input {} has no element type", index);
  Dims dims(b.dims.begin(), b.dims.end());
  Status fits = check_dims(dims);
  if (!fits.ok()) return std::move(fits).error().in(fmt::format("input {}", index));
  if (!b.data && element_count(dims) > 0) return error("input {} has no data (null pointer)", index);
  return Tensor::wrap(b.type, std::move(dims), b.data, nullptr);
}

Status check_place(const Binding& place, const PlanTensor& made) {
  if (place.type != made.dtype || !std::ranges::equal(place.dims, made.dims))
    return error("output '{}' is {}[{}]; the place given for it is {}[{}]", made.name, name_of(made.dtype), to_string(made.dims), name_of(place.type),
                 to_string(Dims(place.dims.begin(), place.dims.end())));
  if (reinterpret_cast<uintptr_t>(place.data) % size_of(made.dtype) != 0)
    return error("the place given for output '{}' is not aligned to its elements", made.name);
  return {};
}

}  // namespace

Session::~Session() = default;

std::shared_ptr<RunMemory> keep_run_memory() { return std::make_shared<RunMemory>(RunMemory{SharedArena(true), SharedArena(true)}); }

Result<std::unique_ptr<Session>> Session::create(Graph graph, SessionOptions options) {
  if (options.topology.groups.empty()) options.topology = detect_topology(0);
  SessionContext context{options.topology, options.flush_denormals, options.shard, options.memory};
  SV_ASSIGN(std::shared_ptr<CompiledModel> model, CompiledModel::create(std::move(graph), std::move(options)));
  return create(std::move(model), std::move(context));
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<CompiledModel> model, SessionContext options) {
  std::unique_ptr<Session> session(new Session);
  if (options.topology.groups.empty()) options.topology = detect_topology(0);
  session->team_ = std::make_unique<Team>(options.topology, options.flush_denormals);
  session->memory_ = options.memory;
  session->data_dependent_ = std::make_unique<RunMemory>();
  session->bodies_ = std::make_unique<Bodies>(model->bodies());
  if (options.shard && options.topology.groups.size() > 1) {
    SV_ASSIGN(BatchParallel batch_parallel, make_batch_parallel(model->inputs(), model->outputs(), *session->team_));
    session->batch_parallel_ = std::make_unique<BatchParallel>(std::move(batch_parallel));
  }
  session->root_ = std::make_unique<Segment>(
      model->root(), Segment::Shared{*session->team_, session->batch_parallel_.get(), *session->bodies_, options.memory.get(),
                                     *session->data_dependent_, session->output_memory_});
  session->model_ = std::move(model);
  return session;
}

Status Session::check_inputs(const std::vector<Tensor>& inputs) const {
  const std::vector<Port>& wanted = this->inputs();
  if (inputs.size() != wanted.size()) return error("got {} inputs, the network has {}", inputs.size(), wanted.size());
  std::map<std::string, std::pair<int64_t, std::string>> symbols;
  for (size_t i = 0; i < inputs.size(); ++i) SV_TRY(check_input(wanted[i], inputs[i], symbols));
  return {};
}

Status Session::prepare(const std::vector<Tensor>& inputs) {
  const FloatMode mode(false);  // of constants that are folded
  SV_TRY(check_inputs(inputs));
  steady_.run = nullptr;
  return root_->prepare(inputs);
}

Result<std::vector<Tensor>> Session::run(const std::vector<Tensor>& inputs, bool profile) { return run_into(inputs, {}, profile); }

Result<std::vector<Tensor>> Session::run_into(const std::vector<Tensor>& inputs, const std::vector<MutableTensor>& output_buffers,
                                              bool profile) {
  const FloatMode mode(false);  // of constants that are folded, and nodes on the host
  SV_TRY(check_inputs(inputs));
  steady_.run = nullptr;
  const auto aligned = [](const Tensor& t) { return t.is_aligned(); };
  if (std::all_of(inputs.begin(), inputs.end(), aligned)) return root_->run(inputs, profile, output_buffers);
  std::vector<Tensor> copies = inputs;  // out of the middle of a file, for example
  for (Tensor& t : copies) {
    if (aligned(t)) continue;
    SV_ASSIGN(t, t.aligned_copy());
  }
  return root_->run(copies, profile, output_buffers);
}

bool Session::is_steady(std::span<const ConstBinding> inputs) const {
  if (!steady_.run || inputs.size() != steady_.inputs.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [type, dims] = steady_.inputs[i];
    if (inputs[i].type != type || !std::ranges::equal(inputs[i].dims, dims)) return false;
    if (reinterpret_cast<uintptr_t>(inputs[i].data) % size_of(type) != 0) return false;
    if (!inputs[i].data && element_count(dims) > 0) return false;  // call() says so
  }
  return true;
}

Status Session::make_steady(const std::vector<Tensor>& inputs) {
  steady_.run = nullptr;
  SV_TRY(check_inputs(inputs));
  if (!std::ranges::all_of(inputs, [](const Tensor& t) { return t.is_aligned(); })) return {};
  SV_ASSIGN(steady_.run, root_->single_run(inputs));
  if (!steady_.run) return {};
  steady_.inputs.clear();
  for (const Tensor& t : inputs) steady_.inputs.emplace_back(t.type(), t.dims());
  steady_.own.clear();
  steady_.own.resize(outputs().size());
  return {};
}

Status Session::call(std::span<const ConstBinding> inputs, std::span<Binding> outputs) {
  if (outputs.size() != this->outputs().size())
    return error("got places for {} outputs, the network has {}", outputs.size(), this->outputs().size());
  if (is_steady(inputs)) return call_steady(inputs, outputs);
  const FloatMode mode(false);
  std::vector<Tensor> tensors;
  for (const ConstBinding& b : inputs) {
    SV_ASSIGN(Tensor tensor, borrowed(b, tensors.size()));
    tensors.push_back(std::move(tensor));
  }
  SV_TRY(make_steady(tensors));
  return steady_.run ? call_steady(inputs, outputs) : call_in_parts(tensors, outputs);
}

Status Session::call_steady(std::span<const ConstBinding> inputs, std::span<Binding> outputs) {
  SV_TRY(check_time_limit());
  TeamRun& run = *steady_.run;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const PlanTensor& made = run.outputs()[o];
    Binding& place = outputs[o];
    if (place.type != DType::undefined) SV_TRY(check_place(place, made));
    if (!place.data) {
      MutableTensor& own = steady_.own[o];
      if (!own.defined()) {
        SV_ASSIGN(own, Tensor::allocate(made.dtype, made.dims));
      }
      place = {made.dtype, made.dims, own.raw()};
    }
    run.bind_output(o, static_cast<std::byte*>(place.data));
  }
  for (size_t i = 0; i < inputs.size(); ++i) run.bind_input(i, static_cast<const std::byte*>(inputs[i].data));
  return run.run(false);
}

Status Session::call_in_parts(const std::vector<Tensor>& inputs, std::span<Binding> outputs) {
  std::vector<MutableTensor> places(outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o)
    if (outputs[o].data)
      places[o] = MutableTensor::wrap(outputs[o].type, Dims(outputs[o].dims.begin(), outputs[o].dims.end()), outputs[o].data, nullptr);
  SV_ASSIGN(steady_.results, run_into(inputs, places));
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Tensor& made = steady_.results[o];
    if (!outputs[o].data) outputs[o] = {made.type(), made.dims(), const_cast<std::byte*>(made.raw())};
  }
  return {};
}

bool Session::owns(const void* data) const {
  const auto is_there = [data](const auto& t) { return t.defined() && t.owner() && static_cast<const void*>(t.raw()) == data; };
  return data && (std::ranges::any_of(steady_.own, is_there) || std::ranges::any_of(steady_.results, is_there));
}

bool Session::refuses(std::span<const ConstBinding> inputs, std::span<const Binding> outputs) const {
  std::vector<Tensor> tensors;
  for (const ConstBinding& b : inputs) {
    Result<Tensor> tensor = borrowed(b, tensors.size());
    if (!tensor.ok()) return true;
    tensors.push_back(std::move(tensor).value());
  }
  if (!check_inputs(tensors).ok() || outputs.size() != this->outputs().size()) return true;
  for (size_t o = 0; steady_.run && o < outputs.size(); ++o)
    if (outputs[o].type != DType::undefined && !check_place(outputs[o], steady_.run->outputs()[o]).ok()) return true;
  return false;
}

Result<int64_t> Session::planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const {
  std::vector<Tensor> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    SV_TRY(check_dims(inputs[i]));
    shapes.push_back(Tensor::wrap(i < this->inputs().size() ? this->inputs()[i].type.dtype : DType::undefined, inputs[i], nullptr, nullptr));
  }
  SV_TRY(check_inputs(shapes));
  return model_->root().planned_bytes(inputs, recompute);
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

CacheReport Session::cache_report() const { return model_->cache_report(); }

std::string Session::page_report() const { return std::string(name_of(root_->page_kind())); }

}  // namespace svengine
