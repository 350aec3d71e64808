#include "api/convert.h"
#include "api/guard.h"
#include "api/network_impl.h"

namespace svengine {

struct Context::Impl {
  std::unique_ptr<Caller> caller;  // null: it could not be made
  std::vector<TensorLayout> inputs, vectors, outputs, results;
  LastError error;

  /// f() with all tensors taken, into `made` and `more`.
  template <class F>
  bool call(std::vector<MutableTensorView>& made, size_t count, std::vector<MutableTensorView>* more, size_t more_count, const F& f) {
    return guarded(error, false, [&] {
      const Status status = [&]() -> Status {
        if (!caller) return svengine::error("the context could not be made");
        if (made.empty()) made.resize(count);
        if (more && more->empty()) more->resize(more_count);
        SV_TRY(places_of(made, "output", outputs));
        if (more) SV_TRY(places_of(*more, "result", results));
        if (more && results.size() != more_count) return svengine::error("got {} places for derivatives, {} are needed", results.size(), more_count);
        SV_TRY(f());
        put_back(outputs, made);
        if (more) put_back(results, *more);
        return {};
      }();
      if (!status.ok()) error.keep(status.error());
      return status.ok();
    });
  }
};

Context::Context(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Context::~Context() = default;
Context::Context(Context&& other) noexcept = default;
Context& Context::operator=(Context&& other) noexcept = default;

Context::operator bool() const noexcept { return impl_ && impl_->caller; }
const std::string& Context::error() const noexcept { return impl_ ? impl_->error.message : kOutOfMemory; }
bool Context::unimplemented() const noexcept { return impl_ && impl_->error.unimplemented; }

Context Network::context(const ContextOptions& options) const noexcept {
  Context context(nullptr);
  try {
    context.impl_ = std::make_unique<Context::Impl>();
    Context::Impl& impl = *context.impl_;
    const Status status = [&]() -> Status {
      if (!*this) return svengine::error("the network is not loaded");
      NetworkOptions wanted;
      wanted.threads = options.threads;
      wanted.topology = options.topology;
      SV_ASSIGN(SessionOptions session, session_options(wanted));
      auto caller = std::make_unique<Caller>(impl_->shared, SessionContext{session.topology, options.flush_denormals});
      SV_TRY(caller->open());
      impl.caller = std::move(caller);
      return {};
    }();
    if (!status.ok()) impl.error.keep(status.error());
  } catch (...) {
    if (context.impl_) context.impl_->error.keep_caught();
  }
  return context;
}

bool Context::run(const std::vector<TensorView>& inputs, std::vector<MutableTensorView>& outputs) noexcept {
  if (!*this) return false;
  return impl_->call(outputs, impl_->caller->network().outputs().size(), nullptr, 0, [&]() -> Status {
    SV_TRY(layouts_of(inputs, "input", impl_->inputs));
    return impl_->caller->run(impl_->inputs, impl_->outputs);
  });
}

bool Context::vjp(const std::vector<TensorView>& inputs, const std::vector<TensorView>& output_gradients, std::vector<MutableTensorView>& outputs,
                  std::vector<MutableTensorView>& input_gradients) noexcept {
  if (!*this) return false;
  const SharedNetwork& network = impl_->caller->network();
  return impl_->call(outputs, network.outputs().size(), &input_gradients, network.inputs().size(), [&]() -> Status {
    SV_TRY(layouts_of(inputs, "input", impl_->inputs));
    SV_TRY(layouts_of(output_gradients, "gradient of output", impl_->vectors));
    return impl_->caller->run_vjp(impl_->inputs, impl_->vectors, impl_->outputs, impl_->results);
  });
}

bool Context::jvp(const std::vector<TensorView>& inputs, const std::vector<TensorView>& input_tangents, std::vector<MutableTensorView>& outputs,
                  std::vector<MutableTensorView>& output_tangents) noexcept {
  if (!*this) return false;
  const SharedNetwork& network = impl_->caller->network();
  return impl_->call(outputs, network.outputs().size(), &output_tangents, network.outputs().size(), [&]() -> Status {
    SV_TRY(layouts_of(inputs, "input", impl_->inputs));
    SV_TRY(layouts_of(input_tangents, "tangent of input", impl_->vectors));
    return impl_->caller->run_jvp(impl_->inputs, impl_->vectors, impl_->outputs, impl_->results);
  });
}

}  // namespace svengine
