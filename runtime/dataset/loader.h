// Batches of a data set, made in the background while the network computes.
//
//     worker threads             slots, in the order of the batches             the caller
//     take the next few rows     [########] [#####...] [........]   --next()--> a batch, complete
//     of the first slot that       full      filling    empty
//     has rows left
//
// What a batch holds is a pure function of the data set, the options and the batch's position: shuffling and augmentation draw
// from counters (engine/base/random.h). So it does not depend on the number of threads, and a loader that starts at a saved
// position goes on bitwise as if it had never stopped.
#pragma once
#include <memory>
#include <optional>

#include "engine/base/tensor.h"
#include "runtime/dataset/dataset.h"
#include "runtime/dataset/order.h"
#include "runtime/dataset/transform.h"

namespace svengine {

/// What becomes of a sample that cannot be read (an image that does not decode).
enum class BadSamples {
  stop,       // next() fails, naming it
  leave_out,  // the batch has one row less: right for measuring accuracy
  replace,    // another sample of the set takes its row, drawn from the position: right for training at one batch size
};

struct LoaderOptions {
  OrderOptions order;
  std::optional<ImageTransformOptions> image;  // none: the fields come as they are
  BadSamples bad = BadSamples::stop;
  int threads = 1;        // in the background; 0: next() does the work
  int prefetch = 2;       // batches that may be ready or in work before they are asked for, 1 to 1024
  std::vector<int> cpus;  // where the threads may run; empty: where their creator may. A program that lets OpenMP bind
                          // its threads must say, for the creator is then bound to one cpu.
};

struct Batch {
  LoaderPosition position;
  std::vector<Tensor> tensors;        // [rows, ..] for each of Loader::fields()
  std::vector<int64_t> samples;       // which sample of the data set each row is
  int64_t skipped = 0;                // samples that could not be read
  std::vector<std::string> problems;  // with them: one message each, 8 at most
  bool last_of_epoch = false;

  int64_t rows() const { return static_cast<int64_t>(samples.size()); }
};

/// One caller at a time. The destructor waits for the samples in work.
class Loader {
 public:
  /// Starts at `start`. Fails on options or a start that cannot be, and when threads or memory are out.
  static Result<std::unique_ptr<Loader>> create(DataSetPtr set, const LoaderOptions& options, LoaderPosition start = {});
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch; there is always one, epoch after epoch. Waits for it, and fills rows of it meanwhile. Its memory is used
  /// again once no copy of its tensors is left, whichever thread had the last. After an error every further call fails with the
  /// same, until seek(). A data set that throws is one whose sample cannot be read.
  Result<Batch> next();

  /// Where next() continues.
  LoaderPosition position() const;
  /// Goes to another place; batches loaded ahead are thrown away.
  Status seek(LoaderPosition to);

  /// The data set's, but for the image after its transform.
  const std::vector<Field>& fields() const;
  int64_t batches_per_epoch() const;
  int64_t samples_per_epoch() const;

  /// A line that tells orders of samples apart, for a checkpoint: numbers and fields of the set, batch, shuffling, seed,
  /// transform. Positions mean the same only where this is equal. What becomes of bad samples is left out, so that a run that one
  /// of them has stopped can be resumed without it.
  std::string describe() const;

 private:
  class Work;
  explicit Loader(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace svengine
