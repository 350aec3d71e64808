// What the functions of svengine.h share: statuses with their words, and tensors in the engine's terms.
#pragma once
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "api/c_handles.h"
#include "api/caller.h"
#include "api/convert.h"
#include "api/guard.h"
#include "svengine/svengine.h"

namespace svengine::c {

/// Keeps the words for svengine_last_error() of this thread, and gives the status back. Allocates nothing.
svengine_status fail(svengine_status status, std::string_view words) noexcept;
/// The same of an error: `status`, unless it is a limit of this engine.
svengine_status fail(svengine_status status, const Error& error) noexcept;
/// svengine_last_error().
const char* last_error() noexcept;

/// f(), whose exceptions become a status.
template <class F>
svengine_status guarded(const F& f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fail(SVENGINE_OUT_OF_MEMORY, "out of memory");
  } catch (...) {
    return fail(SVENGINE_FAILED, message_of_caught());
  }
}

/// A living object, or a failure whose words name the function.
template <class T>
T* living(HandleKind kind, const void* handle, const char* what) noexcept {
  auto* object = static_cast<T*>(object_of(kind, handle));
  if (!object) (void)fail(SVENGINE_INVALID_HANDLE, handle ? std::string_view(what) : std::string_view("the handle is null"));
  return object;
}

inline constexpr const char* kNoNetwork = "the handle is no network: it was freed, or is of another kind";
inline constexpr const char* kNoContext = "the handle is no context: it was freed, or is of another kind";
inline constexpr const char* kNoTrainer = "the handle is no trainer: it was freed, or is of another kind";

/// Refuses what no tensor can be; the engine refuses the rest.
Status layouts_of(const svengine_tensor* tensors, int32_t count, const char* what, std::vector<TensorLayout>& out);
/// What a call has filled in.
void put_back(const std::vector<TensorLayout>& layouts, svengine_tensor* tensors);

/// The caller's struct with the defaults for what its version lacks: `Options` begins with its size.
template <class Options>
Status take_options(const Options* given, Options& out) {
  if (!given) return {};
  if (given->size < sizeof(size_t) || given->size > sizeof(Options) || given->size % alignof(Options) != 0)
    return error("the options say a size of {} bytes; this library's have {}: begin with the function that gives the defaults", given->size,
                 sizeof(Options));
  std::copy_n(reinterpret_cast<const char*>(given), given->size, reinterpret_cast<char*>(&out));
  return {};
}

struct NetworkObject {
  std::shared_ptr<SharedNetwork> shared;
  std::vector<std::vector<const char*>> names;  // of dimensions, inputs first
};

/// A handle of the network in *out.
svengine_status give_network(std::shared_ptr<SharedNetwork> shared, svengine_network** out);
Result<SessionOptions> session_options_of(const svengine_options& options);

}  // namespace svengine::c
