#include "engine/graph/attribute.h"

#include <algorithm>
#include <atomic>

#include "engine/graph/attribute_tables.h"

namespace svengine {

std::string_view name_of(AttributeKind kind) {
  static constexpr std::string_view names[] = {"int", "float", "string", "ints", "floats", "strings", "tensor", "graph"};
  return names[static_cast<size_t>(kind)];
}

const std::vector<Attributes::Entry>& Attributes::entries() const {
  static const std::vector<Entry> none;
  return entries_ ? *entries_ : none;
}

std::vector<Attributes::Entry>& Attributes::own_entries() {
  if (!entries_ || entries_.use_count() > 1) entries_ = std::make_shared<std::vector<Entry>>(entries());
  std::atomic_thread_fence(std::memory_order_acquire);  // the last other holder has read all it wanted
  tables_ = std::make_shared<AttributeTables>();
  return *entries_;
}

const Attribute* Attributes::find(std::string_view name) const {
  for (const Entry& e : entries())
    if (e.first == name) return &e.second;
  return nullptr;
}

void Attributes::set(std::string name, Attribute value) {
  std::vector<Entry>& own = own_entries();
  for (Entry& e : own)
    if (e.first == name) {
      e.second = std::move(value);
      return;
    }
  own.emplace_back(std::move(name), std::move(value));
}

void Attributes::erase(std::string_view name) {
  if (has(name)) std::erase_if(own_entries(), [&](const Entry& e) { return e.first == name; });
}

int64_t Attributes::get_int(std::string_view name, int64_t default_value) const {
  const auto* v = get<int64_t>(name);
  return v ? *v : default_value;
}

DType Attributes::get_dtype(std::string_view name, DType default_value) const {
  const auto* v = get<int64_t>(name);
  return v ? dtype_from_number(*v).value_or(DType::undefined) : default_value;
}

float Attributes::get_float(std::string_view name, float default_value) const {
  const auto* v = get<float>(name);
  return v ? *v : default_value;
}

std::string Attributes::get_string(std::string_view name, std::string default_value) const {
  const auto* v = get<std::string>(name);
  return v ? *v : std::move(default_value);
}

std::vector<int64_t> Attributes::get_ints(std::string_view name, std::vector<int64_t> default_value) const {
  const auto* v = get<std::vector<int64_t>>(name);
  return v ? *v : std::move(default_value);
}

}  // namespace svengine
