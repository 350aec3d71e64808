#include "runtime/dataset/order.h"

#include <algorithm>

#include "engine/base/random.h"
#include "engine/base/round.h"

namespace svengine {

Result<std::shared_ptr<BatchOrder>> BatchOrder::create(int64_t samples, const OrderOptions& options) {
  constexpr int64_t kMostBatch = int64_t{1} << 31;
  if (samples < 1) return error("a data set of {} samples makes no batch", samples);
  if (options.batch < 1 || options.batch > kMostBatch)
    return error("a batch of {} samples; 1 to {} are possible", options.batch, kMostBatch);
  const int64_t batches = options.drop_last ? samples / options.batch : ceil_div(samples, options.batch);
  if (batches == 0)
    return error("{} samples do not fill one batch of {}, and batches that are not full are to be dropped", samples,
                 options.batch);
  return std::shared_ptr<BatchOrder>(new BatchOrder(samples, options, batches));
}

LoaderPosition BatchOrder::after(LoaderPosition at) const {
  return at.batch + 1 < batches_ ? LoaderPosition{at.epoch, at.batch + 1} : LoaderPosition{at.epoch + 1, 0};
}

Status BatchOrder::check(LoaderPosition at) const {
  if (at.epoch < 0 || at.batch < 0 || at.batch >= batches_)
    return error("there is no batch {} in epoch {}: an epoch of this data set has {} batches of {}", at.batch, at.epoch, batches_,
                 options_.batch);
  return {};
}

std::vector<int64_t> BatchOrder::samples_of(LoaderPosition at) const {
  const int64_t begin = at.batch * options_.batch, end = std::min(begin + options_.batch, samples_);
  std::vector<int64_t> out;
  const auto order = options_.shuffle ? shuffled(at.epoch) : nullptr;
  for (int64_t i = begin; i < end; ++i) out.push_back(order ? (*order)[static_cast<size_t>(i)] : i);
  return out;
}

std::shared_ptr<const std::vector<int64_t>> BatchOrder::shuffled(int64_t epoch) const {
  const std::lock_guard lock(mutex_);
  Epoch& kept = kept_[epoch % 2];
  if (kept.number != epoch) {
    const RandomStream random = RandomStream(options_.seed).at("shuffle").at(static_cast<uint64_t>(epoch));
    kept = {epoch, std::make_shared<const std::vector<int64_t>>(permutation(random, samples_))};
  }
  return kept.order;
}

}  // namespace svengine
