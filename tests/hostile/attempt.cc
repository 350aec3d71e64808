#include "tests/hostile/attempt.h"

#include "engine/graph/expand.h"
#include "engine/ops/registry.h"
#include "runtime/segment.h"

namespace svengine::tests {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 40;  // that are told apart

struct Built {
  Graph graph;
  std::vector<const RelativeInput*> inputs;  // of the graph's inputs
};

Built build(const OpDef& op, const Relative& relative) {
  Built built;
  std::vector<Value*> values;
  for (const RelativeInput& in : relative.inputs) {
    const std::string name = fmt::format("x{}", values.size());
    if (in.absent) {
      values.push_back(nullptr);
    } else if (in.constant && in.value.defined()) {
      values.push_back(built.graph.add_constant(name, in.value));
    } else {
      values.push_back(built.graph.add_input(name, Type{in.dtype, in.declared}));
      built.inputs.push_back(&in);
    }
  }
  Node* node = built.graph.add_node(op, "node", values, static_cast<size_t>(relative.outputs), relative.attributes);
  for (Value* v : node->outputs()) built.graph.add_output(v);
  return built;
}

/// Bytes of dense tensors, or more than kMostBytes.
int64_t bytes_of(DType type, const Dims& dims) {
  if (!check_dims(dims).ok()) return kMostBytes + 1;
  return std::min<int64_t>(element_count(dims), kMostBytes + 1) * static_cast<int64_t>(size_of(type));
}

/// All that a run needs, as far as that is at most kMostBytes.
Result<int64_t> planned_bytes(const Graph& imported, const std::vector<Dims>& dims, const kernels::KernelTable& kernels,
                              std::string& wrong) {
  Graph graph = imported.clone();
  const PassContext context = pass_context(kernels);
  SV_TRY(run_pipeline(graph, context, Stage::load));
  SV_ASSIGN(Graph concrete, specialize(graph, dims, {}, context));
  if (!is_plannable(concrete)) return 0;
  SV_TRY(run_pipeline(concrete, context, Stage::plan));
  WeightStore weights;
  SV_ASSIGN(const std::shared_ptr<const Plan> plan, make_plan(concrete, kernels, weights));
  if (plan->arena_bytes < 0 || plan->scratch_bytes < 0)
    wrong = fmt::format("a plan of {} and {} bytes", plan->arena_bytes, plan->scratch_bytes);
  for (const Step& s : plan->steps)
    if (s.scratch_bytes < 0 || s.grain < 1)
      wrong = fmt::format("step {} with {} bytes of scratch and grain {}", s.kernel, s.scratch_bytes, s.grain);
  int64_t bytes = std::min(plan->arena_bytes, kMostBytes + 1) + std::min(plan->scratch_bytes, kMostBytes + 1);
  for (const PlanTensor& t : plan->inputs) bytes += bytes_of(t.dtype, t.dims);
  for (const PlanTensor& t : plan->outputs) bytes += bytes_of(t.dtype, t.dims);
  return bytes;
}

/// A loop of a billion trips, or without end, is no defect of Loop's, but nothing to wait for.
bool is_endless(const OpDef& op, const Relative& relative) {
  if (op.name != std::string_view("Loop")) return false;
  constexpr int64_t kMostTrips = 1000;
  if (relative.inputs.empty() || relative.inputs[0].absent) return true;
  const Tensor& trips = relative.inputs[0].value;
  return !trips.defined() || trips.type() != DType::i64 || trips.count() != 1 || trips.as_int64s()[0] > kMostTrips;
}

/// What a plan may refuse of a node whose types were inferred and whose parts take its inputs: what is beyond this engine or any, values that are
/// known by chance, results that only elements give, attributes that no file has.
bool may_be_refused_late(const Error& problem) {
  constexpr std::string_view kReasons[] = {"more than 2^48", "more than any machine", "outside", "is no image", "has no", "have no",
                                           "sequence length", "attribute 'captured'"};
  return problem.code() != ErrorCode::invalid_argument ||
         std::ranges::any_of(kReasons, [&](std::string_view reason) { return problem.message().find(reason) != std::string::npos; });
}

/// A check of the model has passed what cannot be planned.
bool is_refused_late(const OpDef& op, const Node& node, const std::vector<const RelativeInput*>& inputs, const Error& problem) {
  if (op.domain == std::string_view(kInternalDomain) || may_be_refused_late(problem)) return false;
  const auto is_known = [](const RelativeInput* in) { return in->declared.is_static() && *in->declared.concrete() == in->dims; };
  return std::ranges::all_of(inputs, is_known) && check_expansion(node, all_ops()).ok();
}

/// Whether a result is what was inferred of it.
std::string disagreement(const Type& inferred, const Tensor& result) {
  const Shape& shape = inferred.shape;
  bool same = inferred.dtype == result.type() && (!shape.has_rank() || shape.dims().size() == result.dims().size());
  for (size_t d = 0; same && shape.has_rank() && d < result.dims().size(); ++d)
    same = !shape[d].is_static() || shape[d].value() == result.dims()[d];
  return same ? ""
              : fmt::format("inferred {}, found {}[{}]", to_string(inferred), name_of(result.type()), to_string(result.dims()));
}

Result<std::vector<Tensor>> run(Graph graph, const std::vector<const RelativeInput*>& given,
                                const kernels::KernelTable& kernels) {
  SessionOptions options;
  options.kernels = &kernels;
  options.topology = parse_topology("1x1").value();
  std::vector<Tensor> inputs;
  for (const RelativeInput* in : given) {
    SV_ASSIGN(Tensor t, tensor_of(*in, inputs.size() + 1));
    inputs.push_back(std::move(t));
  }
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(std::move(graph), options));
  return session->run(inputs);
}

}  // namespace

std::string attempt(const OpDef& op, const Relative& relative, const kernels::KernelTable& kernels, AttemptCount& count,
                    int64_t most_bytes) {
  Built built = build(op, relative);
  std::string wrong;
  const auto refused = [&](const Error& e) {
    ++count.refused;
    return e.message().empty() ? std::string("an error without words") : wrong;
  };
  Node& node = *built.graph.nodes().front();
  if (const Status inferred = infer_types(node); !inferred.ok()) return refused(inferred.error());
  std::vector<Type> types;
  for (const Value* v : node.outputs()) types.push_back(v->type);

  std::vector<Dims> dims;
  int64_t input_bytes = 0;
  for (const RelativeInput* in : built.inputs) {
    if (!check_dims(in->dims).ok()) return refused(check_dims(in->dims).error());
    dims.push_back(in->dims);
    input_bytes = std::min(input_bytes + bytes_of(in->dtype, in->dims), kMostBytes + 1);
  }
  const Result<int64_t> bytes = planned_bytes(built.graph, dims, kernels, wrong);
  if (!bytes.ok() && is_refused_late(op, node, built.inputs, bytes.error()))
    return fmt::format("the node was inferred, but cannot be planned: {}", bytes.error().message());
  if (!bytes.ok()) return refused(bytes.error());
  ++count.planned;
  if (!wrong.empty() || *bytes + input_bytes > most_bytes || is_endless(op, relative)) return wrong;

  const auto results = run(std::move(built.graph), built.inputs, kernels);
  if (!results.ok()) return refused(results.error());
  ++count.run;
  if (results->size() != types.size()) return fmt::format("{} results for {} outputs", results->size(), types.size());
  for (size_t i = 0; i < types.size() && wrong.empty(); ++i) wrong = disagreement(types[i], (*results)[i]);
  return wrong;
}

}  // namespace svengine::tests
