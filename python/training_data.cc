#include "python/training_data.h"

#include <algorithm>

#include "python/bindings.h"
#include "python/model_source.h"
#include "python/tensor_in.h"
#include "runtime/dataset/open.h"
#include "runtime/dataset/tensors.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

constexpr const char* kTargets[] = {"target", "label", "labels", "targets", "y"};

bool is_target(const std::string& name) { return std::find(std::begin(kTargets), std::end(kTargets), name) != std::end(kTargets); }

DataSetPtr arrays(const nb::dict& dict, const std::string& what) {
  std::vector<FieldTensor> fields;
  int64_t classes = 0;
  for (const auto& [key, value] : dict) {
    const std::string name = nb::str(key).c_str();
    Tensor tensor = tensor_from_array(value, fmt::format("{}['{}']", what, name));
    if (is_target(name) && is_integer(tensor.type()) && tensor.type() != DType::i64 && tensor.dims().size() == 1) {
      Labels labels = value_of(make_labels(tensor, 0));
      tensor = labels.tensor;
      classes = labels.classes;
    }
    fields.push_back({name, std::move(tensor)});
  }
  Result<DataSetPtr> set = make_tensor_data_set(fields, classes);
  if (!set.ok()) throw EngineError(std::move(set).error().in(what));
  return std::move(set).value();
}

/// Images of bytes become float32, others where they are to be normalised.
std::optional<ImageTransformOptions> transform_of(const DataSet& set, const BatchOptions& options) {
  for (const Field& f : set.fields())
    if (f.dims.size() == 3 && (f.type == DType::u8 || (f.type == DType::f32 && !(options.mean.empty() && options.std.empty()))))
      return ImageTransformOptions{.field = f.name, .mean = options.mean, .std = options.std};
  return std::nullopt;
}

std::string ports_text(const std::vector<Session::Port>& ports) {
  std::string out;
  for (const Session::Port& p : ports) out += (out.empty() ? "" : ", ") + p.name + " " + to_string(p.type);
  return out;
}

Status check_fit(const Field& field, const Session::Port& port) {
  const Shape& shape = port.type.shape;
  bool fits = field.type == port.type.dtype && (!shape.has_rank() || shape.rank() == static_cast<int64_t>(field.dims.size()) + 1);
  for (size_t i = 0; fits && shape.has_rank() && i < field.dims.size(); ++i)
    fits = !shape[i + 1].is_static() || shape[i + 1].value() == field.dims[i];
  if (fits) return {};
  return error("'{}' needs {}, but a batch of '{}' is {}[N{}{}]", port.name, to_string(port.type), field.name, name_of(field.type),
               field.dims.empty() ? "" : "x", field.dims.empty() ? std::string() : to_string(field.dims));
}

}  // namespace

DataSetPtr open_data(nb::handle data, Split split, const std::string& what) {
  if (PyDict_Check(data.ptr())) return arrays(nb::borrow<nb::dict>(data), what);
  DataSetOptions options;
  options.split = split;
  return value_of(open_dataset(path_from_python(data), options));
}

Result<std::unique_ptr<DataBatches>> DataBatches::create(DataSetPtr set, const BatchOptions& options, const FieldNames& names,
                                                         const Trainer& trainer) {
  auto out = std::make_unique<DataBatches>();
  LoaderOptions loader;
  loader.order = {.batch = options.batch, .shuffle = options.shuffle, .seed = options.seed, .drop_last = options.drop_last};
  loader.image = transform_of(*set, options);
  loader.threads = options.threads;
  const int64_t classes = set->classes();
  SV_ASSIGN(out->loader_, Loader::create(std::move(set), loader));
  SV_TRY(out->match(names, trainer));
  if (trainer.classes() > 0 && classes > trainer.classes())
    return error("the data tell {} classes apart (labels 0 to {}), the network only {}: its prediction needs {} values a sample", classes,
                 classes - 1, trainer.classes(), classes);
  return out;
}

Status DataBatches::match(const FieldNames& names, const Trainer& trainer) {
  const std::vector<Field>& fields = loader_->fields();
  const auto field_of = [&](const std::string& port, const auto& is_it) -> Result<size_t> {
    const auto named = std::find_if(names.begin(), names.end(), [&](const auto& pair) { return pair.first == port; });
    for (size_t i = 0; i < fields.size(); ++i)
      if (named != names.end() ? fields[i].name == named->second : is_it(fields[i].name)) return i;
    return error("the data are {}: none of it is {}, of a network with the inputs {}; fields={{input: field}} says which is which",
                 to_string(fields), port == "target" ? "the target, " + to_string(trainer.target().type) : "input '" + port + "'",
                 ports_text(trainer.data()));
  };
  for (const auto& [port, field] : names) {
    const auto is_it = [&port = port](const Session::Port& p) { return p.name == port; };
    if (port != "target" && std::none_of(trainer.data().begin(), trainer.data().end(), is_it))
      return error("fields: the network has no input '{}'; it has {}, and 'target' is what its answer is compared with", port,
                   ports_text(trainer.data()));
  }
  for (const Session::Port& p : trainer.data()) {
    SV_ASSIGN(const size_t field, field_of(p.name, [&](const std::string& name) { return name == p.name; }));
    SV_TRY(check_fit(fields[field], p));
    data_fields_.push_back(field);
  }
  SV_ASSIGN(target_field_, field_of("target", is_target));
  return check_fit(fields[target_field_], trainer.target());
}

EpochPosition DataBatches::position() const {
  const LoaderPosition at = loader_->position();
  return {at.epoch, at.batch};
}

Result<TrainingBatch> DataBatches::next() {
  SV_ASSIGN(const Batch batch, loader_->next());
  TrainingBatch out;
  for (const size_t f : data_fields_) out.data.push_back(batch.tensors[f]);
  out.target = batch.tensors[target_field_];
  out.rows = batch.rows();
  out.notes = batch.problems;
  return out;
}

}  // namespace svengine::python
