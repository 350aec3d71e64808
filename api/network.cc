#include "api/convert.h"
#include "api/guard.h"
#include "api/network_impl.h"
#include "importers/onnx/import.h"
#include "runtime/weight_cache.h"

namespace svengine {
namespace {

const std::vector<TensorInfo> kNothing;
const std::string kNoProblem;

}  // namespace

Status Network::Impl::open(Graph graph, const NetworkOptions& options) {
  SV_ASSIGN(SessionOptions session_options, svengine::session_options(options));
  SV_ASSIGN(shared, SharedNetwork::open(std::move(graph), session_options, options.convert));
  caller = std::make_unique<Caller>(shared, SessionContext{session_options.topology, session_options.flush_denormals});
  return caller->open();
}

Status Network::Impl::run(const std::vector<TensorView>& views, std::vector<TensorView>& out) {
  if (!caller) return svengine::error("the network is not loaded");
  SV_TRY(layouts_of(views, "input", inputs));
  results.assign(shared->outputs().size(), TensorLayout());
  SV_TRY(caller->run(inputs, results));
  for (const TensorLayout& t : results) out.push_back({to_element_type(t.type), {t.dims.begin(), t.dims.end()}, t.data, {}, {}});
  return {};
}

/// In a handler.
void Network::Impl::give_up() noexcept {
  caller.reset();
  shared.reset();
  error.keep_caught();
}

Network::Network(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Network::~Network() = default;
Network::Network(Network&& other) noexcept = default;
Network& Network::operator=(Network&& other) noexcept = default;

template <class Open>
Network NetworkAccess::made(const Open& open) noexcept {
  Network network(nullptr);
  try {
    const FloatMode mode(false);
    network.impl_ = std::make_unique<Network::Impl>();
    Status status = open(*network.impl_);
    if (!status.ok()) {
      network.impl_->caller.reset();
      network.impl_->error.keep(status.error());
    }
  } catch (...) {
    if (network.impl_) network.impl_->give_up();  // else even that memory was out
  }
  return network;
}

Network NetworkAccess::of(Graph graph, const NetworkOptions& options) noexcept {
  return made([&](Network::Impl& impl) { return impl.open(std::move(graph), options); });
}

Network NetworkAccess::failed(const std::string& problem) noexcept {
  return made([&](Network::Impl&) { return Status(Error(problem)); });
}

Network Network::load(const std::string& path, const NetworkOptions& options) noexcept {
  return NetworkAccess::made([&](Impl& impl) -> Status {
    SV_ASSIGN(Model model, import_onnx(path));
    Status opened = impl.open(std::move(model.graph), options);
    return opened.ok() ? std::move(opened) : Status(std::move(opened).error().in(path));
  });
}

Network Network::load(const void* bytes, size_t count, const NetworkOptions& options) noexcept {
  return NetworkAccess::made([&](Impl& impl) -> Status {
    if (!bytes) return svengine::error("there are no bytes (null pointer)");
    SV_ASSIGN(Model model, import_copy({static_cast<const std::byte*>(bytes), count}));
    return impl.open(std::move(model.graph), options);
  });
}

Network::operator bool() const noexcept { return impl_ && impl_->caller; }

const std::string& Network::error() const noexcept { return impl_ ? impl_->error.message : kOutOfMemory; }
bool Network::unimplemented() const noexcept { return impl_ && impl_->error.unimplemented; }
const std::vector<TensorInfo>& Network::inputs() const noexcept { return *this ? impl_->shared->inputs() : kNothing; }
const std::vector<TensorInfo>& Network::outputs() const noexcept { return *this ? impl_->shared->outputs() : kNothing; }

const std::string& Network::cache_problem() const noexcept {
  if (!*this) return kNoProblem;
  return guarded(impl_->error, &kNoProblem, [&]() -> const std::string* {
    const Result<std::shared_ptr<CompiledModel>> model = impl_->shared->model(SharedNetwork::Purpose::run);
    if (model.ok()) impl_->cache_problem = (*model)->cache_report().problem;
    return &impl_->cache_problem;
  })[0];
}

bool Network::run(const std::vector<TensorView>& inputs, std::vector<TensorView>& outputs) noexcept {
  outputs.clear();
  if (!impl_) return false;
  const bool ran = guarded(impl_->error, false, [&] {
    const Status status = impl_->run(inputs, outputs);
    if (!status.ok()) impl_->error.keep(status.error());
    return status.ok();
  });
  if (!ran) outputs.clear();
  return ran;
}

const char* version() noexcept { return SVENGINE_VERSION; }

}  // namespace svengine
