#include "runtime/dataset/loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "engine/base/affinity.h"
#include "runtime/dataset/batch_maker.h"

namespace svengine {

class Loader::Work {
  /// A batch and how far it is. Guarded by Work's mutex, but for the rows of the batch itself.
  struct Slot {
    std::unique_ptr<OpenBatch> batch;
    size_t rows = 0, taken = 0, done = 0;
    bool broken = false;  // memory was out for a row, even for saying what is wrong with it

    bool full() const { return done == rows; }
  };

  struct Rows {
    std::shared_ptr<Slot> slot;
    size_t begin = 0, end = 0;
  };

 public:
  Work(std::shared_ptr<BatchMaker> maker, const LoaderOptions& options, LoaderPosition start)
      : maker_(std::move(maker)), options_(options), next_(start), ahead_(start) {}

  ~Work() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_there_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  Status start() {
    {
      const std::lock_guard lock(mutex_);
      load_ahead();
    }
    try {
      for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& failed) {
      return error("cannot start {} loading threads: {}", options_.threads, failed.what());
    }
    return {};
  }

  Result<Batch> next() {
    std::unique_lock lock(mutex_);
    if (!failure_.empty()) return Error(failure_);
    load_ahead();
    top_up(1);
    if (slots_.empty()) return fail("no memory for a batch");
    const std::shared_ptr<Slot> slot = slots_.front();
    while (!slot->full()) {
      const Rows rows = slot->taken < slot->rows ? take(slot) : Rows{};
      if (rows.slot)
        fill(rows, lock);
      else
        done_.wait(lock);
    }
    slots_.pop_front();
    load_ahead();
    if (slot->broken) return fail("no memory for the samples of a batch");
    lock.unlock();
    Result<Batch> batch = maker_->close(*slot->batch);
    lock.lock();
    if (!batch.ok()) return fail(batch.error().message());
    next_ = maker_->order().after(next_);
    return batch;
  }

  void seek(LoaderPosition to) {
    const std::lock_guard lock(mutex_);
    slots_.clear();  // rows in work keep their slot until they are done
    next_ = ahead_ = to;
    failure_.clear();
  }

  LoaderPosition position() const {
    const std::lock_guard lock(mutex_);
    return next_;
  }
  const BatchMaker& maker() const { return *maker_; }

 private:
  Error fail(const std::string& message) {
    failure_ = message;
    return Error(message);
  }

  /// Opens slots until there are so many.
  void top_up(int wanted) {
    while (slots_.size() < static_cast<size_t>(wanted)) {
      Result<std::unique_ptr<OpenBatch>> batch = maker_->open(ahead_);
      if (!batch.ok()) break;  // with none at all next() fails; otherwise fewer are loaded ahead
      auto slot = std::make_shared<Slot>();
      slot->rows = (*batch)->samples.size();
      slot->batch = std::move(batch).value();
      slots_.push_back(std::move(slot));
      ahead_ = maker_->order().after(ahead_);
    }
    work_there_.notify_all();
  }
  void load_ahead() {
    if (options_.threads) top_up(options_.prefetch);  // without threads nothing would fill them
  }

  /// A few rows of the slot: so many that taking them costs nothing, so few that all threads end together.
  Rows take(const std::shared_ptr<Slot>& slot) const {
    const size_t share = std::max<size_t>(1, slot->rows / (4 * static_cast<size_t>(options_.threads + 1)));
    const size_t begin = slot->taken;
    slot->taken = std::min(slot->rows, begin + share);
    return {slot, begin, slot->taken};
  }

  /// Whatever happens, the rows are done afterwards: who waits for the slot waits for them.
  void fill(const Rows& rows, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    const bool filled = fill(rows);
    lock.lock();
    if (!filled) rows.slot->broken = true;
    rows.slot->done += rows.end - rows.begin;
    if (rows.slot->full()) done_.notify_all();
  }

  bool fill(const Rows& rows) const noexcept {
    try {
      for (size_t row = rows.begin; row < rows.end; ++row) maker_->fill(*rows.slot->batch, row);
      return true;
    } catch (...) {  // fill() turns into errors what it can; this is memory
      return false;
    }
  }

  void run() {
    bind_thread(options_.cpus);
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const auto open = std::ranges::find_if(slots_, [](const auto& slot) { return slot->taken < slot->rows; });
      if (open != slots_.end())
        fill(take(*open), lock);
      else
        work_there_.wait(lock);
    }
  }

  const std::shared_ptr<BatchMaker> maker_;
  const LoaderOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable work_there_, done_;
  std::deque<std::shared_ptr<Slot>> slots_;  // of next_, and of what follows it
  LoaderPosition next_, ahead_;              // ahead_: of the next slot to open
  std::string failure_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

Loader::Loader(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Loader::~Loader() = default;

Result<std::unique_ptr<Loader>> Loader::create(DataSetPtr set, const LoaderOptions& options, LoaderPosition start) {
  SV_ASSIGN(std::shared_ptr<BatchMaker> maker, BatchMaker::create(std::move(set), options));
  SV_TRY(maker->order().check(start));
  auto work = std::make_unique<Work>(std::move(maker), options, start);
  SV_TRY(work->start());
  return std::unique_ptr<Loader>(new Loader(std::move(work)));
}

Result<Batch> Loader::next() { return work_->next(); }
LoaderPosition Loader::position() const { return work_->position(); }

Status Loader::seek(LoaderPosition to) {
  SV_TRY(work_->maker().order().check(to));
  work_->seek(to);
  return {};
}

const std::vector<Field>& Loader::fields() const { return work_->maker().fields(); }
int64_t Loader::batches_per_epoch() const { return work_->maker().order().batches_per_epoch(); }
int64_t Loader::samples_per_epoch() const { return work_->maker().order().samples_per_epoch(); }
std::string Loader::describe() const { return work_->maker().describe(); }

}  // namespace svengine
