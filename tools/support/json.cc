#include "tools/support/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/support/output.h"

namespace svengine::tool {

Json::Json(std::initializer_list<Json> list) {
  const bool members = std::all_of(list.begin(), list.end(), [](const Json& item) {
    return item.kind_ == Kind::array && item.values_.size() == 2 && std::holds_alternative<std::string>(item.values_[0].scalar_);
  });
  kind_ = members ? Kind::object : Kind::array;
  if (!members) {
    values_ = list;
    return;
  }
  for (const Json& item : list) (*this)[std::get<std::string>(item.values_[0].scalar_)] = item.values_[1];
}

void Json::push_back(Json value) {
  kind_ = Kind::array;
  values_.push_back(std::move(value));
}

Json& Json::operator[](std::string_view name) {
  kind_ = Kind::object;
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at != names_.end()) return values_[static_cast<size_t>(at - names_.begin())];
  names_.emplace_back(name);
  return values_.emplace_back();
}

void Json::update(const Json& other) {
  for (size_t i = 0; i < other.names_.size(); ++i) (*this)[other.names_[i]] = other.values_[i];
}

struct JsonWriter {
  static nlohmann::ordered_json convert(const Json& json) {
    using Out = nlohmann::ordered_json;
    if (json.kind_ == Json::Kind::array) {
      Out out = Out::array();
      for (const Json& value : json.values_) out.push_back(convert(value));
      return out;
    }
    if (json.kind_ == Json::Kind::object) {
      Out out = Out::object();
      for (size_t i = 0; i < json.names_.size(); ++i) out[json.names_[i]] = convert(json.values_[i]);
      return out;
    }
    return std::visit([](const auto& value) { return Out(value); }, json.scalar_);
  }
};

std::string Json::text() const {
  return JsonWriter::convert(*this).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void put_json(const Json& json) { put(json.text() + '\n'); }

}  // namespace svengine::tool
