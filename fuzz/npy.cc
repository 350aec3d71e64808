#include "importers/npy/npy.h"

#include "fuzz/support.h"

namespace svengine::fuzz {

void fuzz_npy(Bytes input) {
  const auto owner = std::make_shared<std::vector<std::byte>>(input.begin(), input.end());
  for (const std::shared_ptr<const void>& keeper : {std::shared_ptr<const void>(owner), std::shared_ptr<const void>()})
    if (const auto tensor = taken(parse_npy(*owner, keeper))) read_all(*tensor);
}

}  // namespace svengine::fuzz
