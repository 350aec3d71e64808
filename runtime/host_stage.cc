#include "runtime/host_stage.h"

#include <chrono>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "engine/graph/evaluate_context.h"

namespace svengine {
namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

class StageContext final : public EvaluateContext {
 public:
  StageContext(const Node& node, std::vector<Tensor> inputs, const HostStage::RunBody& run_body)
      : EvaluateContext(node, std::move(inputs)), run_body_(run_body) {}

  Result<std::vector<Tensor>> run_body(std::string_view name, std::vector<Tensor> inputs) override {
    const Subgraph* body = attributes().get<Subgraph>(name);
    if (!body) return error("has no body '{}'", name);
    SV_TRY(check_body_inputs(**body, name, inputs));
    const Clock::time_point start = Clock::now();
    Result<std::vector<Tensor>> outputs = run_body_(*body, std::move(inputs));
    nanoseconds_ += nanoseconds_since(start);
    if (!outputs.ok()) return std::move(outputs).error().in(name);
    return outputs;
  }

  int64_t nanoseconds_in_bodies() const { return nanoseconds_; }

 private:
  const HostStage::RunBody& run_body_;
  int64_t nanoseconds_ = 0;
};

}  // namespace

Result<HostStage> HostStage::create(Graph graph) {
  HostStage stage;
  std::unordered_map<const Value*, int> slots;
  const auto slot_of = [&](const Value* v) -> int {
    if (!v) return -1;
    const auto [it, fresh] = slots.emplace(v, static_cast<int>(stage.values_.size()));
    if (fresh) stage.values_.push_back(v->is_constant() ? v->constant() : Tensor());
    return it->second;
  };
  for (const Value* v : graph.inputs()) stage.inputs_.push_back(slot_of(v));
  for (const auto& node : graph.nodes()) {
    Call call{node.get(), {}, {}};
    for (const Value* v : node->inputs()) call.inputs.push_back({slot_of(v), false});
    for (const Value* v : node->outputs()) call.outputs.push_back(slot_of(v));
    stage.calls_.push_back(std::move(call));
  }
  for (const Value* v : graph.outputs()) stage.outputs_.push_back(slot_of(v));
  std::unordered_set<int> read_later(stage.outputs_.begin(), stage.outputs_.end());
  for (size_t slot = 0; slot < stage.values_.size(); ++slot) {
    Tensor& constant = stage.values_[slot];
    if (constant.defined()) read_later.insert(static_cast<int>(slot));  // by the next run
    if (constant.defined() && !constant.is_aligned()) {
      SV_ASSIGN(constant, constant.aligned_copy());
    }
  }
  for (auto call = stage.calls_.rbegin(); call != stage.calls_.rend(); ++call)
    for (auto read = call->inputs.rbegin(); read != call->inputs.rend(); ++read) read->last_use = read_later.insert(read->slot).second;
  stage.graph_ = std::move(graph);
  return stage;
}

Result<std::vector<Tensor>> HostStage::run(std::vector<Tensor> inputs, const RunBody& run_body, std::vector<int64_t>* times) const {
  if (times) times->resize(calls_.size());
  std::vector<Tensor> values = values_;
  for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(inputs_[i])] = std::move(inputs[i]);
  for (size_t c = 0; c < calls_.size(); ++c) {
    const Call& call = calls_[c];
    std::vector<Tensor> arguments;
    for (const Read& read : call.inputs) {
      if (read.slot < 0) {
        arguments.emplace_back();
        continue;
      }
      Tensor& value = values[static_cast<size_t>(read.slot)];
      arguments.push_back(read.last_use ? std::exchange(value, Tensor()) : value);
    }
    StageContext context(*call.node, std::move(arguments), run_body);
    const Clock::time_point start = Clock::now();
    SV_ASSIGN(std::vector<Tensor> results, evaluate_on_host(context));
    if (times) (*times)[c] += nanoseconds_since(start) - context.nanoseconds_in_bodies();
    for (size_t i = 0; i < results.size(); ++i)
      if (call.outputs[i] >= 0) values[static_cast<size_t>(call.outputs[i])] = std::move(results[i]);
  }
  std::vector<Tensor> outputs;
  for (const int slot : outputs_) outputs.push_back(values[static_cast<size_t>(slot)]);
  return outputs;
}

void HostStage::collect_profile(const std::vector<int64_t>& times, std::vector<ProfileRow>& rows) const {
  for (size_t c = 0; c < calls_.size(); ++c) {
    const Node& node = *calls_[c].node;
    rows.push_back({node.name(), node.op().name, "evaluate", 1, c < times.size() ? times[c] : 0, cost_of(node)});
  }
}

}  // namespace svengine
