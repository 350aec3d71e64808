#include "validate/compare/lockstep.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/bodies.h"
#include "importers/io/names.h"
#include "validate/compare/compare_tensors.h"
#include "validate/compare/element.h"
#include "validate/compare/rounding_within.h"
#include "validate/compare/spanned_nodes.h"

namespace svengine::validate {
namespace {

bool are_numbers(const Tensor& a, const Tensor& b) { return !is_handle(a.type()) && !is_handle(b.type()); }

constexpr double kFine = 2e-4;  // what precision explains of float32: 1e-5 and less, but for very long sums

/// Runs with disturbed numbers; what moves a value half as far as its error goes explains it.
constexpr uint64_t kDisturbedRuns = 2;
constexpr double kAsFar = 2;

bool moves_as_far(const Difference& move, const Difference& difference, DType type) {
  if (!move.mismatch.empty()) return false;
  return is_float(type) ? kAsFar * move.worst >= difference.worst : move.over >= difference.over;
}

bool are_finite(const std::vector<Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const Tensor& t) {
    const Statistics s = t.defined() ? statistics_of(t) : Statistics();
    return s.nans + s.infinities == 0;
  });
}

bool same_storage(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(
      a, b, [](const Tensor& x, const Tensor& y) { return x.raw() == y.raw() && x.type() == y.type() && x.dims() == y.dims(); });
}

}  // namespace

Lockstep::Lockstep(const Graph& model, const TestedGraph& tested, Reference& reference, const CompareOptions& options)
    : model_(model), tested_(tested), reference_(reference), options_(options) {
  model.for_each_value([&](Value& v) { in_file_[v.name()] = &v; });
  tested.graph().for_each_value([&](Value& v) { readers_[&v] = v.users().size() + (tested.graph().is_output(&v) ? 1 : 0); });
}

NodeName Lockstep::name_of_node(const Node& node) const { return {printable(node.name()), printable(node.op().name)}; }

void Lockstep::announce() {
  nodes_ = spanned_nodes(model_, tested_, reference_);
  for (size_t number = 0; number < nodes_.size(); ++number) {
    const Step& step = tested_.steps()[number];
    std::unordered_set<std::string> names(step.inputs.begin(), step.inputs.end());
    names.insert(step.outputs.begin(), step.outputs.end());
    for (const Node* node : nodes_[number]) {
      for (const Value* v : node->inputs())
        if (v && !v->is_constant()) names.insert(v->name());
      for (const Value* v : node->outputs()) names.insert(v->name());
    }
    std::erase_if(names, [&](const std::string& name) { return name.empty() || !reference_.has(name); });
    for (const std::string& name : names) reference_.expect(name);
    needed_.push_back(std::move(names));
  }
  for (const Value* v : model_.outputs()) reference_.expect(v->name());
}

Result<CompareReport> Lockstep::run(const std::vector<Tensor>& inputs) {
  announce();
  report_.steps = tested_.steps().size();
  for (size_t i = 0; i < inputs.size(); ++i) accumulated_[tested_.graph().inputs()[i]] = inputs[i];
  for (size_t i = 0; i < tested_.steps().size(); ++i) SV_TRY(do_step(i));
  SV_TRY(compare_outputs(inputs));
  if (report_.values.empty() && std::ranges::none_of(report_.outputs, &ComparedOutput::compared))
    return error("nothing is compared: the reference has none of the values that the model computes");
  return std::move(report_);
}

Status Lockstep::do_step(size_t number) {
  const Step& step = tested_.steps()[number];
  SV_ASSIGN(Outcome outcome, run_step(step));
  for (size_t i = 0; i < step.outputs.size(); ++i) {
    const Value* v = step.node->output(i);
    if (!step.outputs[i].empty() && reference_.has(step.outputs[i])) {
      const size_t at = report_.values.size();
      SV_TRY(compare_output(number, i, outcome));
      if (report_.values[at].guilty && !report_.first) SV_TRY(look_closely(number, at));
    } else {
      report_.without_reference += !step.outputs[i].empty();
      if (outcome.has_local && outcome.problem.empty() && readers_[v] > 0) local_[v] = outcome.local[i];
    }
    if (readers_[v] > 0) accumulated_[v] = std::move(outcome.accumulated[i]);
  }
  for (const Value* v : step.node->inputs())
    if (v && --readers_[v] == 0) {
      accumulated_.erase(v);
      local_.erase(v);
    }
  for (const std::string& name : needed_[number]) reference_.release(name);
  return {};
}

