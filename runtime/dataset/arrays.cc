#include "runtime/dataset/arrays.h"

#include <algorithm>

#include "importers/io/names.h"
#include "importers/npy/npz.h"
#include "importers/tensor/load_tensor.h"
#include "runtime/dataset/tensors.h"

namespace svengine {
namespace {

bool could_be_labels(const FieldTensor& t) {
  constexpr std::string_view kNames[] = {"label", "labels", "y", "target", "targets"};
  const Dims& dims = t.tensor.dims();
  const bool one_each = dims.size() == 1 || (dims.size() == 2 && dims[1] == 1);
  return is_integer(t.tensor.type()) && one_each && std::ranges::find(kNames, t.name) != std::end(kNames);
}

/// The field of labels among them, or fields.size().
Result<size_t> find_labels(const std::vector<FieldTensor>& fields, const ArrayOptions& options) {
  if (options.label.empty()) return static_cast<size_t>(std::ranges::find_if(fields, could_be_labels) - fields.begin());
  for (size_t f = 0; f < fields.size(); ++f)
    if (fields[f].name == options.label) return f;
  std::string names;
  for (const FieldTensor& f : fields) names += (names.empty() ? "" : ", ") + f.name;
  return error("no array '{}' for the labels; there are: {}", printable(options.label), printable(names, 1000));
}

Result<DataSetPtr> make(std::vector<FieldTensor> fields, const ArrayOptions& options) {
  SV_ASSIGN(const size_t label, find_labels(fields, options));
  int64_t classes = 0;
  if (label < fields.size()) {
    Result<Labels> labels = make_labels(fields[label].tensor, options.classes);
    if (!labels.ok()) return std::move(labels).error().in(fmt::format("array '{}'", printable(fields[label].name)));
    fields[label] = {"label", labels->tensor};
    classes = labels->classes;
  }
  return make_tensor_data_set(fields, classes);
}

}  // namespace

Result<DataSetPtr> open_arrays(const std::vector<ArrayFile>& files, const ArrayOptions& options) {
  std::vector<FieldTensor> fields;
  for (const ArrayFile& file : files) {
    SV_ASSIGN(const Tensor tensor, load_tensor(file.path));
    const size_t number = fields.size() + 1;
    std::string name = file.field;
    if (name.empty()) name = number == 1 ? "data" : number == 2 ? "label" : fmt::format("data{}", number);
    fields.push_back({std::move(name), tensor});
  }
  return make(std::move(fields), options);
}

Result<DataSetPtr> open_npz(const std::string& path, const ArrayOptions& options) {
  SV_ASSIGN(std::vector<NamedTensor> arrays, load_npz_all(path));
  std::vector<FieldTensor> fields;
  for (NamedTensor& array : arrays) {
    SV_TRY(check_name("array", array.name));
    fields.push_back({std::move(array.name), std::move(array.tensor)});
  }
  Result<DataSetPtr> set = make(std::move(fields), options);
  if (!set.ok()) return std::move(set).error().in(printable(path));
  return set;
}

}  // namespace svengine
