#include "runtime/output_memory.h"

#include <mutex>
#include <new>
#include <vector>

namespace svengine {
namespace {

constexpr size_t kLeastBytes = size_t{128} << 10;  // what malloc keeps by itself: glibc's M_MMAP_THRESHOLD
constexpr int kMostMisses = 4;  // in a row, until a block goes back to the system: some outputs of a network may be kept by its caller, others not

}  // namespace

struct OutputMemory::Free {
  struct Block {
    size_t bytes;
    MutableTensor storage;
    int misses = 0;
  };
  std::mutex mutex;
  std::vector<Block> blocks;

  MutableTensor take(size_t bytes) {
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].bytes != bytes) continue;
      MutableTensor storage = std::move(blocks[i].storage);
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
      return storage;
    }
    std::erase_if(blocks, [](Block& b) { return ++b.misses >= kMostMisses; });
    return {};
  }

  void put_back(size_t bytes, MutableTensor storage) noexcept {
    const std::lock_guard lock(mutex);
    try {
      blocks.push_back({bytes, std::move(storage)});
    } catch (const std::bad_alloc&) {  // then it goes back to the system
    }
  }
};

OutputMemory::OutputMemory() : free_(std::make_shared<Free>()) {}

void OutputMemory::release() noexcept {
  const std::lock_guard lock(free_->mutex);
  free_->blocks.clear();
}

Result<MutableTensor> OutputMemory::allocate(DType type, const Dims& dims) {
  SV_TRY(check_dims(dims));
  const size_t bytes = static_cast<size_t>(element_count(dims)) * size_of(type);
  if (bytes < kLeastBytes) return Tensor::allocate(type, dims);
  MutableTensor storage = free_->take(bytes);
  if (!storage.defined()) {
    SV_ASSIGN(storage, Tensor::allocate(type, dims));
  }
  std::byte* const data = storage.raw();
  const std::shared_ptr<std::byte> owner(data, [storage = std::move(storage), bytes, home = std::weak_ptr<Free>(free_)](std::byte*) mutable {
    if (const std::shared_ptr<Free> free = home.lock()) free->put_back(bytes, std::move(storage));
  });
  return MutableTensor::wrap(type, dims, data, owner);
}

}  // namespace svengine
