// The module svengine._engine, which svengine/__init__.py makes a package of.
#include "engine/kernels/kernel_table.h"
#include "python/bindings.h"

namespace nb = nanobind;

NB_MODULE(_engine, module) {
  using namespace svengine;
  nb::exception<python::EngineError>(module, "Error", PyExc_RuntimeError)
      .attr("__doc__") = "What the engine says of a model, a file, an input or an option that it cannot take.";
  module.attr("__version__") = SVENGINE_VERSION;
  module.def(
      "kernel_sets",
      [] {
        nb::list names;
        for (const kernels::KernelTable* set : kernels::available_kernel_sets()) names.append(set->name);
        return nb::tuple(names);
      },
      "The kernel sets that this processor can run, the best one first.");
  python::bind_storage(module);
  python::bind_port(module);
  python::bind_session(module);
  python::bind_compare(module);
  python::bind_train(module);
}