Result<Lockstep::Outcome> Lockstep::run_step(const Step& step) {
  const Node& node = *step.node;
  std::vector<Tensor> own(node.inputs().size());
  for (size_t i = 0; i < own.size(); ++i)
    if (const Value* v = node.input(i); v && !v->is_constant()) own[i] = accumulated_.at(v);
  Outcome out;
  SV_ASSIGN(LoneNode alone, LoneNode::create(node, own, options_.tested));
  out.length = alone.reduction_length();
  SV_ASSIGN(out.accumulated, alone.run(own));
  SV_ASSIGN(std::optional<std::vector<Tensor>> given, inputs_of_reference(step, own));
  out.has_local = given.has_value();
  if (given) {
    out.local_inputs = std::move(*given);
    if (same_storage(out.local_inputs, own)) {
      out.local = out.accumulated;
    } else {
      const auto run_local = [&]() -> Result<std::vector<Tensor>> {
        if (alone.fits(out.local_inputs)) return alone.run(out.local_inputs);
        SV_ASSIGN(LoneNode other, LoneNode::create(node, out.local_inputs, options_.tested));
        return other.run(out.local_inputs);
      };
      Result<std::vector<Tensor>> local = run_local();
      if (local.ok())
        out.local = std::move(local).value();
      else
        out.problem = local.error().message();
    }
  }
  release_constants(node);
  return out;
}

Result<std::optional<std::vector<Tensor>>> Lockstep::inputs_of_reference(const Step& step, const std::vector<Tensor>& own) {
  std::vector<Tensor> out(own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    const Value* v = step.node->input(i);
    if (!v || v->is_constant()) continue;
    if (step.inputs[i].empty() || !reference_.has(step.inputs[i])) {
      const auto made = local_.find(v);
      if (made == local_.end() && !v->is_input()) return std::optional<std::vector<Tensor>>();
      out[i] = v->is_input() ? own[i] : made->second;
      continue;
    }
    SV_ASSIGN(out[i], reference_.value(step.inputs[i]));
    if (out[i].type() == own[i].type()) continue;
    if (!are_numbers(out[i], own[i])) return std::optional<std::vector<Tensor>>();
    SV_ASSIGN(out[i], convert(out[i], own[i].type(), options_.tested));
  }
  return std::optional(std::move(out));
}

Bound Lockstep::local_bound(const Precision& precision, DType expected, double largest) const {
  if (is_float(expected) && (options_.rtol || options_.atol)) return {options_.rtol.value_or(0), options_.atol.value_or(0)};
  return bound_for(precision, expected, largest);
}

Bound Lockstep::accumulated_bound(DType expected, double largest) const {
  if (!is_float(expected)) return {};
  if (options_.rtol || options_.atol) return {options_.rtol.value_or(0), options_.atol.value_or(0)};
  return {Tolerance().rtol, largest > 0 ? std::max(kAtolOfLargest, kCoarse * coarse_) * largest : kAtolOfZeros};
}

Result<Tensor> Lockstep::as_in_file(const std::string& name, const Tensor& tensor) const {
  const DType type = in_file_.at(name)->type.dtype;
  if (type == tensor.type() || !is_float(type) || !is_float(tensor.type())) return tensor;
  return convert(tensor, type, options_.tested);
}

Result<Tensor> Lockstep::value_of_reference(const Value& v, const SessionOptions& how) {
  if (!reference_.has(v.name())) return Tensor();
  SV_ASSIGN(Tensor value, reference_.value(v.name()));
  return value.type() == v.type.dtype || is_handle(value.type()) ? std::move(value) : convert(value, v.type.dtype, how);
}

