#include "fuzz/targets.h"

namespace svengine::fuzz {
namespace {

constexpr Target kTargets[] = {
    {"cache", fuzz_cache, 2048},     {"checkpoint", fuzz_checkpoint, 2048}, {"idx", fuzz_idx, 2048},
    {"image", fuzz_image, 4096},     {"model", fuzz_model, 8192},           {"npy", fuzz_npy, 1024},
    {"npz", fuzz_npz, 2048},         {"operator", fuzz_operator, 128},      {"recorded", fuzz_recorded, 512},
    {"subgraph", fuzz_subgraph, 256}, {"tensor", fuzz_tensor, 1024},        {"text", fuzz_text, 2048},
    {"tokens", fuzz_tokens, 1024},
};

}  // namespace

std::span<const Target> all_targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets)
    if (target.name == name) return &target;
  return nullptr;
}

}  // namespace svengine::fuzz
