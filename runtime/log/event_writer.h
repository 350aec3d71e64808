// Writes event files for TensorBoard: `tensorboard --logdir DIR` shows scalars as curves over the step, and histograms.
//
//   <dir>/events.out.tfevents.<seconds>.<host>.<process>     one file a run; several in a directory are shown as one
//
//   record:   length, 8 bytes | masked CRC32C of it | an Event message of that length | masked CRC32C of it
//   Event:    wall_time = 1 (double), step = 2 (int64), file_version = 3 (string), summary = 5, session_log = 7
//   session_log: status = 1, of which 1 is START
//   Summary:  value = 1, repeated: tag = 1 (string), simple_value = 2 (float), histo = 5
//   histo:    min = 1, max = 2, num = 3, sum = 4, sum_squares = 5 (double), bucket_limit = 6, bucket = 7 (packed double)
//
// Sources: tensorflow/core/lib/io/record_writer.cc and tensorboard/compat/proto/{event,summary}.proto. The messages are so few
// that they are written by hand: the library's protobuf stays the importers' business.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/file.h"
#include "runtime/log/histogram.h"

namespace svengine {

/// Every record is one write, so a killed run loses at most the last one, which readers pass over. Not thread-safe.
class EventWriter {
 public:
  /// Makes the directory (its parent must be there) and a new file in it for a run that comes after `done` steps. What earlier
  /// files there say of later steps is declared void: a run that was killed does again what came after its last checkpoint.
  static Result<std::unique_ptr<EventWriter>> open(const std::string& directory, int64_t done = 0);

  /// Tags group by what stands before a slash: "train/loss".
  Status scalar(std::string_view tag, int64_t step, double value);
  Status histogram(std::string_view tag, int64_t step, const Histogram& histogram);

  const std::string& path() const { return path_; }

 private:
  EventWriter(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status write_event(const std::string& fields);
  UniqueFd file_;
  std::string path_;
};

}  // namespace svengine
