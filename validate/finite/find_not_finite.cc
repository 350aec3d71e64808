#include "validate/finite/find_not_finite.h"

#include <algorithm>
#include <cmath>

#include "importers/io/names.h"
#include "validate/compare/reference.h"

namespace svengine::validate {
namespace {

CheckedValue check_value(const Value& value, const Tensor& tensor) {
  return {printable(value.name()), type_text(tensor), statistics_of(tensor), value.is_constant()};
}

bool is_finite(const Tensor& tensor) {
  if (!is_float(tensor.type())) return true;
  if (tensor.type() == DType::f32 && tensor.is_aligned())
    return std::ranges::all_of(tensor.data<float>(), [](float x) { return std::isfinite(x); });
  const Statistics s = statistics_of(tensor);
  return s.nans + s.infinities == 0;
}

std::vector<CheckedValue> inputs_of_node(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<CheckedValue> out;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (!v) continue;
    const Tensor& tensor = v->is_constant() ? v->constant() : inputs[i];
    if (tensor.defined() && !is_handle(tensor.type())) out.push_back(check_value(*v, tensor));
  }
  return out;
}

}  // namespace

Result<FiniteReport> find_not_finite(Graph graph, const std::vector<Tensor>& inputs, const SessionOptions& options) {
  FiniteReport report;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_finite(inputs[i])) report.inputs.push_back(check_value(*graph.inputs()[i], inputs[i]));
  const auto look = [&](const Node& node, const std::vector<Tensor>& given, const std::vector<Tensor>& made) -> Status {
    for (size_t i = 0; i < made.size(); ++i) {
      if (!is_float(made[i].type())) continue;
      ++report.checked;
      if (is_finite(made[i])) continue;
      ++report.not_finite;
      if (report.first.size() >= FiniteReport::kMostFindings) continue;
      NotFinite found{printable(node.name()), printable(node.op().name), check_value(*node.output(i), made[i]),
                      inputs_of_node(node, given)};
      found.from_finite = std::ranges::all_of(found.inputs, &CheckedValue::finite);
      report.first.push_back(std::move(found));
    }
    return {};
  };
  SessionOptions own = options;
  SV_TRY(choose_kernels(own));
  if (own.topology.groups.empty()) own.topology = detect_topology(0);
  NodeByNode run(std::move(graph), inputs, own, nullptr, look);
  SV_TRY(run.finish());
  return report;
}

}  // namespace svengine::validate
