#include "tools/support/options.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "engine/base/limits.h"
#include "engine/kernels/openblas/openblas.h"
#include "engine/ops/registry.h"
#include "runtime/plugin.h"

namespace svengine::tool {
namespace {

constexpr int kMostThreads = 4096;
constexpr const char* kMachine = "Machine";  // the options' heading
constexpr const char* kOpenBlas = "openblas";

/// "512M", "1.5G", "1000000": bytes; K, M, G and T are powers of 1024.
std::optional<size_t> parse_bytes(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit[0]) + 1;
  if (problem != std::errc() || unit.size() > 1 || power > 4 || (!unit.empty() && power == 0)) return std::nullopt;
  const double bytes = std::ldexp(value, static_cast<int>(10 * power));
  if (!(bytes >= 1) || bytes > std::ldexp(1.0, 60)) return std::nullopt;
  return static_cast<size_t>(bytes);
}

std::string refuse_bytes(const std::string& text) {
  return parse_bytes(text) ? std::string() : "'" + text + "' is no number of bytes, like 512M or 1.5G";
}

void add_limits(Command& command, RuntimeOptions& options) {
  command
      .add_option("--memory-limit", options.memory_limit,
                  "Refuse what takes more memory: 512M, 2G\ncounted are tensors, arenas and packed weights, before anything is computed in them "
                  "(default: no limit)")
      ->check(Check(refuse_bytes))
      ->type_name("SIZE")
      ->group(kMachine)
      ->rare();
  command.add_option("--time-limit", options.time_limit, "Give up after so many seconds\nlooked at between the trips of loops and the parts of a run")
      ->check(within(0.001, 1e9))
      ->type_name("S")
      ->group(kMachine)
      ->rare();
}

}  // namespace

Result<SessionOptions> RuntimeOptions::resolve() const {
  SessionOptions out;
  if (!memory_limit.empty()) {
    (void)all_ops();  // the program's own tables are not the network's
    set_memory_limit(parse_bytes(memory_limit).value_or(0));
  }
  if (std::isnan(time_limit)) return error("--time-limit: not a number of seconds");
  if (time_limit > 0) set_time_limit(time_limit);
  out.flush_denormals = !keep_denormals;
  out.shard = shard;
  out.exact_convolution = exact_convolution;
  out.optimize = !no_optimize;
  out.cache = cache;
  out.seed = seed;
  if (!topology.empty()) {
    SV_ASSIGN(out.topology, parse_topology(topology));
  } else {
    out.topology = detect_topology(threads);
  }
  if (!kernels.empty()) {
    Result<const kernels::KernelTable*> set = kernels::select_kernel_set(kernels);
    if (!set.ok()) return std::move(set).error().in("--kernels");
    out.kernels = *set;
  }
  if (gemm == kOpenBlas) {
    Result<const kernels::KernelTable*> set = kernels::with_openblas(out.kernels ? *out.kernels : *kernels::all_kernel_sets().front());
    if (!set.ok()) return std::move(set).error().in("--gemm");
    out.kernels = *set;
  }
  return out;
}

Option* add_exact_convolution(Command& command, bool& exact) {
  return command.add_flag("--exact-convolution", exact,
                          "No Winograd convolutions\nslower, but 3 x 3 convolutions round about ten times more precisely")
      ->rare();
}

Option* add_machine_options(Command& command, RuntimeOptions& options) {
  Option* threads = command.add_option("--threads", options.threads, "Threads (default: OMP_NUM_THREADS, or every allowed cpu)")
                        ->check(within(1, kMostThreads))
                        ->type_name("N")
                        ->group(kMachine);
  command.add_option("--kernels", options.kernels,
                     "avx2, avx512, sve512, or reference: double precision, slowly (default: the best here)")
      ->offer({"avx2", "avx512", "sve512", "reference"})
      ->type_name("SET")
      ->group(kMachine);
  command
      .add_option("--gemm", options.gemm,
                  "Whose matrix products: svengine, or openblas\nof MatMul, Gemm, Einsum, dense and recurrent layers, in float and double (default: "
                  "svengine)")
      ->check(one_of({"svengine", kOpenBlas}))
      ->type_name("LIBRARY")
      ->group(kMachine)
      ->rare();
  return threads;
}

