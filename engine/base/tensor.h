// A tensor: element type, concrete shape, and row-major storage that may be shared (with a mapped file, for example).
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/memory.h"
#include "engine/base/shape.h"

namespace svengine {

class MutableTensor;

/// Elements to read, or a handle (is_handle()): strings, or tensors in a sequence, optional or map. Copies share storage, which may be a
/// file mapped read-only or the caller's: nothing can be written through a Tensor, only through the MutableTensor that its storage was made
/// as. Storage may be unaligned (weights in place in a model file), so element access is for aligned tensors: allocate() gives those,
/// aligned_copy() makes one.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised storage of its own; fails on impossible shapes and when memory is out.
  static Result<MutableTensor> allocate(DType type, Dims dims);

  /// Somebody else's storage, kept alive by `owner`; `data` holds at least element_count(dims) elements.
  static Tensor wrap(DType type, Dims dims, const void* data, std::shared_ptr<const void> owner);

  /// A small tensor from values: of<int64_t>({2}, {3, 4}).
  template <class T>
  static Tensor of(Dims dims, std::initializer_list<T> values) {
    return of<T>(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor of(Dims dims, std::span<const T> values) {
    return of_bytes(dtype_of<T>(), std::move(dims), std::as_bytes(values));
  }
  template <class T>
  static Tensor scalar(T value) {
    return of<T>({}, {value});
  }

  /// A tensor of strings, row-major; as many as the dims say.
  static Tensor of_strings(Dims dims, std::vector<std::string> values);
  /// A sequence of any length, an optional of 0 or 1 items, or a map: its keys (int64 or strings, rank 1), then its values, of rank 1
  /// where they are numbers, else a sequence. dims() is empty.
  static Tensor of_items(DType kind, std::vector<Tensor> items);

  bool defined() const { return type_ != DType::undefined; }
  DType type() const { return type_; }
  const Dims& dims() const { return dims_; }
  int64_t count() const { return element_count(dims_); }
  size_t byte_size() const { return static_cast<size_t>(count()) * size_of(type_); }
  const std::byte* raw() const { return data_; }

  /// What keeps the storage alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// The elements; T must be the element type (bool elements are bytes: use uint8_t or bool).
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(count())};
  }

  /// The elements of a tensor of strings.
  std::span<const std::string> strings() const { return data<std::string>(); }
  /// What a sequence, optional or map holds.
  const std::vector<Tensor>& items() const { return *reinterpret_cast<const std::vector<Tensor>*>(data_); }

  /// The same storage under another shape of as many elements.
  Tensor reshaped(Dims dims) const;
  /// Whether elements may be accessed where they are.
  bool is_aligned() const { return reinterpret_cast<uintptr_t>(data_) % std::max<size_t>(size_of(type_), 1) == 0; }
  /// Own storage, aligned to a cache line. Not of a handle.
  Result<MutableTensor> aligned_copy() const;

  /// An integer tensor (int32 or int64, any alignment) as int64 values; empty for other types.
  std::vector<int64_t> as_int64s() const;

 private:
  static Tensor of_bytes(DType type, Dims dims, std::span<const std::byte> bytes);

  DType type_ = DType::undefined;
  Dims dims_;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// A tensor whose elements may be written: its storage was allocated, or given as writable. It becomes a Tensor, which shares its
/// storage, for whoever only reads; a Tensor never becomes one. Who hands out such Tensors and goes on writing says so.
class MutableTensor : public Tensor {
 public:
  MutableTensor() = default;
  /// As Tensor::wrap(), of storage that may be written.
  static MutableTensor wrap(DType type, Dims dims, void* data, std::shared_ptr<void> owner) {
    return MutableTensor(Tensor::wrap(type, std::move(dims), data, std::move(owner)));
  }

  using Tensor::data;
  using Tensor::raw;
  std::byte* raw() { return const_cast<std::byte*>(Tensor::raw()); }  // it was writable when this was made
  template <class T>
  std::span<T> data() {
    return {reinterpret_cast<T*>(raw()), static_cast<size_t>(count())};
  }

 private:
  explicit MutableTensor(Tensor tensor) : Tensor(std::move(tensor)) {}
};

}  // namespace svengine
