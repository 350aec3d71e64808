#include "tools/train/data.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "importers/io/names.h"
#include "runtime/dataset/combine.h"
#include "runtime/dataset/image_folder.h"
#include "runtime/dataset/open.h"

namespace svengine::tool {
namespace {

struct Sets {
  DataSetPtr training, held_out;
};

/// Images become grey where the network takes one channel.
int channels_for(const Trainer& trainer) {
  for (const Session::Port& p : trainer.data())
    if (p.type.dtype == DType::f32 && p.type.shape.rank() == 4 && p.type.shape[1].is_static() && p.type.shape[1].value() == 1) return 1;
  return ImageOptions().channels;
}

Result<DataSetPtr> open_part(const std::string& path, Split split, const DataOptions& o, int channels) {
  DataSetOptions options;
  options.split = split;
  options.token_stream = o.tokens > 0;
  options.tokens.length = o.tokens;
  options.image.height = options.image.width = static_cast<int>(o.resize);
  options.image.channels = channels;
  return open_dataset(path, options);
}

Result<Sets> open_sets(const DataOptions& o, int channels) {
  Sets out;
  SV_ASSIGN(out.training, open_part(o.data, Split::train, o, channels));
  if (o.hold_out > 0) {
    SV_ASSIGN(HeldOut parts, hold_out(out.training, o.hold_out, o.seed));
    return Sets{parts.training, parts.held_out};
  }
  if (o.validate.empty()) return out;
  if (o.validate != "test") {
    SV_ASSIGN(out.held_out, open_part(o.validate, Split::test, o, channels));
    return out;
  }
  if (!std::filesystem::is_directory(o.data) || is_image_folder(o.data))
    return error("--validate test: {} has no part of its own for that; name another source, or use --hold-out SHARE",
                 printable(o.data));
  SV_ASSIGN(out.held_out, open_part(o.data, Split::test, o, channels));
  return out;
}

/// "crop=4,flip"
Status parse_augment(const std::string& text, ImageTransformOptions& out) {
  for (std::string_view rest = text; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    if (part == "flip") {
      out.random_flip = true;
    } else if (part.starts_with("crop=")) {
      const std::string_view number = part.substr(5);
      const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), out.pad);
      if (problem != std::errc() || end != number.data() + number.size() || out.pad < 1 || out.pad > 4096)
        return error("--augment {}: crop={} needs a number of pixels, 1 to 4096", text, number);
      out.random_crop = true;
    } else {
      return error("--augment {}: '{}' is not known; there are crop=PIXELS and flip", text, part);
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {};
}

/// Images become float32; other data stay as they are.
Result<std::optional<ImageTransformOptions>> transform_of(const DataSet& set, const DataOptions& o) {
  const auto& fields = set.fields();
  const auto image = std::find_if(fields.begin(), fields.end(), [](const Field& f) {
    return f.dims.size() == 3 && (f.type == DType::u8 || f.type == DType::f32);
  });
  const bool wanted = !o.augment.empty() || !o.mean.empty() || !o.std.empty();
  if (image == fields.end()) {
    if (wanted) return error("{} has no images to augment or normalise: its fields are {}", printable(o.data), to_string(fields));
    return std::optional<ImageTransformOptions>();
  }
  if (image->type == DType::f32 && !wanted) return std::optional<ImageTransformOptions>();
  ImageTransformOptions out;
  out.field = image->name;
  out.mean = o.mean;
  out.std = o.std;
  SV_TRY(parse_augment(o.augment, out));
  return std::optional(out);
}

Result<std::unique_ptr<Loader>> loader_of(const DataSetPtr& set, const DataOptions& o, bool training) {
  LoaderOptions options;
  options.order = {.batch = o.batch, .shuffle = training && !o.in_order, .seed = o.seed, .drop_last = training && o.drop_last};
  SV_ASSIGN(options.image, transform_of(*set, o));
  if (options.image && !training) options.image->pad = 0, options.image->random_crop = options.image->random_flip = false;
  if (o.skip_bad) options.bad = training ? BadSamples::replace : BadSamples::leave_out;
  options.threads = o.threads;
  return Loader::create(set, options);
}

std::string ports_text(const std::vector<Session::Port>& ports) {
  std::string out;
  for (const Session::Port& p : ports) out += (out.empty() ? "" : ", ") + p.name + " " + to_string(p.type);
  return out;
}

Result<size_t> field_named(const std::vector<Field>& fields, const std::string& name) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return i;
  return error("the data have no field '{}'; they are {}", name, to_string(fields));
}

/// The shape of a sample against that of a port, whose dimension 0 is the batch.
Status check_fit(const Field& field, const Session::Port& port, const char* what) {
  const Shape& shape = port.type.shape;
  bool fits = field.type == port.type.dtype && (!shape.has_rank() || shape.rank() == static_cast<int64_t>(field.dims.size()) + 1);
  for (size_t i = 0; fits && shape.has_rank() && i < field.dims.size(); ++i)
    fits = !shape[i + 1].is_static() || shape[i + 1].value() == field.dims[i];
  if (fits) return {};
  return error("{} '{}' needs {}, but a batch of field '{}' is {}[Nx{}]", what, port.name, to_string(port.type), field.name,
               name_of(field.type), field.dims.empty() ? std::string() : to_string(field.dims));
}

}  // namespace

