#include "runtime/dataset/combine.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/random.h"

namespace svengine {
namespace {

class Selection final : public DataSet {
 public:
  Selection(DataSetPtr set, std::vector<int64_t> samples)
      : DataSet(static_cast<int64_t>(samples.size()), set->fields(), set->classes(), set->class_names()),
        set_(std::move(set)),
        samples_(std::move(samples)) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    return set_->read(samples_[static_cast<size_t>(index)], destination);
  }

  DataSetPtr set_;
  std::vector<int64_t> samples_;
};

class Pair final : public DataSet {
 public:
  Pair(DataSetPtr first, DataSetPtr second, std::vector<Field> fields)
      : DataSet(first->size(), std::move(fields), first->classes(), first->class_names()),
        first_(std::move(first)),
        second_(std::move(second)) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    const size_t split = first_->fields().size();
    SV_TRY(first_->read(index, destination.first(split)));
    return second_->read(index, destination.subspan(split));
  }

  DataSetPtr first_, second_;
};

}  // namespace

Result<DataSetPtr> take(DataSetPtr set, int64_t first, int64_t count) {
  if (first < 0 || count < 1 || first > set->size() || count > set->size() - first)
    return error("{} samples from number {} on cannot be taken of {}", count, first, set->size());
  std::vector<int64_t> samples(static_cast<size_t>(count));
  std::iota(samples.begin(), samples.end(), first);
  return DataSetPtr(std::make_shared<Selection>(std::move(set), std::move(samples)));
}

Result<HeldOut> hold_out(const DataSetPtr& set, double fraction, uint64_t seed) {
  if (!(fraction > 0 && fraction < 1)) return error("the held-out fraction is between 0 and 1, not {}", fraction);
  if (set->size() < 2) return error("a data set of {} sample cannot be parted", set->size());
  const auto wanted = static_cast<int64_t>(std::llround(fraction * static_cast<double>(set->size())));
  const auto count = static_cast<std::ptrdiff_t>(std::clamp<int64_t>(wanted, 1, set->size() - 1));
  std::vector<int64_t> order = permutation(RandomStream(seed).at("hold out"), set->size());
  std::vector<int64_t> held(order.begin(), order.begin() + count), rest(order.begin() + count, order.end());
  std::ranges::sort(held);
  std::ranges::sort(rest);
  return HeldOut{std::make_shared<Selection>(set, std::move(rest)), std::make_shared<Selection>(set, std::move(held))};
}

Result<DataSetPtr> pair(DataSetPtr first, DataSetPtr second) {
  if (first->size() != second->size())
    return error("a pair of data sets has {} and {} samples: they must agree", first->size(), second->size());
  std::vector<Field> fields = first->fields();
  for (Field field : second->fields()) {
    const auto taken = [&](const std::string& name) {
      return std::ranges::any_of(fields, [&](const Field& f) { return f.name == name; });
    };
    const std::string name = field.name;
    for (int number = 2; taken(field.name); ++number) field.name = fmt::format("{}{}", name, number);
    fields.push_back(std::move(field));
  }
  return DataSetPtr(std::make_shared<Pair>(std::move(first), std::move(second), std::move(fields)));
}

}  // namespace svengine
