// Random graphs, run in all the ways that must make no difference: check.h says which.
//
//   differential [--seed FIRST] [--count N] [--time SECONDS] [--kernels SET,SET,...] [--keep-going]
//                [--damaged | --other-shapes | --converted | --write FOLDER]
//
// Graphs have consecutive seeds. What is found is printed with its seed, made small, in the graph's text form; then the exit code is 1.
// `--seed S --count 1` repeats it. Without --keep-going the first finding ends the test. What --damaged, --other-shapes, --converted and
// --write do say damage.h, other_shapes.h, converted.h and written.h.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "tests/differential/minimise.h"

using namespace svengine;
using namespace svengine::differential;

namespace {

/// Graphs of one child: a new one now and then, so that what earlier graphs left in memory does not grow.
constexpr uint64_t kBatch = 2000;

struct Arguments {
  uint64_t seed = 1, count = 1000;
  double seconds = std::numeric_limits<double>::infinity();
  bool keep_going = false, counted = false;
  WorkerOptions worker;
};

[[noreturn]] void usage(const std::string& problem) {
  fmt::print(
      stderr,
      "differential: {}\nusage: differential [--seed FIRST] [--count N] [--time SECONDS] [--kernels SET,SET] [--keep-going]\n"
      "                    [--damaged | --other-shapes | --converted | --write FOLDER]\n",
      problem);
  std::exit(2);
}

uint64_t number(const char* text) {
  char* end = nullptr;
  const uint64_t n = std::strtoull(text, &end, 10);
  if (end == text || *end) usage(fmt::format("'{}' is no number", text));
  return n;
}

void add_kernels(Arguments& out, std::string_view names) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    const kernels::KernelTable* set = kernels::find_kernel_set(name);
    if (!set) usage(fmt::format("there is no kernel set '{}' here", name));
    out.worker.kernels.push_back(set);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
}

bool takes_no_value(Arguments& out, std::string_view option) {
  if (option == "--keep-going")
    out.keep_going = true;
  else if (option == "--damaged")
    out.worker.check = Check::damaged;
  else if (option == "--other-shapes")
    out.worker.check = Check::other_shapes;
  else if (option == "--converted")
    out.worker.check = Check::converted;
  else
    return false;
  return true;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (takes_no_value(out, option)) continue;
    if (i + 1 == argc) usage(fmt::format("what is '{}'?", option));
    const char* value = argv[++i];
    if (option == "--seed")
      out.seed = number(value);
    else if (option == "--count")
      out.count = number(value), out.counted = true;
    else if (option == "--time")
      out.seconds = static_cast<double>(number(value));
    else if (option == "--write")
      out.worker.check = Check::written, out.worker.folder = value;
    else if (option == "--kernels")
      add_kernels(out, value);
    else
      usage(fmt::format("what is '{}'?", option));
  }
  if (!out.counted && out.seconds < std::numeric_limits<double>::infinity())
    out.count = std::numeric_limits<uint64_t>::max() - out.seed;
  return out;
}

/// The plain double-precision kernels first, where there are such: the others are compared with them.
void add_all_kernels(Arguments& out) {
  const kernels::KernelTable* reference = kernels::find_kernel_set("reference");
  if (reference) out.worker.kernels.push_back(reference);
  for (const kernels::KernelTable* set : kernels::available_kernel_sets())
    if (set != reference) out.worker.kernels.push_back(set);
}

void report(const WorkerOptions& worker, uint64_t seed, const std::string& in_a_row) {
  const Outcome whole = run_one(worker, seed, nullptr, false);
  fmt::print("seed {}: {}\n", seed, whole.failed ? whole.text : "failed in a row of graphs, but not alone: " + in_a_row);
  if (!whole.failed) return;
  const Outcome small = minimise(worker, seed);
  fmt::print("made small:\n{}{}\n", small.text, small.graph);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OMP_WAIT_POLICY", "passive", 0);
  Arguments arguments = parse(argc, argv);
  if (arguments.worker.kernels.empty()) add_all_kernels(arguments);
  if (arguments.worker.kernels.empty()) usage("this processor runs none of the kernel sets");

  const double start = monotonic_seconds(), until = start + arguments.seconds;
  uint64_t next = arguments.seed, computed = 0, findings = 0;
  const uint64_t end = arguments.seed + arguments.count;
  while (next < end && monotonic_seconds() < until && (findings == 0 || arguments.keep_going)) {
    const BatchResult batch = run_batch(arguments.worker, next, std::min(end, next + kBatch), until);
    next = batch.next, computed += batch.computed;
    if (!batch.failed) continue;
    ++findings;
    report(arguments.worker, next - 1, batch.text);
  }
  const double took = monotonic_seconds() - start;
  fmt::print("{} seeds from {}, {} graphs checked, {} findings, {:.0f} s, {:.0f} graphs/s\n", next - arguments.seed,
             arguments.seed, computed, findings, took, static_cast<double>(computed) / took);
  return findings ? 1 : 0;
}
