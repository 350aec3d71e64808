// JSON as the program prints it.
#pragma once
#include <nlohmann/json.hpp>

#include "tools/support/output.h"

namespace svengine::tool {

using Json = nlohmann::ordered_json;

/// Indented; bytes that are not UTF-8 become U+FFFD. NaN and infinity, which JSON has not, become null.
inline void put_json(const Json& json) { put(json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n'); }

}  // namespace svengine::tool
