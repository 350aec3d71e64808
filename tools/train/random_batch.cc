#include "tools/train/random_batch.h"

#include <map>

#include "tools/support/random.h"

namespace svengine::tool {
namespace {

constexpr uint64_t kTargetStream = 0x7461726765740000;  // apart from those of the inputs, which count from 0

/// The sizes that the inputs' symbols have.
std::map<std::string, int64_t> sizes_of(const std::vector<Session::Port>& ports, const std::vector<Tensor>& tensors) {
  std::map<std::string, int64_t> out;
  for (size_t i = 0; i < ports.size(); ++i)
    for (size_t d = 0; ports[i].type.shape.has_rank() && d < tensors[i].dims().size(); ++d)
      if (const Dim& dim = ports[i].type.shape[d]; dim.is_symbolic()) out[dim.symbol()] = tensors[i].dims()[d];
  return out;
}

Result<Dims> target_dims(const Trainer& trainer, int64_t batch, const std::map<std::string, int64_t>& sizes) {
  const Session::Port& port = trainer.target();
  if (!port.type.shape.has_rank()) return error("the rank of the target {} is not known", to_string(port.type));
  Dims out;
  for (size_t d = 0; d < port.type.shape.dims().size(); ++d) {
    const Dim& dim = port.type.shape[d];
    const auto known = sizes.find(dim.symbol());
    if (d == 0)
      out.push_back(batch);
    else if (dim.is_static())
      out.push_back(dim.value());
    else if (dim.is_symbolic() && known != sizes.end())
      out.push_back(known->second);
    else
      return error("dimension {} of the target {} is not known from the inputs", d, to_string(port.type));
  }
  return out;
}

}  // namespace

Result<RandomBatch> make_random_batch(const Trainer& trainer, int64_t batch, const InputOptions& options,
                                      const IndexBounds& bounds) {
  std::vector<Session::Port> ports = trainer.data();
  for (Session::Port& p : ports)
    if (p.type.shape.has_rank() && p.type.shape.rank() > 0) p.type.shape[0] = Dim(batch);
  RandomBatch out;
  SV_ASSIGN(out.data, make_inputs(ports, options, bounds));
  SV_ASSIGN(Dims dims, target_dims(trainer, batch, sizes_of(trainer.data(), out.data.tensors)));
  SV_ASSIGN(out.target, Tensor::allocate(trainer.target().type.dtype, std::move(dims)));
  const Random random(options.seed, kTargetStream);
  const auto count = static_cast<size_t>(out.target.count());
  if (out.target.type() == DType::i64) {
    if (trainer.classes() < 1) return error("the number of classes is not known");
    for (size_t i = 0; i < count; ++i) out.target.data<int64_t>()[i] = random.below(i, trainer.classes());
  } else {
    for (size_t i = 0; i < count; ++i) out.target.data<float>()[i] = random.uniform(i) - 0.5f;
  }
  return out;
}

}  // namespace svengine::tool
