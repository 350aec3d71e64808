#include "runtime/plugin.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <cfenv>
#include <memory>
#include <mutex>
#include <set>

#include "engine/ops/custom_operator.h"

namespace svengine {
namespace {

constexpr size_t kMostOperators = 4096, kLargestOperator = 4096;

struct Unload {
  void operator()(void* library) const { dlclose(library); }
};

/// GCC's -ffast-math links an initialiser that flushes subnormal numbers in the thread that loads the library.
void* open_keeping_mode(const std::string& path) {
  std::fenv_t mode;
  std::fegetenv(&mode);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::fesetenv(&mode);
  return library;
}

Status register_operators_of(void* library) {
  const auto* table = static_cast<const svengine_plugin*>(dlsym(library, "svengine_plugin_table"));
  if (!table) return error("has no svengine_plugin_table; a plug-in says SVENGINE_PLUGIN(operators), see svengine/operators.h");
  if (table->abi != SVENGINE_OPERATOR_ABI)
    return error("was built for version {} of svengine/operators.h, and this is version {}: compile it again", table->abi, SVENGINE_OPERATOR_ABI);
  if (table->operator_size < sizeof(size_t) || table->operator_size > kLargestOperator || table->operator_size % alignof(svengine_operator) ||
      table->count > kMostOperators || (table->count && !table->operators))
    return error("its svengine_plugin_table says {} operators of {} bytes, which cannot be", table->count, table->operator_size);
  return register_custom_operators(table->operators, table->count, table->operator_size);
}

}  // namespace

bool can_load_plugins() { return getauxval(AT_BASE) != 0; }  // where the dynamic loader is

Status load_plugin(const std::string& path) {
  const auto failed = [&](Error e) { return std::move(e).in(fmt::format("plug-in '{}'", path)); };
  if (!can_load_plugins())
    return failed(Error("this program is one static file, which cannot load shared libraries; svengine-dynamic can, which is built beside it"));
  static std::mutex mutex;
  static std::set<void*> loaded;
  const std::lock_guard lock(mutex);
  // A name without a folder would be looked for in the system's.
  std::unique_ptr<void, Unload> library(open_keeping_mode(path.find('/') == std::string::npos ? "./" + path : path));
  if (!library) return failed(Error(dlerror()));
  if (loaded.count(library.get())) return {};
  if (Status status = register_operators_of(library.get()); !status.ok()) return failed(std::move(status).error());
  loaded.insert(library.release());  // its code stays
  return {};
}

}  // namespace svengine
