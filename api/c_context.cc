// svengine.h: contexts and their calls.
#include "api/c_support.h"
#include "api/convert.h"
#include "runtime/float_mode.h"

using namespace svengine;
using namespace svengine::c;

namespace {

struct ContextObject {
  Caller caller;
  std::vector<TensorLayout> inputs, outputs, vectors, results;  // of the present call
};

/// One call: f(context) does it, once all tensors are taken.
template <class F>
svengine_status call(svengine_context* handle, const F& f) {
  auto* context = living<ContextObject>(HandleKind::context, handle, kNoContext);
  if (!context) return SVENGINE_INVALID_HANDLE;
  return guarded([&] {
    bool taken = false;
    const Status status = f(*context, taken);
    if (status.ok()) return SVENGINE_OK;
    return fail(!taken || context->caller.arguments_refused() ? SVENGINE_INVALID_ARGUMENT : SVENGINE_FAILED, status.error());
  });
}

int32_t ports(const std::vector<TensorInfo>& infos) { return static_cast<int32_t>(infos.size()); }

/// Before arrays are read: a count that is wrong is no length of an array, and some have an entry for every port of the network.
Status check_counts(const Caller& caller, int32_t inputs, const svengine_tensor* outputs, int32_t output_count) {
  const int32_t ins = ports(caller.network().inputs()), outs = ports(caller.network().outputs());
  if (inputs != ins) return error("got {} inputs, the network has {}", inputs, ins);
  if (outputs && output_count != outs) return error("got {} places for outputs, the network has {}", output_count, outs);
  return {};
}

}  // namespace

extern "C" {

svengine_status svengine_context_create(const svengine_network* handle, const svengine_context_options* given, svengine_context** out) {
  if (!out) return fail(SVENGINE_INVALID_ARGUMENT, "there is no place for the handle (null pointer)");
  *out = nullptr;
  const auto* network = living<NetworkObject>(HandleKind::network, handle, kNoNetwork);
  if (!network) return SVENGINE_INVALID_HANDLE;
  return guarded([&] {
    svengine_context_options options = svengine_context_options_default();
    if (Status taken = take_options(given, options); !taken.ok()) return fail(SVENGINE_INVALID_ARGUMENT, taken.error().message());
    NetworkOptions shape;
    shape.threads = options.threads;
    if (options.topology) shape.topology = options.topology;
    Result<SessionOptions> session = session_options(shape);
    if (!session.ok()) return fail(SVENGINE_INVALID_ARGUMENT, session.error().message());
    SessionContext context{session->topology, options.keep_denormals == 0};
    auto object = std::make_unique<ContextObject>(ContextObject{Caller(network->shared, std::move(context)), {}, {}, {}, {}});
    if (Status opened = object->caller.open(); !opened.ok()) return fail(SVENGINE_FAILED, opened.error());
    *out = static_cast<svengine_context*>(make_handle(HandleKind::context, object.get()));
    if (!*out) return fail(SVENGINE_OUT_OF_MEMORY, "no memory for another handle");
    (void)object.release();
    return SVENGINE_OK;
  });
}

svengine_status svengine_context_free(svengine_context* context) {
  if (!context) return SVENGINE_OK;
  auto* object = static_cast<ContextObject*>(release_handle(HandleKind::context, context));
  if (!object) return fail(SVENGINE_INVALID_HANDLE, kNoContext);
  delete object;
  return SVENGINE_OK;
}

svengine_status svengine_run(svengine_context* context, const svengine_tensor* inputs, int32_t input_count, svengine_tensor* outputs,
                             int32_t output_count) {
  return call(context, [&](ContextObject& c, bool& taken) -> Status {
    SV_TRY(check_counts(c.caller, input_count, outputs, output_count));
    SV_TRY(layouts_of(inputs, input_count, "inputs", c.inputs));
    SV_TRY(layouts_of(outputs, output_count, "outputs", c.outputs));
    taken = true;
    SV_TRY(c.caller.run(c.inputs, c.outputs));
    put_back(c.outputs, outputs);
    return {};
  });
}

svengine_status svengine_run_vjp(svengine_context* context, const svengine_tensor* inputs, int32_t input_count,
                                 const svengine_tensor* output_gradients, svengine_tensor* outputs, int32_t output_count,
                                 svengine_tensor* input_gradients) {
  return call(context, [&](ContextObject& c, bool& taken) -> Status {
    SV_TRY(check_counts(c.caller, input_count, outputs, output_count));
    SV_TRY(layouts_of(inputs, input_count, "inputs", c.inputs));
    SV_TRY(layouts_of(output_gradients, ports(c.caller.network().outputs()), "gradients of outputs", c.vectors));
    SV_TRY(layouts_of(outputs, outputs ? output_count : 0, "outputs", c.outputs));
    SV_TRY(layouts_of(input_gradients, ports(c.caller.network().inputs()), "gradients of inputs", c.results));
    taken = true;
    SV_TRY(c.caller.run_vjp(c.inputs, c.vectors, c.outputs, c.results));
    put_back(c.outputs, outputs);
    put_back(c.results, input_gradients);
    return {};
  });
}

svengine_status svengine_run_jvp(svengine_context* context, const svengine_tensor* inputs, int32_t input_count, const svengine_tensor* input_tangents,
                                 svengine_tensor* outputs, int32_t output_count, svengine_tensor* output_tangents) {
  return call(context, [&](ContextObject& c, bool& taken) -> Status {
    SV_TRY(check_counts(c.caller, input_count, outputs, output_count));
    SV_TRY(layouts_of(inputs, input_count, "inputs", c.inputs));
    SV_TRY(layouts_of(input_tangents, ports(c.caller.network().inputs()), "tangents of inputs", c.vectors));
    SV_TRY(layouts_of(outputs, outputs ? output_count : 0, "outputs", c.outputs));
    SV_TRY(layouts_of(output_tangents, ports(c.caller.network().outputs()), "tangents of outputs", c.results));
    taken = true;
    SV_TRY(c.caller.run_jvp(c.inputs, c.vectors, c.outputs, c.results));
    put_back(c.outputs, outputs);
    put_back(c.results, output_tangents);
    return {};
  });
}

}  // extern "C"
