#include "importers/idx/idx.h"

#include "fuzz/support.h"

namespace svengine::fuzz {

void fuzz_idx(Bytes input) {
  const std::vector<std::byte> bytes(input.begin(), input.end());
  if (const auto tensor = taken(parse_idx(bytes))) read_all(*tensor);
  const MemoryFile file(input);  // which may be gzipped
  if (const auto tensor = taken(load_idx(file.path()))) read_all(*tensor);
}

}  // namespace svengine::fuzz
