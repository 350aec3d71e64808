// Data sets made of data sets.
#pragma once
#include "runtime/dataset/dataset.h"

namespace svengine {

/// Samples first .. first+count-1 of another set.
Result<DataSetPtr> take(DataSetPtr set, int64_t first, int64_t count);

struct HeldOut {
  DataSetPtr training, held_out;
};

/// Holds out round(fraction * size) samples, at least one and not all, drawn by `seed`; both parts keep the order of the set.
/// fraction is in (0, 1).
Result<HeldOut> hold_out(const DataSetPtr& set, double fraction, uint64_t seed);

/// Sample i of both, as sentences and their translations: the fields of the first, then those of the second, called
/// <name> and <name>2 where they would be alike. The numbers of samples must agree. Labels and classes are the first's.
Result<DataSetPtr> pair(DataSetPtr first, DataSetPtr second);

}  // namespace svengine