void add_runtime_options(Command& command, RuntimeOptions& options) {
  Option* threads = add_machine_options(command, options);
  command.add_option("--topology", options.topology, "Groups of threads, as 4x12 for A64FX's four groups of 12, on whatever cpus there are")
      ->type_name("GxT")
      ->excludes(threads)
      ->group(kMachine)
      ->rare();
  command.add_flag("--shard", options.shard, "Cut the batch: every core group computes its samples on its own copy of the weights")
      ->group(kMachine)
      ->rare();
  command.add_flag("--no-flush-denormals", options.keep_denormals, "Compute with subnormal numbers (slow on A64FX) instead of zeros")
      ->group(kMachine)
      ->rare();
  add_exact_convolution(command, options.exact_convolution)->group(kMachine);
  command.add_flag("--no-optimize", options.no_optimize,
                   "Compute every node by itself, as it stands in the file\n(slow): does a surprising result come from the network?")
      ->group(kMachine)
      ->rare();
  command.add_option("--cache", options.cache,
                     "Keep packed weights in this folder: the next start with the same model, program and kernels maps them "
                     "instead of packing them again")
      ->check(Check([](const std::string& folder) { return folder.empty() ? "a folder is needed" : std::string(); }))
      ->type_name("DIR")
      ->group(kMachine)
      ->rare();
  add_limits(command, options);
}

void add_pixel_options(Command& command, ImageOptions& options) {
  constexpr const char* kGroup = "Images";
  command.add_option("--image-mean", options.mean, "Subtracted from pixels\none number, or one for each channel (default: 0)")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("M[,M,M]")
      ->group(kGroup);
  command.add_option("--image-std", options.std, "Pixels are divided by this after that\none number, or one for each channel (default: 1)")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("S[,S,S]")
      ->group(kGroup);
  command.add_flag("--image-raw", [&options] { options.unit_range = false; }, "Pixels from 0 to 255 instead of 0 to 1")
      ->group(kGroup)
      ->rare();
}

template <class Seed>
Option* add_seed(Command& command, Seed& seed, const std::string& description) {
  // CLI11 would take -1 for 2^64 - 1.
  const auto digits = [](const std::string& text) {
    const bool good = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    return good ? std::string() : fmt::format("'{}' is no number from 0 to 2^64 - 1", text);
  };
  return command.add_option("--seed", seed, description)->check(Check(digits))->type_name("SEED");
}
template Option* add_seed(Command& command, uint64_t& seed, const std::string& description);
template Option* add_seed(Command& command, std::optional<uint64_t>& seed, const std::string& description);

void add_shape_options(Command& command, InputOptions& options, const char* default_size) {
  constexpr const char* kGroup = "Inputs";
  command.add_option("--shape", options.shapes, "The shape of an input that no file is given for, as image:1x3x224x224")
      ->one_at_a_time()
      ->type_name("NAME:SHAPE")
      ->group(kGroup);
  command.add_option("--dim", options.dims, fmt::format("The size of a symbolic dimension, as N=8{}", default_size))
      ->one_at_a_time()
      ->type_name("DIM=SIZE")
      ->group(kGroup);
}

void add_input_options(Command& command, InputOptions& options, const std::string& also) {
  constexpr const char* kGroup = "Inputs";
  command.add_option("--input", options.files,
                     "An input from a file: .npy, .npz, ONNX .pb, IDX, or an image .png, .jpg\nNAME may be left out when the network has one "
                     "input, or for an .npz with the inputs' names. Several files for one input are joined along dimension 0")
      ->one_at_a_time()
      ->type_name("NAME=FILE")
      ->group(kGroup);
  add_shape_options(command, options, " (default: 1)");
  add_seed(command, options.seed, "Of the random inputs that stand in for those not given (default: 1)" + also)->group(kGroup);
}

void add_model(Command& command, ModelFile& file, bool required) {
  Option* path = command.add_option("MODEL", file.path, "ONNX file")->type_name("");
  if (required) path->required();
  command.add_flag("--strict", file.strict, "Refuse what is otherwise a warning: contradictory shapes, unsorted nodes, missing imports")
      ->rare();
  add_plugins(command, file.plugins);
}

void add_plugins(Command& command, std::vector<std::string>& plugins) {
  // Loaded as the command line is read, so that every command finds their operators, whatever way it takes to its models.
  const auto load = [](const std::string& path) {
    const Status status = load_plugin(path);
    return status.ok() ? std::string() : status.error().message();
  };
  command.add_option("--plugin", plugins, "Load operators from a shared library (svengine/operators.h)")
      ->one_at_a_time()
      ->type_name("FILE")
      ->check(Check(load))
      ->rare();
}

void add_json(Command& command, bool& json) { command.add_flag("--json", json, "Print JSON, for programs"); }

}  // namespace svengine::tool
