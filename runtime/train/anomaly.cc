#include "runtime/train/anomaly.h"

#include <algorithm>
#include <cmath>

namespace svengine {
namespace {

std::string finding(const std::string& what, const Tensor& tensor) {
  const std::span<const float> values = tensor.data<float>();
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  return fmt::format("{} is {} at element {} of [{}]", what, std::isnan(*bad) ? "NaN" : "infinite", bad - values.begin(),
                     to_string(tensor.dims()));
}

}  // namespace

bool is_finite(const Tensor& tensor) {
  if (tensor.type() != DType::f32) return true;
  const std::span<const float> values = tensor.data<float>();
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

Result<std::string> first_not_finite(const Graph& graph, const std::vector<Tensor>& inputs, const SessionOptions& options) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_finite(inputs[i])) return finding(fmt::format("input '{}'", graph.inputs()[i]->name()), inputs[i]);
  Graph copy = graph.clone();
  std::vector<std::string> nodes;
  const size_t first = copy.outputs().size();
  for (const Node* node : copy.snapshot())
    for (Value* v : node->outputs())
      if (v && v->type.dtype == DType::f32) {
        copy.add_output(v);
        nodes.push_back(fmt::format("the result '{}' of {}", v->name(), describe(*node)));
      }
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(std::move(copy), options));
  SV_ASSIGN(const std::vector<Tensor> outputs, session->run(inputs));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!is_finite(outputs[first + i])) return finding(nodes[i], outputs[first + i]);
  return std::string("done again value by value the step is finite: only the fused operators lose it");
}

}  // namespace svengine
