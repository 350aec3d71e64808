// What `svengine compare` prints.
#pragma once
#include <string>

#include "tools/support/json.h"
#include "validate/compare/compare_models.h"
#include "validate/compare/match_values.h"

namespace svengine::tool {

/// Who was compared; texts are printable.
struct ComparedSides {
  std::string model, kernels;
  bool optimised = true;
  std::string reference;
  const validate::ValueMatch* match = nullptr;  // of another model
  uint64_t seed = 0;
  double milliseconds = 0;
};

std::string title_of(const ComparedSides& sides);
/// `rows`: values of the table, those with the largest local errors; SIZE_MAX: all, in order.
std::string compare_text(const validate::CompareReport& report, const ComparedSides& sides, size_t rows);
Json compare_json(const validate::CompareReport& report, const ComparedSides& sides);

}  // namespace svengine::tool
