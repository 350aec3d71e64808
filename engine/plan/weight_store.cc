#include "engine/plan/weight_store.h"

#include <algorithm>
#include <cstring>

namespace svengine {
namespace {

struct Range {
  int64_t begin, end;
};

Range share(int64_t count, int thread, int threads) { return {count * thread / threads, count * (thread + 1) / threads}; }

/// Elements [begin, end) of `tensor`, multiplied by their row's scale in double and rounded once.
void copy_scaled(const Tensor& tensor, const std::vector<double>& row_scale, std::byte* to, Range range) {
  const int64_t per_row = tensor.count() / static_cast<int64_t>(row_scale.size());
  for (int64_t i = range.begin; i < range.end;) {
    const double scale = row_scale[static_cast<size_t>(i / per_row)];
    for (const int64_t end = std::min(range.end, (i / per_row + 1) * per_row); i < end; ++i) {
      float value;
      std::memcpy(&value, tensor.raw() + i * 4, 4);
      value = static_cast<float>(scale * value);
      std::memcpy(to + i * 4, &value, 4);
    }
  }
}

void copy_elements(const Tensor& tensor, const std::vector<double>& row_scale, std::byte* to, Range range) {
  if (!row_scale.empty()) return copy_scaled(tensor, row_scale, to, range);
  const auto size = static_cast<int64_t>(size_of(tensor.type()));
  if (range.begin < range.end)
    std::memcpy(to + range.begin * size, tensor.raw() + range.begin * size, static_cast<size_t>((range.end - range.begin) * size));
}

std::string key_of(const Packing& packing) {
  std::string key = packing.form;
  if (!packing.row_scale.empty())
    key.append(reinterpret_cast<const char*>(packing.row_scale.data()), packing.row_scale.size() * sizeof(double));
  return key;
}

}  // namespace

/// Kernels pack from aligned elements; a plain copy goes straight to its place.
bool WeightStore::Job::through_copy() const {
  const bool aligned = reinterpret_cast<uintptr_t>(tensor.raw()) % std::max<size_t>(size_of(tensor.type()), 1) == 0;
  return packing.fill && (!aligned || !packing.row_scale.empty());
}

std::shared_ptr<const std::byte> WeightStore::get(const Tensor& tensor, Packing packing) {
  Entry& entry = entries_[{tensor.raw(), key_of(packing)}];
  if (entry.packed && !entry.original.expired()) return entry.packed;
  std::shared_ptr<std::byte> memory = allocate_aligned(static_cast<size_t>(packing.bytes));
  if (!memory) return nullptr;
  jobs_.push_back({tensor, std::move(packing), memory});
  entry = {tensor.owner(), std::move(memory)};
  return entry.packed;
}

Status WeightStore::begin_pack() {
  size_t bytes = 0;
  for (const Job& job : jobs_)
    if (job.through_copy()) bytes = std::max(bytes, job.tensor.byte_size());
  if (bytes == 0) return {};
  copy_ = allocate_aligned(bytes);
  return copy_ ? Status() : error("no memory for {} bytes of weights while they are packed", bytes);
}

void WeightStore::pack(int thread, int threads, const std::function<void()>& barrier) {
  for (const Job& job : jobs_) {
    const Packing& packing = job.packing;
    const std::byte* source = job.tensor.raw();
    const Range elements = share(job.tensor.count(), thread, threads);
    if (job.through_copy()) {
      copy_elements(job.tensor, packing.row_scale, copy_.get(), elements);
      source = copy_.get();
      barrier();
    }
    if (packing.fill) {
      const Range tasks = share(packing.tasks, thread, threads);
      if (tasks.begin < tasks.end) packing.fill(source, job.packed.get(), tasks.begin, tasks.end);
    } else {
      copy_elements(job.tensor, packing.row_scale, job.packed.get(), elements);
    }
    barrier();  // nobody reads the tensor or the copy any more
    if (thread == 0) release_pages(job.tensor.owner(), {job.tensor.raw(), job.tensor.byte_size()});
  }
}

void WeightStore::end_pack() {
  jobs_.clear();
  copy_.reset();
}

Status WeightStore::pack_alone() {
  SV_TRY(begin_pack());
  pack(0, 1, [] {});
  end_pack();
  return {};
}

}  // namespace svengine
