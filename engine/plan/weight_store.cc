#include "engine/plan/weight_store.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
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

/// Tensors of different sizes may begin at one address, in models that say so.
std::string key_of(const Tensor& tensor, const Packing& packing) {
  std::string key = fmt::format("{} {} {} {} ", static_cast<int>(tensor.type()), tensor.byte_size(), packing.bytes, packing.layout);
  if (!packing.row_scale.empty())
    key.append(reinterpret_cast<const char*>(packing.row_scale.data()), packing.row_scale.size() * sizeof(double));
  return key;
}

/// Makes the pages of a privately mapped file that hold `bytes` writable: what is written is this process's alone.
Status make_writable(std::span<const std::byte> bytes) {
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(bytes.data()) / page * page;
  const uintptr_t end = reinterpret_cast<uintptr_t>(bytes.data()) + bytes.size();
  if (mprotect(reinterpret_cast<void*>(first), end - first, PROT_READ | PROT_WRITE) == 0) return {};
  return error("no memory for {} bytes of packed weights: {}", bytes.size(), std::strerror(errno));
}

}  // namespace

/// Kernels pack from aligned elements; a plain copy goes straight to its place.
bool WeightStore::Job::through_copy() const {
  const bool aligned = reinterpret_cast<uintptr_t>(tensor.raw()) % std::max<size_t>(size_of(tensor.type()), 1) == 0;
  return packing.fill && (!aligned || !packing.row_scale.empty());
}

void WeightStore::use_cache(std::shared_ptr<const PackedFile> file, std::vector<std::weak_ptr<const void>> sources) {
  caching_ = true;
  file_ = std::move(file);
  sources_ = std::move(sources);
}

Hash128 WeightStore::form_key(const Tensor& tensor, const Packing& packing) const {
  const std::shared_ptr<const void>& owner = tensor.owner();
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const std::weak_ptr<const void>& s) {
    return !s.owner_before(owner) && !owner.owner_before(s);
  });
  std::string where;
  if (source == sources_.end()) where = to_string(hash_of({tensor.raw(), tensor.byte_size()}));
  else where = fmt::format("file {} at {}", source - sources_.begin(), tensor.raw() - mapped_file(owner)->bytes.data());
  return hash_of(where + ' ' + key_of(tensor, packing));
}

std::shared_ptr<const std::byte> WeightStore::get(const Tensor& tensor, Packing packing) {
  Entry& entry = entries_[{tensor.raw(), key_of(tensor, packing)}];
  if (entry.packed && !entry.original.expired()) return entry.packed;
  Job job{tensor, std::move(packing), nullptr, {}, nullptr};
  if (caching_) job.key = form_key(tensor, job.packing);
  if (file_) job.found = file_->find(job.key);
  if (job.found && job.found->bytes.size() != static_cast<size_t>(job.packing.bytes)) job.found = nullptr;
  job.packed = job.found ? std::shared_ptr<std::byte>(file_->mapping(), const_cast<std::byte*>(job.found->bytes.data()))
                         : allocate_aligned(static_cast<size_t>(job.packing.bytes));
  if (!job.packed) return nullptr;
  entry = {tensor.owner(), job.packed};
  jobs_.push_back(std::move(job));
  return entry.packed;
}

bool WeightStore::begin_check() {
  hashes_ = HashWork();
  bool any = false;
  for (const Job& job : jobs_) {
    if (job.found) hashes_.add(job.found->bytes);
    any |= job.found != nullptr;
  }
  return any;
}

Status WeightStore::end_check() {
  size_t checked = 0;
  for (Job& job : jobs_) {
    if (!job.found || hashes_.result(checked++) == job.found->checksum) continue;
    SV_TRY(make_writable(job.found->bytes));
    job.found = nullptr;
    ++counts_.damaged;
  }
  for (const Job& job : jobs_)
    if (job.found) ++counts_.found, counts_.found_bytes += job.packing.bytes;
  std::erase_if(jobs_, [](const Job& job) { return job.found != nullptr; });
  return {};
}

Status WeightStore::begin_pack() {
  // The largest first: while a layout is made its original is in memory, too, and later there is the more of what is packed already. Within a
  // power of two in the order of the file. ResNet-50: 134.0 MiB at most, and 129.4 like this.
  std::stable_sort(jobs_.begin(), jobs_.end(),
                   [](const Job& a, const Job& b) { return std::bit_width(a.tensor.byte_size()) > std::bit_width(b.tensor.byte_size()); });
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
  if (caching_) {
    counts_.packed += static_cast<int64_t>(jobs_.size());
    for (Job& job : jobs_) packed_weights_.push_back({job.key, std::move(job.packed), static_cast<size_t>(job.packing.bytes)});
  }
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
