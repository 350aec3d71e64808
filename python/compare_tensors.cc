// svengine.compare_tensors: validate/compare's, on arrays.
#include "validate/compare/compare_tensors.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/bindings.h"
#include "python/convert.h"
#include "python/tensor_in.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

struct PyComparison {
  validate::Comparison result;
  Dims dims;  // of what was expected
};

PyComparison compare_arrays(nb::handle got, nb::handle expected, double rtol, std::optional<double> atol) {
  const Tensor a = tensor_from_array(got, "got"), b = tensor_from_array(expected, "expected");
  const nb::gil_scoped_release other_threads_run;
  return {validate::compare(a, b, {rtol, atol}), b.dims()};
}

std::string summary(const PyComparison& c) {
  const validate::Comparison& r = c.result;
  if (!r.mismatch.empty()) return "<svengine.Comparison: failed, " + r.mismatch + ">";
  return fmt::format("<svengine.Comparison: {}, {} of {} over the tolerance, worst error {:.3g} absolute, {:.3g} relative>",
                     r.passed ? "passed" : "failed", r.over, r.count, r.worst_abs, r.worst_rel);
}

}  // namespace

void bind_compare(nb::module_& module) {
  nb::class_<PyComparison>(module, "Comparison", "What compare_tensors() has found. True where it passed.")
      .def_prop_ro("passed", [](const PyComparison& c) { return c.result.passed; })
      .def_prop_ro("mismatch", [](const PyComparison& c) { return c.result.mismatch; })
      .def_prop_ro("count", [](const PyComparison& c) { return c.result.count; })
      .def_prop_ro("over", [](const PyComparison& c) { return c.result.over; })
      .def_prop_ro("atol", [](const PyComparison& c) { return c.result.atol; })
      .def_prop_ro("worst_abs", [](const PyComparison& c) { return c.result.worst_abs; })
      .def_prop_ro("worst_rel", [](const PyComparison& c) { return c.result.worst_rel; })
      .def_prop_ro("worst_abs_index", [](const PyComparison& c) { return position(c.dims, c.result.worst_abs_index); })
      .def_prop_ro("worst_rel_index", [](const PyComparison& c) { return position(c.dims, c.result.worst_rel_index); })
      .def("__bool__", [](const PyComparison& c) { return c.result.passed; })
      .def("__repr__", summary);
  module.def("compare_tensors", compare_arrays, nb::arg("got"), nb::arg("expected"), nb::kw_only(), nb::arg("rtol") = validate::Tolerance().rtol,
             nb::arg("atol") = nb::none(),
             "Compares an array with what was expected. Within tolerance: |got - expected| <= atol + rtol * |expected|; atol is 1e-5 of the largest "
             "expected value where none is given.");
}

}  // namespace svengine::python
