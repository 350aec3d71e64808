#include "python/model_inputs.h"

#include "python/bindings.h"
#include "python/convert.h"
#include "python/tensor_in.h"

namespace nb = nanobind;

namespace svengine::python {

std::vector<Tensor> model_inputs(const Graph& graph, nb::handle given, const std::string& name) {
  const bool is_dict = PyDict_Check(given.ptr());
  const nb::dict by_name = is_dict ? nb::borrow<nb::dict>(given) : nb::dict();
  const nb::list in_order = is_dict ? nb::list() : nb::list(nb::borrow(given));
  const size_t count = is_dict ? nb::len(by_name) : nb::len(in_order);
  if (count != graph.inputs().size()) throw EngineError(fmt::format("{}: got {} inputs, the model has {}", name, count, graph.inputs().size()));
  std::vector<Tensor> out;
  for (const Value* v : graph.inputs()) {
    const nb::object key = text(v->name());
    if (is_dict && !by_name.contains(key)) throw EngineError(fmt::format("{}: input '{}' is missing", name, v->name()));
    const nb::object value = is_dict ? nb::object(by_name[key]) : nb::object(in_order[out.size()]);
    out.push_back(tensor_from_python(value, v->type, fmt::format("{}: input '{}'", name, v->name())));
  }
  return out;
}

}  // namespace svengine::python
