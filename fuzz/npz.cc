#include "importers/npy/npz.h"

#include "fuzz/support.h"

namespace svengine::fuzz {

void fuzz_npz(Bytes input) {
  const MemoryFile file(input);
  const auto names = taken(npz_names(file.path()));
  const auto all = taken(load_npz_all(file.path()));
  if (all && (!names || names->size() != all->size())) finding("names and arrays are not as many");
  if (!all) return;
  for (const NamedTensor& t : *all) read_all(t.tensor);
  if (all->size() == 1 && !load_npz(file.path(), {}).ok()) finding("the only array cannot be had without its name");
}

}  // namespace svengine::fuzz
