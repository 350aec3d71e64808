// svengine/operators.h: operators of programs and plug-ins.
#include "svengine/operators.h"

#include "api/c_support.h"
#include "engine/ops/custom_operator.h"
#include "runtime/plugin.h"

using namespace svengine;
using namespace svengine::c;

extern "C" {

svengine_status svengine_register_operators(const svengine_operator* operators, size_t count) {
  if (!operators) return fail(SVENGINE_INVALID_ARGUMENT, "there are no operators (null pointer)");
  return guarded([&] {
    // All have the first one's size: they are an array of the caller's.
    const Status status = register_custom_operators(operators, count, operators->size);
    return status.ok() ? SVENGINE_OK : fail(SVENGINE_INVALID_ARGUMENT, status.error().message());
  });
}

svengine_status svengine_load_plugin(const char* path) {
  if (!path) return fail(SVENGINE_INVALID_ARGUMENT, "there is no path (null pointer)");
  return guarded([&] {
    const Status status = load_plugin(path);
    return status.ok() ? SVENGINE_OK : fail(SVENGINE_INVALID_ARGUMENT, status.error().message());
  });
}

}  // extern "C"
