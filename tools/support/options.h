// Options that several subcommands share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "importers/image/image.h"
#include "runtime/session.h"
#include "tools/support/command_line.h"

namespace svengine::tool {

/// --threads, --topology, --shard, --kernels, --gemm, --no-flush-denormals, --exact-convolution, --no-optimize,
/// --cache, --memory-limit, --time-limit.
struct RuntimeOptions {
  int threads = 0;  // 0: OMP_NUM_THREADS, or every allowed cpu
  std::string topology;
  std::string kernels;
  std::string gemm;  // "openblas"; else our own
  bool keep_denormals = false;
  bool shard = false;
  bool exact_convolution = false;
  bool no_optimize = false;
  std::string cache;         // empty: none
  std::string memory_limit;  // "512M"; empty: none
  double time_limit = 0;     // seconds; 0: none
  std::optional<uint64_t> seed = {};  // SessionOptions::seed; no option of its own

  /// Also sets the process's limits (engine/base/limits.h), whose time begins then.
  Result<SessionOptions> resolve() const;
};
/// --threads, which it gives back, --kernels and --gemm alone.
Option* add_machine_options(Command& command, RuntimeOptions& options);
void add_runtime_options(Command& command, RuntimeOptions& options);

/// --exact-convolution alone.
Option* add_exact_convolution(Command& command, bool& exact);

/// --image-mean, --image-std, --image-raw: what happens to the pixels of an image.
void add_pixel_options(Command& command, ImageOptions& options);

/// Seed: uint64_t, or an optional one.
template <class Seed>
Option* add_seed(Command& command, Seed& seed, const std::string& description);

/// --input, --shape, --dim, --seed.
struct InputOptions {
  std::vector<std::string> files = {};   // NAME=FILE or FILE
  std::vector<std::string> shapes = {};  // NAME:1x3x224x224
  std::vector<std::string> dims = {};    // N=8
  std::optional<uint64_t> seed = {};     // of random inputs
  bool only_types = false;               // nobody looks at the values: empty ones stand for strings, sequences, optionals and maps
  std::string resize = {};               // --resize, of `run` only
  ImageOptions image = {};

  uint64_t seed_of_inputs() const { return seed.value_or(1); }
};
/// `also`: what else the seed is for, as help says it.
void add_input_options(Command& command, InputOptions& options, const std::string& also = "");
/// --shape and --dim alone; `default_size` is what help says behind --dim.
void add_shape_options(Command& command, InputOptions& options, const char* default_size = "");

/// A model file, and how strictly it is read.
struct ModelFile {
  std::string path;
  bool strict = false;
  std::vector<std::string> plugins = {};  // loaded
};
/// The MODEL argument, --strict and --plugin.
void add_model(Command& command, ModelFile& file, bool required = true);
/// --plugin alone.
void add_plugins(Command& command, std::vector<std::string>& plugins);

void add_json(Command& command, bool& json);

}  // namespace svengine::tool
