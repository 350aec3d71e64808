// What a call costs a host program, by the C interface: call_latency MODEL [--rows N] [--callers N] [--seconds S]
//
//   call       one thread, on the caller's arrays: mean of runs of 64 calls, and single calls one by one (50 %, 99.9 %, the clock's own
//              time taken off)
//   callers    calls a second of N threads with a context each on one network, beside the same on N networks
//   start      loading the network, a context and the first call: the process's first, and the smallest of 15
//
// Sizes that the network leaves open are N rows. Run it on a machine that does nothing else; bench/onnxruntime_bench.py --starts 15 has the peer's.
#include <svengine/svengine.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); }

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "call_latency: %s: %s\n", what, svengine_last_error());
  std::exit(2);
}

void require(svengine_status status, const char* what) {
  if (status != SVENGINE_OK) fail(what);
}

/// A network and what one caller calls it with.
class Caller {
 public:
  Caller(svengine_network* network, int64_t rows) {
    require(svengine_context_create(network, nullptr, &context_), "context");
    int32_t inputs = 0, outputs = 0;
    require(svengine_network_counts(network, &inputs, &outputs), "counts");
    shapes_.resize(static_cast<size_t>(inputs));
    data_.resize(static_cast<size_t>(inputs));
    outputs_.resize(static_cast<size_t>(outputs));
    for (int32_t i = 0; i < inputs; ++i) add_input(network, i, rows);
  }
  ~Caller() { svengine_context_free(context_); }
  Caller(const Caller&) = delete;

  void call() {
    std::fill(outputs_.begin(), outputs_.end(), svengine_tensor{});
    require(svengine_run(context_, inputs_.data(), static_cast<int32_t>(inputs_.size()), outputs_.data(), static_cast<int32_t>(outputs_.size())),
            "run");
  }

 private:
  void add_input(const svengine_network* network, int32_t i, int64_t rows) {
    svengine_port port;
    require(svengine_network_input(network, i, &port), "input");
    size_t count = 1;
    for (int32_t d = 0; d < port.rank; ++d) {
      shapes_[static_cast<size_t>(i)].push_back(port.shape[d] < 0 ? rows : port.shape[d]);
      count *= static_cast<size_t>(shapes_[static_cast<size_t>(i)].back());
    }
    std::vector<double>& data = data_[static_cast<size_t>(i)];
    data.resize(count);  // wide enough for every type
    for (size_t k = 0; k < count; ++k) {
      const double value = 0.5 * std::sin(0.7 * static_cast<double>(k));
      if (port.type == SVENGINE_FLOAT32) reinterpret_cast<float*>(data.data())[k] = static_cast<float>(value);
      if (port.type == SVENGINE_FLOAT64) data[k] = value;  // others are zeros
    }
    inputs_.push_back(svengine_dense(port.type, port.rank, shapes_[static_cast<size_t>(i)].data(), data.data()));
  }

  svengine_context* context_ = nullptr;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::vector<double>> data_;
  std::vector<svengine_tensor> inputs_, outputs_;
};

svengine_network* load(const std::string& model) {
  svengine_network* network = nullptr;
  require(svengine_network_load(model.c_str(), nullptr, &network), "load");
  return network;
}

