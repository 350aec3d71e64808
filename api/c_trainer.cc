// svengine.h: training.
#include "api/c_support.h"
#include "api/convert.h"
#include "api/nn_run.h"
#include "svengine/nn.hpp"

using namespace svengine;
using namespace svengine::c;

namespace {

/// A batch's tensors, gathered where they are not dense.
struct TrainerObject {
  nn::Trainer trainer;
  std::vector<TensorLayout> layouts;
  std::vector<MutableTensor> gathered;

  Status take(const svengine_tensor* inputs, int32_t input_count, const svengine_tensor* target, nn::Batch& batch) {
    const auto ins = static_cast<int32_t>(trainer.inputs().size());
    if (input_count != ins) return error("got {} inputs, the network has {}", input_count, ins);
    SV_TRY(layouts_of(inputs, input_count, "inputs", layouts));
    std::vector<TensorLayout> targets;
    if (!target) return error("there is no target (null pointer)");
    SV_TRY(layouts_of(target, 1, "the target", targets));
    layouts.push_back(targets.front());
    gathered.resize(layouts.size());
    for (size_t i = 0; i < layouts.size(); ++i) {
      const TensorLayout& t = layouts[i];
      Status fits = check_layout(t, false);
      if (!fits.ok()) return std::move(fits).error().in(i + 1 == layouts.size() ? "the target" : fmt::format("input {}", i));
      TensorView view{to_element_type(t.type), {t.dims.begin(), t.dims.end()}, t.data};
      if (!is_dense(t)) {
        SV_ASSIGN(gathered[i], Tensor::allocate(t.type, view.shape));
        gather_elements(t, t.type, gathered[i].raw());
        view.data = gathered[i].raw();
      }
      if (i + 1 < layouts.size()) batch.inputs.push_back(std::move(view));
      else batch.target = std::move(view);
    }
    return {};
  }
};

/// The trainer's last failure, which is `status` unless it is a limit of this engine.
svengine_status failed(const nn::Trainer& trainer, svengine_status status) {
  return fail(trainer.unimplemented() ? SVENGINE_UNIMPLEMENTED : status, trainer.error());
}

/// The same of a call whose options or batch may be to blame.
svengine_status failed_or_refused(const nn::Trainer& trainer, svengine_status status) {
  return nn::TrainerAccess::is_callers_fault(trainer) ? fail(SVENGINE_INVALID_ARGUMENT, trainer.error()) : failed(trainer, status);
}

/// f(trainer, batch) for what the caller gives.
template <class F>
svengine_status with_batch(svengine_trainer* handle, const svengine_tensor* inputs, int32_t input_count, const svengine_tensor* target, const F& f) {
  auto* object = living<TrainerObject>(HandleKind::trainer, handle, kNoTrainer);
  if (!object) return SVENGINE_INVALID_HANDLE;
  return guarded([&] {
    nn::Batch batch;
    if (Status taken = object->take(inputs, input_count, target, batch); !taken.ok()) return fail(SVENGINE_INVALID_ARGUMENT, taken.error().message());
    return f(object->trainer, batch) ? SVENGINE_OK : failed_or_refused(object->trainer, SVENGINE_FAILED);
  });
}

nn::TrainerOptions options_of(const svengine_trainer_options& o) {
  nn::TrainerOptions out;
  out.loss = o.loss ? o.loss : "mse";
  out.optimizer = o.optimizer ? o.optimizer : "adam";
  if (o.loss_of) out.loss_of = o.loss_of;
  out.clip_norm = o.clip_norm;
  out.accumulate = o.accumulate;
  out.initialise = o.initialise != 0;
  out.seed = o.seed;
  out.runtime.threads = o.threads;
  if (o.kernels) out.runtime.kernels = o.kernels;
  return out;
}

}  // namespace

