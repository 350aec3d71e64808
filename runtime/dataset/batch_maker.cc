#include "runtime/dataset/batch_maker.h"

#include <algorithm>

#include "engine/base/hash.h"

namespace svengine {
namespace {

constexpr uint32_t kMostReplacements = 64;
constexpr size_t kMostProblems = 8;
constexpr size_t kMostBatchBytes = size_t{1} << 40;

Status check(const LoaderOptions& o) {
  if (o.threads < 0 || o.threads > 1024) return error("{} loading threads; 0 to 1024 are possible", o.threads);
  if (o.prefetch < 1 || o.prefetch > 1024) return error("{} batches ahead; 1 to 1024 are possible", o.prefetch);
  return {};
}

/// Moves the good rows together. Only rows move, so the tensors' memory stays where it is.
void leave_out_bad(OpenBatch& batch) {
  size_t kept = 0;
  for (size_t row = 0; row < batch.samples.size(); ++row) {
    if (!batch.problems[row].empty()) continue;
    if (kept != row) {
      for (MutableTensor& t : batch.tensors) {
        const size_t bytes = t.byte_size() / batch.samples.size();
        if (bytes) std::memcpy(t.raw() + kept * bytes, t.raw() + row * bytes, bytes);
      }
      batch.samples[kept] = batch.samples[row];
    }
    ++kept;
  }
  batch.samples.resize(kept);
}

}  // namespace

Result<std::shared_ptr<BatchMaker>> BatchMaker::create(DataSetPtr set, const LoaderOptions& options) {
  SV_TRY(check(options));
  std::shared_ptr<BatchMaker> out(new BatchMaker);
  SV_ASSIGN(out->order_, BatchOrder::create(set->size(), options.order));
  out->fields_ = set->fields();
  if (options.image) {
    const auto found = std::ranges::find(out->fields_, options.image->field, &Field::name);
    if (found == out->fields_.end())
      return error("no field '{}' to transform; there are: {}", options.image->field, to_string(out->fields_));
    SV_ASSIGN(out->transform_, ImageTransform::create(*options.image, *found));
    out->image_ = static_cast<size_t>(found - out->fields_.begin());
    *found = out->transform_->output();
  }
  for (const Field& f : out->fields_) {
    Dims dims{options.order.batch};
    dims.insert(dims.end(), f.dims.begin(), f.dims.end());
    Status possible = check_dims(dims);
    if (!possible.ok()) return std::move(possible).error().in(fmt::format("a batch of '{}'", f.name));
    if (f.bytes() > kMostBatchBytes / static_cast<size_t>(options.order.batch))
      return error("a batch of '{}' would have more than {} bytes", f.name, kMostBatchBytes);
  }
  out->memory_ = std::make_shared<BatchMemory>(out->fields_.size(), static_cast<size_t>(options.prefetch) + 2);
  out->set_ = std::move(set);
  out->options_ = options;
  return out;
}

std::string BatchMaker::describe() const {
  const OrderOptions& o = options_.order;
  std::string text = fmt::format("{} samples of {}; batch {}, {}", set_->size(), to_string(set_->fields()), o.batch,
                                 o.drop_last ? "last dropped" : "last kept");
  text += o.shuffle ? fmt::format(", shuffled by {}", o.seed) : fmt::format(", in order, seed {}", o.seed);
  if (!options_.image) return text;
  const ImageTransformOptions& i = *options_.image;
  std::string numbers;
  for (float v : i.mean) numbers += fmt::format(" {}", v);
  for (float v : i.std) numbers += fmt::format(" /{}", v);
  return text + fmt::format("; {}: pad {}, {}crop {}x{}{}, scale {}, normalised{}", i.field, i.pad,
                            i.random_crop ? "random " : "", i.crop_width, i.crop_height, i.random_flip ? ", flip" : "", i.scale,
                            numbers);
}

BatchMemory::BatchMemory(size_t fields, size_t most) : most_(most), free_(fields) {
  for (auto& tensors : free_) tensors.reserve(most);
}

Result<MutableTensor> BatchMemory::take(const std::shared_ptr<BatchMemory>& memory, size_t field, DType type, const Dims& dims) {
  MutableTensor tensor;
  {
    const std::lock_guard lock(memory->mutex_);
    if (auto& free = memory->free_[field]; !free.empty()) {
      tensor = std::move(free.back());
      free.pop_back();
    }
  }
  if (!tensor.defined()) {
    SV_ASSIGN(tensor, Tensor::allocate(type, dims));
  }
  std::byte* const data = tensor.raw();
  auto give_back = [memory, field, tensor = std::move(tensor)](std::byte*) mutable {
    memory->give_back(field, std::move(tensor));
  };
  return MutableTensor::wrap(type, dims, data, std::shared_ptr<std::byte>(data, std::move(give_back)));
}

void BatchMemory::give_back(size_t field, MutableTensor tensor) noexcept {
  const std::lock_guard lock(mutex_);
  // A caller that keeps batches keeps their memory; when it lets go of all of them, not all is worth keeping here.
  if (free_[field].size() < most_) free_[field].push_back(std::move(tensor));
}

Result<MutableTensor> BatchMaker::take_memory(size_t field, int64_t rows) const {
  const Field& f = fields_[field];
  Dims dims{rows};
  dims.insert(dims.end(), f.dims.begin(), f.dims.end());
  if (rows != options_.order.batch) return Tensor::allocate(f.type, dims);  // once an epoch
  return BatchMemory::take(memory_, field, f.type, dims);
}

Result<std::unique_ptr<OpenBatch>> BatchMaker::open(LoaderPosition at) const {
  auto batch = std::make_unique<OpenBatch>();
  batch->position = at;
  batch->samples = order_->samples_of(at);
  batch->problems.resize(batch->samples.size());
  batch->skipped.resize(batch->samples.size());
  for (size_t f = 0; f < fields_.size(); ++f) {
    SV_ASSIGN(MutableTensor tensor, take_memory(f, static_cast<int64_t>(batch->samples.size())));
    batch->tensors.push_back(std::move(tensor));
  }
  return batch;
}

Status BatchMaker::read(OpenBatch& batch, size_t row, int64_t sample) const {
  std::vector<std::byte*> buffers;
  for (size_t f = 0; f < fields_.size(); ++f) buffers.push_back(batch.tensors[f].raw() + row * fields_[f].bytes());
  if (!transform_) return set_->read(sample, buffers);
  std::vector<std::byte> pixels(set_->fields()[image_].bytes());
  std::byte* const image = std::exchange(buffers[image_], pixels.data());
  SV_TRY(set_->read(sample, buffers));
  const RandomStream random = RandomStream(options_.order.seed)
                                  .at("augment")
                                  .at(static_cast<uint64_t>(batch.position.epoch))
                                  .at(static_cast<uint64_t>(sample));
  transform_->apply(pixels.data(), random, image);
  return {};
}

void BatchMaker::fill(OpenBatch& batch, size_t row) const {
  const Status first = read(batch, row, batch.samples[row]);
  if (first.ok()) return;
  batch.problems[row] = fmt::format("sample {}: {}", batch.samples[row], first.error().message());
  batch.skipped[row] = 1;
  if (options_.bad != BadSamples::replace) return;
  const RandomStream random = RandomStream(options_.order.seed)
                                  .at("replace")
                                  .at(static_cast<uint64_t>(batch.position.epoch))
                                  .at(static_cast<uint64_t>(batch.position.batch));
  for (uint32_t attempt = 0; attempt < kMostReplacements; ++attempt) {
    const auto other = static_cast<int64_t>(random.at(row).below(static_cast<uint64_t>(set_->size()), attempt));
    if (!read(batch, row, other).ok()) {
      ++batch.skipped[row];
      continue;
    }
    batch.samples[row] = other;
    return;
  }
  batch.samples[row] = -1;
}

Result<Batch> BatchMaker::close(OpenBatch& open) const {
  Batch out;
  out.position = open.position;
  out.last_of_epoch = open.position.batch + 1 == order_->batches_per_epoch();
  for (size_t row = 0; row < open.problems.size(); ++row) {
    if (open.problems[row].empty()) continue;
    if (options_.bad == BadSamples::stop) return Error(open.problems[row]);
    if (open.samples[row] < 0)
      return error("{}; nor can {} others be read that were tried in its place", open.problems[row], kMostReplacements);
    out.skipped += open.skipped[row];
    if (out.problems.size() < kMostProblems) out.problems.push_back(open.problems[row]);
  }
  if (out.skipped && options_.bad == BadSamples::leave_out) leave_out_bad(open);
  if (open.samples.empty())
    return error("none of the {} samples of a batch can be read; the first: {}", open.problems.size(), open.problems[0]);
  for (MutableTensor& t : open.tensors) {
    Dims dims = t.dims();
    dims[0] = static_cast<int64_t>(open.samples.size());
    out.tensors.push_back(Tensor::wrap(t.type(), std::move(dims), t.raw(), t.owner()));
  }
  open.tensors.clear();
  out.samples = std::move(open.samples);
  return out;
}

}  // namespace svengine