void measure_calls(const std::string& model, int64_t rows, double seconds) {
  svengine_network* network = load(model);
  {
    Caller caller(network, rows);
    for (int i = 0; i < 64; ++i) caller.call();
    std::vector<double> groups, single;
    double clock = 1e9;
    for (int i = 0; i < 1000; ++i) {
      const Clock::time_point begin = Clock::now();
      clock = std::min(clock, microseconds_since(begin));
    }
    for (const Clock::time_point begin = Clock::now(); microseconds_since(begin) < seconds * 1e6;) {
      const Clock::time_point group = Clock::now();
      for (int i = 0; i < 64; ++i) caller.call();
      groups.push_back(microseconds_since(group) / 64);
      for (int i = 0; i < 64; ++i) {
        const Clock::time_point one = Clock::now();
        caller.call();
        single.push_back(microseconds_since(one) - clock);
      }
    }
    std::sort(groups.begin(), groups.end());
    std::sort(single.begin(), single.end());
    const auto at = [](const std::vector<double>& sorted, double share) {
      return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
    };
    std::printf("call      mean of 64: %.3f us (smallest %.3f), single: p50 %.3f us, p99 %.3f, p99.9 %.3f (%.2f of p50), of %zu\n", at(groups, 0.5),
                groups.front(), at(single, 0.5), at(single, 0.99), at(single, 0.999), at(single, 0.999) / at(single, 0.5), single.size());
  }
  svengine_network_free(network);
}

/// Calls a second of all threads together; entry i of `networks` is thread i's.
double throughput(const std::vector<svengine_network*>& networks, int64_t rows, double seconds) {
  std::vector<double> rates(networks.size());
  std::vector<std::thread> threads;
  for (size_t t = 0; t < networks.size(); ++t)
    threads.emplace_back([&, t] {
      Caller caller(networks[t], rows);
      for (int i = 0; i < 64; ++i) caller.call();
      int64_t calls = 0;
      const Clock::time_point begin = Clock::now();
      for (; microseconds_since(begin) < seconds * 1e6; calls += 64)
        for (int i = 0; i < 64; ++i) caller.call();
      rates[t] = static_cast<double>(calls) / microseconds_since(begin) * 1e6;
    });
  for (std::thread& t : threads) t.join();
  double sum = 0;
  for (const double r : rates) sum += r;
  return sum;
}

void measure_callers(const std::string& model, int64_t rows, size_t callers, double seconds) {
  std::vector<svengine_network*> own(callers);
  for (svengine_network*& n : own) n = load(model);
  std::vector<double> ratios, shared;
  for (int round = 0; round < 7; ++round) {
    shared.push_back(throughput(std::vector<svengine_network*>(callers, own.front()), rows, seconds / 14));
    ratios.push_back(shared.back() / throughput(own, rows, seconds / 14));
  }
  for (svengine_network* n : own) svengine_network_free(n);
  std::sort(ratios.begin(), ratios.end());
  std::sort(shared.begin(), shared.end());
  std::printf("callers   %zu threads on one network: %.0f calls/s, %.3f of %zu networks (median of 7)\n", callers, shared[3], ratios[3], callers);
}

void measure_start(const std::string& model, int64_t rows) {
  double first = 0, least = 1e18;
  for (int i = 0; i < 15; ++i) {
    const Clock::time_point begin = Clock::now();
    svengine_network* network = load(model);
    {
      Caller caller(network, rows);
      caller.call();
      const double time = microseconds_since(begin);
      if (i == 0) first = time;
      least = std::min(least, time);
    }
    svengine_network_free(network);
  }
  std::printf("start     %.0f us, the first %.0f\n", least, first);
}

}  // namespace

int main(int argc, char** argv) {
  std::string model;
  int64_t rows = 1;
  size_t callers = 8;
  double seconds = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool valued = word.rfind("--", 0) == 0 && i + 1 < argc;
    if (valued && word == "--rows") rows = std::atoll(argv[++i]);
    else if (valued && word == "--callers") callers = static_cast<size_t>(std::atoll(argv[++i]));
    else if (valued && word == "--seconds") seconds = std::atof(argv[++i]);
    else if (model.empty() && word.rfind("--", 0) != 0) model = word;
    else model.clear(), i = argc;
  }
  if (model.empty() || rows < 1 || callers < 1 || !(seconds > 0)) {
    std::fprintf(stderr, "usage: call_latency MODEL [--rows N] [--callers N] [--seconds S]\n");
    return 2;
  }
  measure_start(model, rows);  // before anything else has been loaded
  measure_calls(model, rows, seconds);
  measure_callers(model, rows, callers, seconds);
}
