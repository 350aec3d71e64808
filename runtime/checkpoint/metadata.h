// Named scalars of a checkpoint: step, epoch, position in the data, seeds, schedule.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace svengine {

/// Names and values as text; numbers keep their bits. Names are not empty; values may be any bytes.
class CheckpointMetadata {
 public:
  void set(const std::string& name, std::string_view text) { values_[name] = text; }
  void set(const std::string& name, const char* text) { values_[name] = text; }
  void set(const std::string& name, int64_t number);
  void set(const std::string& name, uint64_t number);
  /// In the shortest decimal form that reads back as the same bits (any NaN comes back as NaN).
  void set(const std::string& name, double number);

  bool has(const std::string& name) const { return values_.contains(name); }
  /// An error where the fact is missing, or is no number of that kind.
  Result<std::string> text(const std::string& name) const;
  Result<int64_t> integer(const std::string& name) const;
  Result<uint64_t> unsigned_integer(const std::string& name) const;
  Result<double> number(const std::string& name) const;

  const std::map<std::string, std::string>& values() const { return values_; }
  friend bool operator==(const CheckpointMetadata&, const CheckpointMetadata&) = default;

 private:
  template <class T>
  Result<T> parsed(const std::string& name, const char* kind) const;
  std::map<std::string, std::string> values_;
};

}  // namespace svengine