extern "C" {

svengine_status svengine_trainer_load(const char* path, const svengine_trainer_options* given, svengine_trainer** out) {
  if (!out) return fail(SVENGINE_INVALID_ARGUMENT, "there is no place for the handle (null pointer)");
  *out = nullptr;
  if (!path) return fail(SVENGINE_INVALID_ARGUMENT, "there is no path (null pointer)");
  return guarded([&] {
    svengine_trainer_options options = svengine_trainer_options_default();
    if (Status taken = take_options(given, options); !taken.ok()) return fail(SVENGINE_INVALID_ARGUMENT, taken.error().message());
    auto object = std::make_unique<TrainerObject>(TrainerObject{nn::Trainer::load(path, options_of(options)), {}, {}});
    if (!object->trainer) return failed_or_refused(object->trainer, SVENGINE_INVALID_MODEL);
    *out = static_cast<svengine_trainer*>(make_handle(HandleKind::trainer, object.get()));
    if (!*out) return fail(SVENGINE_OUT_OF_MEMORY, "no memory for another handle");
    (void)object.release();
    return SVENGINE_OK;
  });
}

svengine_status svengine_trainer_free(svengine_trainer* trainer) {
  if (!trainer) return SVENGINE_OK;
  auto* object = static_cast<TrainerObject*>(release_handle(HandleKind::trainer, trainer));
  if (!object) return fail(SVENGINE_INVALID_HANDLE, kNoTrainer);
  delete object;
  return SVENGINE_OK;
}

svengine_status svengine_trainer_step(svengine_trainer* trainer, const svengine_tensor* inputs, int32_t input_count, const svengine_tensor* target,
                                      double rate, double* loss) {
  return with_batch(trainer, inputs, input_count, target, [&](nn::Trainer& t, const nn::Batch& batch) {
    nn::StepReport report;
    if (!t.step(batch, rate, &report)) return false;
    if (loss) *loss = report.loss;
    return true;
  });
}

svengine_status svengine_trainer_evaluate(svengine_trainer* trainer, const svengine_tensor* inputs, int32_t input_count,
                                          const svengine_tensor* target, double* loss) {
  return with_batch(trainer, inputs, input_count, target, [&](nn::Trainer& t, const nn::Batch& batch) {
    nn::StepReport report;
    if (!t.evaluate(batch, report)) return false;
    if (loss) *loss = report.loss;
    return true;
  });
}

svengine_status svengine_trainer_save(svengine_trainer* trainer, const char* path) {
  auto* object = living<TrainerObject>(HandleKind::trainer, trainer, kNoTrainer);
  if (!object) return SVENGINE_INVALID_HANDLE;
  if (!path) return fail(SVENGINE_INVALID_ARGUMENT, "there is no path (null pointer)");
  return guarded([&] { return object->trainer.save(path) ? SVENGINE_OK : failed(object->trainer, SVENGINE_FAILED); });
}

svengine_status svengine_trainer_network(svengine_trainer* trainer, const svengine_options* given, svengine_network** out) {
  if (!out) return fail(SVENGINE_INVALID_ARGUMENT, "there is no place for the handle (null pointer)");
  *out = nullptr;
  auto* object = living<TrainerObject>(HandleKind::trainer, trainer, kNoTrainer);
  if (!object) return SVENGINE_INVALID_HANDLE;
  return guarded([&] {
    svengine_options options = svengine_options_default();
    if (Status taken = take_options(given, options); !taken.ok()) return fail(SVENGINE_INVALID_ARGUMENT, taken.error().message());
    const Result<SessionOptions> session = session_options_of(options);
    if (!session.ok()) return fail(SVENGINE_INVALID_ARGUMENT, session.error().message());
    Result<Graph> graph = nn::TrainerAccess::trained(object->trainer);
    if (!graph.ok()) return fail(SVENGINE_FAILED, graph.error());
    Result<std::shared_ptr<SharedNetwork>> shared = SharedNetwork::open(std::move(graph).value(), *session, options.convert != 0);
    if (!shared.ok()) return fail(SVENGINE_FAILED, shared.error());
    return give_network(std::move(shared).value(), out);
  });
}

}  // extern "C"
