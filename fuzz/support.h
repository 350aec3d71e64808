// What targets share.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "engine/base/status.h"
#include "engine/base/tensor.h"
#include "engine/graph/graph.h"
#include "fuzz/targets.h"

namespace svengine::fuzz {

/// Says what is wrong and ends the program, so that the input is kept.
[[noreturn]] void finding(const std::string& what);

/// An error has words.
inline void expect_words(const Error& e) {
  if (e.message().empty()) finding("an error without words");
}
/// The value, or nothing where it was refused.
template <class T>
std::optional<T> taken(Result<T> result) {
  if (result.ok()) return std::move(result).value();
  expect_words(result.error());
  return std::nullopt;
}
inline bool taken(const Status& status) {
  if (!status.ok()) expect_words(status.error());
  return status.ok();
}

/// Touches every byte of a dense tensor, so that a sanitizer sees one whose storage is not there.
void read_all(const Tensor& tensor);

/// Takes an input apart into numbers; zeros where it has ended.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  Bytes rest() const { return rest_; }

  template <std::integral T>
  T take() {
    T value = 0;
    const size_t n = std::min(sizeof value, rest_.size());
    if (n) std::memcpy(&value, rest_.data(), n);
    rest_ = rest_.subspan(n);
    return value;
  }
  /// In [0, count).
  size_t below(size_t count) { return count <= 1 ? 0 : (count <= 256 ? take<uint8_t>() : take<uint16_t>()) % count; }
  /// Mostly small ones, sometimes any.
  int64_t integer() {
    const auto byte = take<int8_t>();
    if (byte == 127) return take<int64_t>();
    if (byte == -128) return take<int32_t>();
    return byte / 4;
  }
  Bytes take_bytes(size_t most) {
    const Bytes front = rest_.first(std::min(most, rest_.size()));
    rest_ = rest_.subspan(front.size());
    return front;
  }

 private:
  Bytes rest_;
};

/// A file without a name in any folder, for what takes a path; gone with it.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

/// A folder in memory, one for the whole process, removed at its end.
const std::string& scratch_folder();
/// A file in it, written anew.
std::string write_scratch(const std::string& name, Bytes content);

/// Runs a graph on values of small shapes, where that takes little memory and time; all results are of the inferred types. Under a limit of
/// memory and one of time.
void run_small(Graph graph);

/// Writes it as an ONNX file, unless that is refused; what was written is a model.
void export_and_read(const Graph& graph);

}  // namespace svengine::fuzz
