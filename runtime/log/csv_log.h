// A table of numbers that grows while training, one row a step or an epoch, for any program that reads CSV (RFC 4180).
//
//   step,epoch,train/loss,valid/accuracy
//   100,0,1.83,
//   200,1,0.92,0.7315
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/file.h"

namespace svengine {

/// Every row is one write. Not thread-safe.
class CsvLog {
 public:
  /// `columns` follow the first one, "step". An existing file with the same columns is continued, after the rows of steps above
  /// `last_step` are taken out: a resumed run makes those again. Other files are refused, never overwritten; half a row at the
  /// end, which a killed run left, is taken out.
  static Result<std::unique_ptr<CsvLog>> open(const std::string& path, const std::vector<std::string>& columns,
                                              int64_t last_step);

  /// One value for each column; none leaves its cell empty. Numbers are written so that they read back as the same bits.
  Status row(int64_t step, std::span<const std::optional<double>> values);

 private:
  CsvLog(UniqueFd file, std::string path, size_t columns) : file_(std::move(file)), path_(std::move(path)), columns_(columns) {}
  Status write(std::string_view text);
  UniqueFd file_;
  std::string path_;
  size_t columns_;
};

}  // namespace svengine