Status Lockstep::compare_output(size_t number, size_t output, Outcome& outcome) {
  const Step& step = tested_.steps()[number];
  ComparedValue row;
  const std::string& name = step.outputs[output];
  row.value = printable(name);
  if (const Value* v = in_file_.at(name); v->producer()) row.node = name_of_node(*v->producer());
  for (const Node* node : step.nodes) row.fused.push_back(name_of_node(*node));
  row.kernels = step.node->op().name;
  SV_ASSIGN(const Tensor expected, reference_.value(name));
  const double largest = largest_of(expected);
  SV_ASSIGN(const Tensor accumulated, as_in_file(name, outcome.accumulated[output]));
  row.accumulated = difference_of(accumulated, expected, accumulated_bound(expected.type(), largest), largest);
  row.has_local = outcome.has_local;
  row.problem = outcome.problem;
  row.guilty = !outcome.problem.empty();
  if (outcome.has_local && outcome.problem.empty()) {
    SV_ASSIGN(const Tensor got, as_in_file(name, outcome.local[output]));
    const Precision precision = precision_of(nodes_[number], outcome.length, got.type(), expected.type());
    row.explained = precision.relative;
    row.local = difference_of(got, expected, local_bound(precision, expected.type(), largest), largest);
    if (precision.quantises && !is_float(expected.type()) && row.local.largest > 0)
      coarse_ = std::max(coarse_, 1 / row.local.largest);
    if (precision.relative > kFine) coarse_ = std::max(coarse_, precision.relative);
    if (!row.local.passed()) {
      SV_ASSIGN(Explanation why, explanation_of(*step.node, options_.tested, output, outcome.local_inputs, outcome.local[output], row.local,
                                                precision.relative));
      if (why == Explanation::none) {
        SV_ASSIGN(const bool within, is_rounding_within(nodes_[number], name, expected, row.local));
        if (within) why = Explanation::condition;
      }
      row.by_condition = why == Explanation::condition;
      row.random = why == Explanation::random;
      row.guilty = why == Explanation::none;
      // Both sides go on with the same numbers.
      if (row.random && expected.type() == outcome.local[output].type()) outcome.accumulated[output] = expected;
    }
  }
  report_.guilty += row.guilty;
  report_.values.push_back(std::move(row));
  return {};
}

Result<Lockstep::Explanation> Lockstep::explanation_of(const Node& node, const SessionOptions& how, size_t output,
                                                       const std::vector<Tensor>& inputs, const Tensor& got,
                                                       const Difference& difference, double relative) {
  if (!difference.mismatch.empty()) return Explanation::none;
  const auto run = [&](const std::vector<Tensor>& given) -> Result<Difference> {
    SV_ASSIGN(LoneNode alone, LoneNode::create(node, given, how));
    SV_ASSIGN(const std::vector<Tensor> outputs, alone.run(given));
    return difference_of(outputs[output], got, {});
  };
  SV_ASSIGN(const Difference again, run(inputs));
  if (!again.equal()) return Explanation::random;
  if (options_.rtol || options_.atol || !std::isfinite(difference.worst)) return Explanation::none;
  for (uint64_t seed = 0; seed < kDisturbedRuns; ++seed) {
    SV_ASSIGN(const std::vector<Tensor> moved_inputs, disturbed(inputs, relative, seed));
    SV_ASSIGN(const Difference move, run(moved_inputs));
    if (moves_as_far(move, difference, got.type())) return Explanation::condition;
  }
  return Explanation::none;
}

Result<bool> Lockstep::is_rounding_within(const std::vector<const Node*>& nodes, const std::string& output, const Tensor& expected,
                                          const Difference& difference) {
  const bool has_within = nodes.size() > 1 || std::ranges::any_of(nodes, [](const Node* node) { return has_body(*node); });
  if (!has_within || !difference.mismatch.empty()) return false;
  if (options_.rtol || options_.atol || !std::isfinite(difference.worst)) return false;
  SessionOptions plain = options_.tested;
  plain.optimize = false;
  const ReadValue read = [&](const Value& v) { return value_of_reference(v, plain); };
  const Value& value = *in_file_.at(output);
  SV_ASSIGN(const std::optional<Tensor> unmoved, rounded_within(nodes, value, read, plain, std::nullopt));  // a fault of the file's is in both
  for (uint64_t seed = 0; unmoved && seed < kDisturbedRuns; ++seed) {
    SV_ASSIGN(const std::optional<Tensor> moved, rounded_within(nodes, value, read, plain, seed));
    const Difference move = difference_of(*moved, *unmoved, {});
    if (moves_as_far(move, difference, expected.type())) return true;
  }
  return false;
}

Status Lockstep::look_closely(size_t step, size_t at) {
  const ComparedValue& row = report_.values[at];
  const std::vector<const Node*>& nodes = nodes_[step];
  Guilt guilt{at, std::nullopt, row.value, row.local, {}, {}};
  if (!row.problem.empty()) guilt.problem = "cannot be computed: " + row.problem;
  if (nodes.size() == 1) guilt.node = name_of_node(*nodes[0]);
  if (nodes.size() > 1) {
    Values made;
    for (const Node* node : nodes) {
      SV_ASSIGN(const bool found, look_at_node(*node, made, guilt));
      if (found) break;
      if (std::ranges::none_of(node->outputs(), [&](const Value* v) { return reference_.has(v->name()); }))
        guilt.between.push_back(name_of_node(*node));
      else
        guilt.between.clear();
    }
  }
  report_.first = std::move(guilt);
  return {};
}