Status TrainingData::match(const DataOptions& options, const Trainer& trainer) {
  const std::vector<Field>& fields = training_->fields();
  std::vector<bool> taken(fields.size(), false);
  constexpr size_t kNone = SIZE_MAX;
  data_fields_.assign(trainer.data().size(), kNone);
  target_field_ = kNone;
  for (const std::string& text : options.fields) {
    const size_t equals = text.find('=');
    if (equals == text.npos) return error("--field {}: needs the form INPUT=FIELD", text);
    Result<size_t> field = field_named(fields, text.substr(equals + 1));
    if (!field.ok()) return std::move(field).error().in("--field " + text);
    const std::string input = text.substr(0, equals);
    const auto port =
        std::find_if(trainer.data().begin(), trainer.data().end(), [&](const Session::Port& p) { return p.name == input; });
    if (port != trainer.data().end())
      data_fields_[static_cast<size_t>(port - trainer.data().begin())] = *field;
    else if (input == "target")
      target_field_ = *field;
    else
      return error("--field {}: the network has no input '{}'; it has {} (and 'target' is what its answer is compared with)",
                   text, input, ports_text(trainer.data()));
    taken[*field] = true;
  }
  for (const char* name : {"label", "labels", "target", "targets", "y"})
    for (size_t i = 0; i < fields.size(); ++i)
      if (target_field_ == kNone && !taken[i] && fields[i].name == name) target_field_ = i, taken[i] = true;
  for (size_t i = 0; i < data_fields_.size(); ++i)
    for (size_t f = 0; f < fields.size(); ++f)
      if (data_fields_[i] == kNone && !taken[f] && fields[f].name == trainer.data()[i].name) data_fields_[i] = f, taken[f] = true;
  for (size_t& place : data_fields_) {
    const size_t next = static_cast<size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    if (place != kNone || next == fields.size()) continue;
    place = next, taken[next] = true;
  }
  if (target_field_ == kNone) {
    const size_t next = static_cast<size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    if (next < fields.size()) target_field_ = next;
  }
  if (target_field_ == kNone || std::find(data_fields_.begin(), data_fields_.end(), kNone) != data_fields_.end())
    return error(
        "the data have {}, too few for the network's inputs {} and the target {}; --field INPUT=FIELD says which is which",
        to_string(fields), ports_text(trainer.data()), to_string(trainer.target().type));
  for (size_t i = 0; i < data_fields_.size(); ++i) SV_TRY(check_fit(fields[data_fields_[i]], trainer.data()[i], "input"));
  SV_TRY(check_fit(fields[target_field_], trainer.target(), "the"));
  if (trainer.classes() > 0 && fields[target_field_].name == "label" && set_->classes() > trainer.classes())
    return error("the data tell {} classes apart (labels 0 to {}), the network only {}: its prediction needs {} values a sample",
                 set_->classes(), set_->classes() - 1, trainer.classes(), set_->classes());
  return {};
}

Result<TrainingData> TrainingData::open(const DataOptions& options, const Trainer& trainer) {
  TrainingData out;
  SV_ASSIGN(const Sets sets, open_sets(options, channels_for(trainer)));
  out.set_ = sets.training;
  SV_ASSIGN(out.training_, loader_of(sets.training, options, true));
  SV_TRY(out.match(options, trainer));
  if (!sets.held_out) return out;
  SV_ASSIGN(out.held_out_, loader_of(sets.held_out, options, false));
  if (out.held_out_->fields() != out.training_->fields())
    return error("held-out data have {}, the training data {}", to_string(out.held_out_->fields()),
                 to_string(out.training_->fields()));
  return out;
}

TrainingBatch TrainingData::feed(const Batch& batch) const {
  TrainingBatch out;
  for (size_t f : data_fields_) out.data.push_back(batch.tensors[f]);
  out.target = batch.tensors[target_field_];
  out.rows = batch.rows();
  return out;
}

EpochPosition LoaderBatches::position() const {
  const LoaderPosition at = loader_.position();
  return {at.epoch, at.batch};
}

Result<TrainingBatch> LoaderBatches::next() {
  SV_ASSIGN(const Batch batch, loader_.next());
  TrainingBatch out = data_.feed(batch);
  for (const std::string& problem : batch.problems) out.notes.push_back(fmt::format("{} ({})", problem, bad_));
  return out;
}

std::string TrainingData::describe() const {
  return fmt::format("{} samples of {}{}", set_->size(), to_string(set_->fields()),
                     held_out_ ? fmt::format("; {} held out", held_out_->samples_per_epoch()) : "");
}

}  // namespace svengine::tool
