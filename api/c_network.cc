// svengine.h: networks.
#include <cstring>

#include "api/c_support.h"
#include "api/convert.h"
#include "importers/onnx/import.h"
#include "runtime/float_mode.h"

using namespace svengine;
using namespace svengine::c;

namespace {

template <class Import>
svengine_status load(const svengine_options* given, svengine_network** out, const Import& import) {
  if (!out) return fail(SVENGINE_INVALID_ARGUMENT, "there is no place for the handle (null pointer)");
  *out = nullptr;
  return guarded([&] {
    const FloatMode mode(false);
    svengine_options options = svengine_options_default();
    if (Status taken = take_options(given, options); !taken.ok()) return fail(SVENGINE_INVALID_ARGUMENT, taken.error().message());
    const Result<SessionOptions> session = session_options_of(options);
    if (!session.ok()) return fail(SVENGINE_INVALID_ARGUMENT, session.error().message());
    Result<std::shared_ptr<SharedNetwork>> shared = import(*session, options.convert != 0);
    if (!shared.ok()) return fail(SVENGINE_INVALID_MODEL, shared.error());
    return give_network(std::move(shared).value(), out);
  });
}

svengine_status describe(const svengine_network* handle, bool output, int32_t index, svengine_port* port) {
  const auto* network = living<NetworkObject>(HandleKind::network, handle, kNoNetwork);
  if (!network) return SVENGINE_INVALID_HANDLE;
  const std::vector<TensorInfo>& inputs = network->shared->inputs();
  const std::vector<TensorInfo>& ports = output ? network->shared->outputs() : inputs;
  if (!port) return fail(SVENGINE_INVALID_ARGUMENT, "there is no place for the description (null pointer)");
  if (index < 0 || static_cast<size_t>(index) >= ports.size())
    return guarded([&] {
      return fail(SVENGINE_INVALID_ARGUMENT, fmt::format("there is no {} {}; the network has {}", output ? "output" : "input", index, ports.size()));
    });
  const auto i = static_cast<size_t>(index);
  const TensorInfo& info = ports[i];
  *port = {info.name.c_str(), static_cast<svengine_type>(info.type), info.has_rank ? static_cast<int32_t>(info.shape.size()) : -1, info.shape.data(),
           network->names[output ? inputs.size() + i : i].data()};
  return SVENGINE_OK;
}

}  // namespace

extern "C" {

const char* svengine_version(void) { return version(); }
int32_t svengine_abi(void) { return SVENGINE_ABI; }
const char* svengine_last_error(void) { return last_error(); }

svengine_status svengine_network_load(const char* path, const svengine_options* options, svengine_network** network) {
  if (!path) {
    if (network) *network = nullptr;
    return fail(SVENGINE_INVALID_ARGUMENT, "there is no path (null pointer)");
  }
  return load(options, network, [&](const SessionOptions& session, bool convert) -> Result<std::shared_ptr<SharedNetwork>> {
    SV_ASSIGN(Model model, import_onnx(path));
    Result<std::shared_ptr<SharedNetwork>> shared = SharedNetwork::open(std::move(model.graph), session, convert);
    if (!shared.ok()) return std::move(shared).error().in(path);
    return shared;
  });
}

svengine_status svengine_network_load_memory(const void* bytes, size_t count, const svengine_options* options, svengine_network** network) {
  if (!bytes) {
    if (network) *network = nullptr;
    return fail(SVENGINE_INVALID_ARGUMENT, "there are no bytes (null pointer)");
  }
  return load(options, network, [&](const SessionOptions& session, bool convert) -> Result<std::shared_ptr<SharedNetwork>> {
    SV_ASSIGN(Model model, import_copy({static_cast<const std::byte*>(bytes), count}));
    return SharedNetwork::open(std::move(model.graph), session, convert);
  });
}

svengine_status svengine_network_free(svengine_network* network) {
  if (!network) return SVENGINE_OK;
  auto* object = static_cast<NetworkObject*>(release_handle(HandleKind::network, network));
  if (!object) return fail(SVENGINE_INVALID_HANDLE, kNoNetwork);
  delete object;
  return SVENGINE_OK;
}

svengine_status svengine_network_counts(const svengine_network* handle, int32_t* inputs, int32_t* outputs) {
  const auto* network = living<NetworkObject>(HandleKind::network, handle, kNoNetwork);
  if (!network) return SVENGINE_INVALID_HANDLE;
  if (inputs) *inputs = static_cast<int32_t>(network->shared->inputs().size());
  if (outputs) *outputs = static_cast<int32_t>(network->shared->outputs().size());
  return SVENGINE_OK;
}

svengine_status svengine_network_input(const svengine_network* network, int32_t index, svengine_port* port) {
  return describe(network, false, index, port);
}
svengine_status svengine_network_output(const svengine_network* network, int32_t index, svengine_port* port) {
  return describe(network, true, index, port);
}

}  // extern "C"
