// What is fuzzed: functions that take any bytes and must come back, within bounded time and memory, with a result or an error that has
// words.
// Each is a file <name>.cc, with a folder corpus/<name>/ of small inputs.
//
//   libfuzzer.cc   the targets under libFuzzer (clang, preset fuzz; tools/fuzz.sh runs them)
//   replay.cc      the corpus through the same functions, in every build: a test
//
// A target ends the program by finding() where it sees what must not be; sanitizers, limits on memory and a timeout see the rest.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace svengine::fuzz {

using Bytes = std::span<const std::byte>;

struct Target {
  std::string_view name;
  void (*run)(Bytes);
  size_t most_bytes;  // of an input: longer ones only make it slow
};

std::span<const Target> all_targets();
/// Null: there is none of that name.
const Target* find_target(std::string_view name);

void fuzz_cache(Bytes);       // packed weights and the table of model files that were read
void fuzz_checkpoint(Bytes);  // a generation of a training's state
void fuzz_idx(Bytes);
void fuzz_image(Bytes);     // PNG, JPEG, BMP, PGM, PPM
void fuzz_model(Bytes);     // an ONNX file: checked, imported, run, written again
void fuzz_npy(Bytes);
void fuzz_npz(Bytes);
void fuzz_operator(Bytes);  // one node: attributes, types, shapes, values
void fuzz_recorded(Bytes);  // the index of a folder of recorded values
void fuzz_subgraph(Bytes);  // a graph of nested If, Loop and Scan, made of the bytes
void fuzz_tensor(Bytes);    // TensorProto, SequenceProto, OptionalProto, MapProto
void fuzz_text(Bytes);      // the text form of a graph
void fuzz_tokens(Bytes);    // lines of tokens

}  // namespace svengine::fuzz
