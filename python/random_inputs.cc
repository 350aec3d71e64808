// svengine.random_inputs: validate/inputs', as arrays.
#include "validate/inputs/random_inputs.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_source.h"
#include "python/tensor_out.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

nb::dict random_inputs_of(nb::handle model, const std::map<std::string, int64_t>& dims, uint64_t seed) {
  const ModelSource source(model);
  const Model read = value_of(source.read({}));
  Result<std::vector<Tensor>> made = validate::random_inputs(read.graph, dims, seed);
  if (!made.ok()) throw EngineError(std::move(made).error().in(source.name()));
  const nb::list arrays = outputs_to_python(std::move(made).value());
  nb::dict out;
  for (size_t i = 0; i < read.graph.inputs().size(); ++i) out[text(read.graph.inputs()[i]->name())] = arrays[i];
  return out;
}

}  // namespace

void bind_random_inputs(nb::module_& module) {
  module.def("random_inputs", random_inputs_of, nb::arg("model"), nb::kw_only(), nb::arg("dims") = std::map<std::string, int64_t>(),
             nb::arg("seed") = 1,
             "Inputs for a model (path, bytes, onnx.ModelProto) as `svengine run` makes them: a dict of arrays by name. `dims` are sizes of symbolic "
             "dimensions, 1 where none is given.");
}

}  // namespace svengine::python
