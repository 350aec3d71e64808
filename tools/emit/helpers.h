// Small C functions that several nodes call; each one is in the file if some node uses it.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"

namespace svengine::tool::emit {

class Helpers {
 public:
  /// Marks it, and gives back its name there. `name` is one of helpers.cc.
  std::string use(std::string_view name, DType type, const std::string& prefix);
  /// Definitions of those used.
  std::string text() const;

 private:
  std::map<std::string, std::string> used_;  // by name
};

}  // namespace svengine::tool::emit
