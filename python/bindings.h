// What the module _engine is made of: one function for each file that binds something.
#pragma once
#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>

#include "engine/base/status.h"

namespace svengine::python {

/// Becomes svengine.Error in Python, with the engine's whole message, or svengine.UnimplementedError where that is a limit of the engine.
struct EngineError : std::runtime_error {
  using std::runtime_error::runtime_error;
  explicit EngineError(const Error& error) : std::runtime_error(error.message()), is_limit(error.is_limit()) {}
  bool is_limit = false;
};

/// The value, or the error as an exception. Callable without the interpreter's lock.
template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) throw EngineError(result.error());
  return std::move(result).value();
}
inline void check(const Status& status) {
  if (!status.ok()) throw EngineError(status.error());
}

void bind_storage(nanobind::module_& module);
void bind_port(nanobind::module_& module);
void bind_session(nanobind::module_& module);
void bind_compare(nanobind::module_& module);
void bind_compare_models(nanobind::module_& module);
void bind_check(nanobind::module_& module);
void bind_diff(nanobind::module_& module);
void bind_convert(nanobind::module_& module);
void bind_quantize(nanobind::module_& module);
void bind_reduce(nanobind::module_& module);
void bind_random_inputs(nanobind::module_& module);
void bind_not_finite(nanobind::module_& module);
void bind_train(nanobind::module_& module);

}  // namespace svengine::python
