#include "tools/train/random_batch.h"

#include "validate/inputs/random.h"

namespace svengine::tool {

using validate::Random;
namespace {

constexpr uint64_t kTargetStream = 0x7461726765740000;  // apart from those of the inputs, which count from 0

}  // namespace

Result<RandomBatch> make_random_batch(const Trainer& trainer, int64_t batch, const InputOptions& options,
                                      const IndexBounds& bounds) {
  std::vector<Session::Port> ports = trainer.data();
  for (Session::Port& p : ports)
    if (p.type.shape.has_rank() && p.type.shape.rank() > 0) p.type.shape.set(0, Dim(batch));
  RandomBatch out;
  SV_ASSIGN(out.data, make_inputs(ports, options, bounds));
  SV_ASSIGN(Dims dims, trainer.target_dims(out.data.tensors));
  SV_ASSIGN(MutableTensor target, Tensor::allocate(trainer.target().type.dtype, std::move(dims)));
  const Random random(options.seed_of_inputs(), kTargetStream);
  const auto count = static_cast<size_t>(target.count());
  if (target.type() == DType::i64) {
    if (trainer.classes() < 1) return error("the number of classes is not known");
    for (size_t i = 0; i < count; ++i) target.data<int64_t>()[i] = random.below(i, trainer.classes());
  } else {
    for (size_t i = 0; i < count; ++i) target.data<float>()[i] = random.uniform(i) - 0.5f;
  }
  out.target = std::move(target);
  return out;
}

}  // namespace svengine::tool
