#include "svengine/svengine.hpp"

#include "api/convert.h"
#include "api/guard.h"
#include "importers/onnx/import.h"
#include "runtime/session.h"
#include "runtime/weight_cache.h"

namespace svengine {
namespace {

const std::string kOutOfMemory = "out of memory";  // short enough to need no allocation
const std::vector<TensorInfo> kNothing;
const std::string kNoProblem;

}  // namespace

struct Network::Impl {
  std::unique_ptr<Session> session;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<Tensor> results;
  std::string error, cache_problem;

  Status open(const std::string& path, const NetworkOptions& options) {
    SV_ASSIGN(SessionOptions session_options, svengine::session_options(options));
    SV_ASSIGN(Model model, import_onnx(path));
    Result<std::unique_ptr<Session>> made = Session::create(std::move(model.graph), std::move(session_options));
    if (!made.ok()) return std::move(made).error().in(path);
    for (const std::vector<Session::Port>* ports : {&(*made)->inputs(), &(*made)->outputs()})
      for (const Session::Port& p : *ports)
        if (is_handle(p.type.dtype))
          return svengine::error("{}: '{}' is {}; this interface has tensors of numbers and bool alone", path, p.name, to_string(p.type));
    session = std::move(made).value();
    cache_problem = session->cache_report().problem;
    for (const Session::Port& p : session->inputs()) inputs.push_back(describe_port(p));
    for (const Session::Port& p : session->outputs()) outputs.push_back(describe_port(p));
    return {};
  }

  /// In a handler.
  void give_up() noexcept {
    session.reset();
    error = message_of_caught();
  }

  Status run(const std::vector<TensorView>& views, std::vector<TensorView>& out) {
    if (!session) return svengine::error("the network is not loaded");
    std::vector<Tensor> tensors;
    for (const TensorView& view : views) {
      SV_ASSIGN(Tensor tensor, borrow(view, tensors.size()));
      tensors.push_back(std::move(tensor));
    }
    results.clear();
    SV_ASSIGN(results, session->run(tensors));
    cache_problem = session->cache_report().problem;
    for (const Tensor& t : results) out.push_back({to_element_type(t.type()), t.dims(), t.raw()});
    return {};
  }
};

Network::Network(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Network::~Network() = default;
Network::Network(Network&& other) noexcept = default;
Network& Network::operator=(Network&& other) noexcept = default;

Network Network::load(const std::string& path, const NetworkOptions& options) noexcept {
  Network network(nullptr);
  try {
    network.impl_ = std::make_unique<Impl>();
    Status status = network.impl_->open(path, options);
    if (!status.ok()) {
      network.impl_->session.reset();
      network.impl_->error = status.error().message();
    }
  } catch (...) {
    if (network.impl_) network.impl_->give_up();  // else even that memory was out
  }
  return network;
}

Network::operator bool() const noexcept { return impl_ && impl_->session; }

const std::string& Network::error() const noexcept { return impl_ ? impl_->error : kOutOfMemory; }
const std::string& Network::cache_problem() const noexcept { return impl_ ? impl_->cache_problem : kNoProblem; }
const std::vector<TensorInfo>& Network::inputs() const noexcept { return impl_ ? impl_->inputs : kNothing; }
const std::vector<TensorInfo>& Network::outputs() const noexcept { return impl_ ? impl_->outputs : kNothing; }

bool Network::run(const std::vector<TensorView>& inputs, std::vector<TensorView>& outputs) noexcept {
  outputs.clear();
  if (!impl_) return false;
  const bool ran = guarded(impl_->error, false, [&] {
    const Status status = impl_->run(inputs, outputs);
    if (!status.ok()) impl_->error = status.error().message();
    return status.ok();
  });
  if (!ran) outputs.clear();
  return ran;
}

const char* version() noexcept { return SVENGINE_VERSION; }

}  // namespace svengine
