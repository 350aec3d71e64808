#include "runtime/work_stealing.h"

#include <omp.h>

#include <catch2/catch.hpp>

#include "runtime/barrier.h"

namespace work_stealing_test {
using namespace svengine;

namespace {

/// One thread deals for all, then `thread` alone takes everything there is.
std::vector<TaskRange> taken_by(int thread, const std::string& topology, int64_t tasks, int64_t grain) {
  const Topology t = parse_topology(topology).value();
  WorkQueues shares(t);
  for (int i = 0; i < t.threads(); ++i) shares.push(i, 0, tasks);
  std::vector<TaskRange> out;
  for (TaskRange r = shares.pop_or_steal(thread, 0, tasks, grain); !r.empty(); r = shares.pop_or_steal(thread, 0, tasks, grain)) out.push_back(r);
  return out;
}

int64_t total(const std::vector<TaskRange>& ranges) {
  int64_t n = 0;
  for (const TaskRange& r : ranges) n += r.end - r.begin;
  return n;
}

/// Steps of changing sizes by a real team; how often a task did not run exactly once.
int wrong_counts(const std::string& topology, int steps) {
  const Topology t = parse_topology(topology).value();
  WorkQueues shares(t);
  Barrier barrier(t, true);
  const auto tasks_of = [](int step) { return int64_t{step * 37 % 101}; };
  std::vector<std::vector<std::atomic<int>>> runs(static_cast<size_t>(steps));
  for (int s = 0; s < steps; ++s) runs[static_cast<size_t>(s)] = std::vector<std::atomic<int>>(static_cast<size_t>(tasks_of(s)));
#pragma omp parallel num_threads(t.threads())
  {
    const int me = omp_get_thread_num();
    shares.push(me, 0, tasks_of(0));
    for (int s = 0; s < steps; ++s) {
      const auto step = static_cast<size_t>(s);
      if (s + 1 < steps) shares.push(me, step + 1, tasks_of(s + 1));
      const auto next = [&] { return shares.pop_or_steal(me, step, tasks_of(s), 1 + s % 3); };
      for (TaskRange r = next(); !r.empty(); r = next())
        for (int64_t i = r.begin; i < r.end; ++i) ++runs[step][static_cast<size_t>(i)];
      barrier.wait(me);
    }
  }
  int wrong = 0;
  for (const auto& step : runs)
    for (const std::atomic<int>& count : step) wrong += count != 1;
  return wrong;
}

}  // namespace

TEST_CASE("every task of every step runs once, whoever runs it") {
  omp_set_dynamic(0);
  for (const char* topology : {"1x1", "1x2", "1x3", "1x8", "2x4", "1x9", "4x12"}) {
    INFO(topology);
    CHECK(wrong_counts(topology, topology[0] == '4' ? 20 : 300) == 0);
  }
}

TEST_CASE("a thread takes its own share from the front, then the others' from the end") {
  const std::vector<TaskRange> ranges = taken_by(0, "1x2", 64, 1);
  CHECK(total(ranges) == 64);
  CHECK(ranges[0].begin == 0);
  CHECK(ranges[0].end == 16);
  size_t i = 1;
  for (; ranges[i].begin < 32; ++i) CHECK(ranges[i].begin == ranges[i - 1].end);
  CHECK(ranges[i].end == 64);
  CHECK(ranges[i].begin == 56);
}

TEST_CASE("nobody helps in a large group or in another one") {
  CHECK(total(taken_by(1, "1x12", 1200, 1)) == 100);
  CHECK(taken_by(1, "1x12", 1200, 1).size() == 1);
  CHECK(total(taken_by(0, "2x2", 400, 1)) == 200);
  CHECK(total(taken_by(0, "1x1", 400, 1)) == 400);
}

TEST_CASE("ranges are no smaller than the grain or a 16th of a share") {
  for (const TaskRange& r : taken_by(0, "1x2", 200, 30)) CHECK(r.end - r.begin >= 30);
  for (const TaskRange& r : taken_by(1, "1x4", 6400, 1)) CHECK(r.end - r.begin >= 100);
  CHECK(taken_by(0, "1x2", 200, 1000).size() == 2);
}

TEST_CASE("more tasks than halves of a word count are taken as a whole") {
  const int64_t many = int64_t{1} << 33;
  const std::vector<TaskRange> ranges = taken_by(1, "1x2", many, 1);
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].begin == many / 2);
  CHECK(ranges[0].end == many);
}

TEST_CASE("what was dropped is not taken in the next run") {
  WorkQueues shares(parse_topology("1x2").value());
  shares.push(0, 0, 100);
  shares.push(0, 1, 100);
  shares.clear(0);
  CHECK(shares.pop_or_steal(1, 0, 100, 1).empty());
  CHECK(shares.pop_or_steal(0, 1, 100, 1).empty());
}
}  // namespace work_stealing_test
