// Byte 0: whether checksums are made right, which no change of bytes would do; then the manifest's length in two bytes, the manifest
// without
// its last line, and the data.
#include "runtime/checkpoint/checkpoint.h"

#include <filesystem>

#include "engine/base/hash.h"
#include "fuzz/support.h"
#include "runtime/checkpoint/manifest.h"

namespace svengine::fuzz {
namespace {

std::string ended(const std::string& text) { return text + fmt::format("end {:016x}\n", hash64(std::string_view(text))); }

/// With the hashes of the tensors as they are in the data.
std::string with_hashes(const std::string& text, Bytes data) {
  std::optional<Manifest> manifest = taken(parse_manifest(ended(text)));
  if (!manifest) return ended(text);
  for (ManifestTensor& t : manifest->tensors)
    if (t.offset <= data.size() && t.bytes <= data.size() - t.offset) t.hash = hash64(data.subspan(t.offset, t.bytes));
  const std::string right = write_manifest(*manifest);
  if (!parse_manifest(right).ok()) finding("what was written is refused:\n" + right);
  return right;
}

}  // namespace

void fuzz_checkpoint(Bytes input) {
  Reader reader(input);
  const auto flags = reader.take<uint8_t>();
  const Bytes front = reader.take_bytes(reader.take<uint16_t>());
  const std::string text(reinterpret_cast<const char*>(front.data()), front.size());
  const std::string manifest = flags & 2 ? text : flags & 1 ? ended(text) : with_hashes(text, reader.rest());
  static const std::string folder = [] {
    const std::string path = scratch_folder() + "/checkpoint";
    std::filesystem::create_directory(path);
    return path;
  }();
  write_scratch("checkpoint/checkpoint-00000001.manifest", std::as_bytes(std::span(manifest)));
  write_scratch("checkpoint/checkpoint-00000001.data", reader.rest());
  const auto loaded = taken(load_newest_checkpoint(folder));
  if (!loaded || !*loaded) return;
  for (const CheckpointTensor& t : (*loaded)->content.tensors) read_all(t.tensor);
  for (const auto& [name, value] : (*loaded)->content.metadata.values()) {
    taken((*loaded)->content.metadata.integer(name));
    taken((*loaded)->content.metadata.unsigned_integer(name));
    taken((*loaded)->content.metadata.number(name));
  }
}

}  // namespace svengine::fuzz
