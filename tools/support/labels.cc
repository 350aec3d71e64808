#include "tools/support/labels.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "engine/base/memory.h"
#include "validate/compare/element.h"

namespace svengine::tool {
namespace {

/// Not negative, and of sum 1 but for rounding.
bool is_distribution(const std::vector<double>& row) {
  constexpr double kRounding = 1e-3;
  double sum = 0;
  for (double v : row) {
    if (!(v >= 0)) return false;
    sum += v;
  }
  return std::abs(sum - 1) < kRounding;
}

}  // namespace

Result<std::vector<std::string>> load_labels(const std::string& path) {
  constexpr size_t kMostBytes = size_t{64} << 20;
  SV_ASSIGN(const auto file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (text.size() > kMostBytes) return error("{}: is too large for a list of labels", path);
  std::vector<std::string> labels;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    begin = end + 1;
  }
  return labels;
}

std::vector<Candidate> best_of(const Tensor& scores, int64_t begin, int64_t size, size_t count) {
  std::vector<double> row;
  for (int64_t i = 0; i < size; ++i) row.push_back(validate::element_as_double(scores, begin + i));
  std::vector<int64_t> order(row.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto key = [&](int64_t i) { return std::isnan(row[static_cast<size_t>(i)]) ? -HUGE_VAL : row[static_cast<size_t>(i)]; };
  count = std::min(count, row.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(count), order.end(),
                    [&](int64_t a, int64_t b) { return key(a) != key(b) ? key(a) > key(b) : a < b; });
  const bool given = is_distribution(row);
  const double largest = order.empty() ? 0 : key(order[0]);
  double sum = 0;
  for (double v : row) sum += std::exp(v - largest);
  std::vector<Candidate> out;
  for (size_t i = 0; i < count; ++i) {
    const double score = row[static_cast<size_t>(order[i])];
    out.push_back({order[i], score, given ? score : std::exp(score - largest) / sum});
  }
  return out;
}

std::string label_of(const std::vector<std::string>& labels, int64_t index) {
  if (static_cast<size_t>(index) < labels.size()) return labels[static_cast<size_t>(index)];
  return fmt::format("class {}", index);
}

}  // namespace svengine::tool