Result<bool> Lockstep::look_at_node(const Node& node, Values& made, Guilt& guilt) {
  SessionOptions plain = options_.tested;
  plain.optimize = false;
  std::vector<Tensor> inputs(node.inputs().size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* v = node.input(i);
    if (!v || v->is_constant()) continue;
    SV_ASSIGN(inputs[i], value_of_reference(*v, plain));
    if (inputs[i].defined()) continue;
    if (!made.count(v)) return false;
    inputs[i] = made.at(v);
  }
  Result<LoneNode> alone = LoneNode::create(node, inputs, plain);
  Result<std::vector<Tensor>> outputs = alone.ok() ? alone->run(inputs) : Result<std::vector<Tensor>>(Error(alone.error()));
  if (!outputs.ok()) {
    guilt.node = name_of_node(node);
    guilt.problem = "cannot be computed: " + outputs.error().message();
    return true;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Value* v = node.output(i);
    const Tensor& got = made[v] = (*outputs)[i];
    if (!reference_.has(v->name())) {
      const Statistics s = statistics_of(got);
      if (s.nans + s.infinities == 0 || !are_finite(inputs)) continue;
      guilt.node = name_of_node(node);
      guilt.value = printable(v->name());
      guilt.problem = fmt::format("makes {} NaN and {} infinities of numbers that are finite", s.nans, s.infinities);
      return true;
    }
    SV_ASSIGN(const Tensor expected, reference_.value(v->name()));
    const Precision precision = precision_of({&node}, alone->reduction_length(), got.type(), expected.type());
    Difference difference = difference_of(got, expected, local_bound(precision, expected.type(), largest_of(expected)));
    if (difference.passed()) continue;
    SV_ASSIGN(const Explanation why, explanation_of(node, plain, i, inputs, got, difference, precision.relative));
    if (why != Explanation::none) continue;
    guilt.node = name_of_node(node);
    guilt.value = printable(v->name());
    guilt.difference = std::move(difference);
    guilt.problem.clear();
    return true;
  }
  return false;
}

Result<std::vector<Tensor>> Lockstep::run_whole(const std::vector<Tensor>& inputs) const {
  const bool is_random = std::ranges::any_of(report_.values, &ComparedValue::random);
  if (!options_.whole || is_random) return std::vector<Tensor>();
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(model_.clone(), options_.tested));
  return session->run(inputs);
}

Status Lockstep::compare_outputs(const std::vector<Tensor>& inputs) {
  const Graph& graph = tested_.graph();
  SV_ASSIGN(const std::vector<Tensor> whole, run_whole(inputs));
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const Value* v = graph.outputs()[i];
    const std::string& name = model_.outputs()[i]->name();
    Tensor got = v->is_constant() ? v->constant() : v->is_input() ? Tensor() : accumulated_.at(v);
    for (size_t k = 0; k < inputs.size(); ++k)
      if (graph.inputs()[k] == v) got = inputs[k];
    ComparedOutput row{printable(name), {}, reference_.has(name), {}};
    Tensor expected = got;
    if (row.compared) {
      SV_ASSIGN(expected, reference_.value(name));
      row.accumulated = difference_of(got, expected, accumulated_bound(expected.type(), largest_of(expected)));
      reference_.release(name);
    }
    if (!whole.empty()) row.whole = difference_of(whole[i], expected, accumulated_bound(expected.type(), largest_of(expected)));
    report_.outputs.push_back(std::move(row));
  }
  return {};
}

bool CompareReport::steps_passed() const {
  const auto good = [](const ComparedOutput& o) { return !o.compared || o.accumulated.passed(); };
  return guilty == 0 && std::all_of(outputs.begin(), outputs.end(), good);
}

bool CompareReport::passed() const {
  return steps_passed() && std::ranges::all_of(outputs, [](const ComparedOutput& o) { return !o.whole || o.whole->passed(); });
}

Result<CompareReport> compare_with(const Graph& model, const std::vector<Tensor>& inputs, Reference& reference,
                                   const CompareOptions& options) {
  CompareOptions own = options;
  SV_TRY(choose_kernels(own.tested));
  if (own.tested.topology.groups.empty()) own.tested.topology = detect_topology(0);
  own.tested.memory = keep_run_memory();
  SV_ASSIGN(const TestedGraph tested, TestedGraph::create(model, inputs, own.tested));
  return Lockstep(model, tested, reference, own).run(inputs);
}

}  // namespace svengine::validate
