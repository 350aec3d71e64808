#include "tools/support/samples.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include "importers/io/names.h"
#include "importers/npy/npz.h"
#include "runtime/dataset/open.h"
#include "tools/support/test_data_set.h"
#include "tools/support/inputs.h"
#include "tools/support/tensor_files.h"

namespace svengine::tool {
namespace {

namespace fs = std::filesystem;
using Ports = std::vector<Session::Port>;

/// Samples of one path.
struct Source {
  std::string path;
  size_t count = 0;
  std::function<Result<std::vector<Tensor>>(size_t)> read;
};

/// Rows [begin, begin + rows) in memory of their own.
Result<Tensor> rows_of(const Tensor& all, int64_t begin, int64_t rows) {
  Dims dims = all.dims();
  const size_t bytes = dims[0] ? all.byte_size() / static_cast<size_t>(dims[0]) : 0;
  dims[0] = rows;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(all.type(), std::move(dims)));
  if (out.byte_size()) std::memcpy(out.raw(), all.raw() + static_cast<size_t>(begin) * bytes, out.byte_size());
  return out;
}

/// Pixels [rows, channels, ...] of 8 bits as a network of real numbers takes them; what fits already stays. Grey images may lack the
/// dimension of channels.
Result<Tensor> fit_to(const Session::Port& port, Tensor rows, const ImageOptions& pixels) {
  const Shape& shape = port.type.shape;
  const bool grey = shape.rank() == static_cast<int64_t>(rows.dims().size()) + 1 && shape.rank() == 4 && shape[1] == Dim(1);
  if (grey) {
    Dims dims = rows.dims();
    dims.insert(dims.begin() + 1, 1);
    rows = rows.reshaped(std::move(dims));
  }
  if (rows.type() != DType::u8 || port.type.dtype != DType::f32) return rows;
  const Dims& dims = rows.dims();
  const int64_t channels = dims.size() > 1 ? dims[1] : 1, inner = rows.count() / std::max<int64_t>(1, dims[0] * channels);
  for (const std::vector<float>& values : {pixels.mean, pixels.std})
    if (values.size() > 1 && static_cast<int64_t>(values.size()) != channels)
      return error("--image-mean and --image-std have {} numbers, the data {} channels", values.size(), channels);
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, dims));
  const auto of = [](const std::vector<float>& values, int64_t c, float none) {
    return values.empty() ? none : values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
  };
  const float scale = pixels.unit_range ? 1.0f / 255 : 1.0f;
  for (int64_t i = 0; i < rows.count(); ++i) {
    const int64_t c = i / inner % channels;
    const auto at = static_cast<size_t>(i);
    out.data<float>()[at] = (static_cast<float>(rows.data<uint8_t>()[at]) * scale - of(pixels.mean, c, 0)) / of(pixels.std, c, 1);
  }
  return out;
}

class SourceMaker {
 public:
  SourceMaker(const Ports& ports, const SampleOptions& options) : ports_(ports), options_(options) {}

  Status add(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return add_folder(path);
    if (is_image_file(path)) return add_image(path), Status();
    const std::string ending = fs::path(path).extension().string();
    const bool is_array =
        ending == ".npy" || ending == ".npz" || ending == ".pb" || ending == ".idx" || path.ends_with("-ubyte") || path.ends_with(".gz");
    if (is_array && fs::exists(path, ignored)) return add_arrays(path);
    return add_data_set(path);
  }

  std::vector<Source> take() { return std::move(sources_); }

 private:
  /// Rows of a sample: what the network says, where it says so.
  int64_t batch() const {
    for (const Session::Port& port : ports_)
      if (port.type.shape.rank() > 0 && port.type.shape[0].is_static() && port.type.shape[0].value() > 0) return port.type.shape[0].value();
    return options_.batch;
  }

  Status add_folder(const std::string& path) {
    if (const Result<std::vector<std::string>> sets = find_test_data_sets(path); sets.ok()) {
      sources_.push_back({path, sets->size(), [sets = *sets, ports = ports_](size_t i) { return load_set_inputs(sets[i], ports); }});
      return {};
    }
    std::vector<std::string> images;
    std::error_code problem;
    fs::directory_iterator it(path, problem);
    for (; !problem && it != fs::directory_iterator(); it.increment(problem))
      if (is_image_file(it->path().string())) images.push_back(it->path().string());
    if (problem) return error("{}: {}", printable(path), problem.message());
    std::sort(images.begin(), images.end());
    for (const std::string& image : images) add_image(image);
    return images.empty() ? add_data_set(path) : Status();
  }

  void add_image(const std::string& path) {
    InputOptions one{.files = {path}, .resize = options_.resize, .image = options_.image};
    sources_.push_back({path, 1, [this_ports = ports_, one](size_t) -> Result<std::vector<Tensor>> {
                          SV_ASSIGN(Inputs inputs, make_inputs(this_ports, one, {}));
                          return std::move(inputs.tensors);
                        }});
  }

  Status add_arrays(const std::string& path) {
    std::vector<Tensor> all;
    for (const Session::Port& port : ports_) {
      if (ports_.size() > 1 && is_npz_file(path)) {
        SV_ASSIGN(const std::vector<std::string> names, npz_names(path));
        if (std::find(names.begin(), names.end(), port.name) == names.end())
          return error("{}: has no array for input '{}' {}", printable(path), printable(port.name), to_string(port.type));
      } else if (ports_.size() > 1) {
        return error("{}: the network has {} inputs: give a folder of sets (input_0, input_1, ...), or an .npz with an array for each",
                     printable(path), ports_.size());
      }
      SV_ASSIGN(Tensor tensor, load_tensor_file(path, port.name, options_.image, port.type.dtype));
      if (tensor.dims().empty() || (!all.empty() && tensor.dims()[0] != all[0].dims()[0]))
        return error("{}: the array for input '{}' has not as many rows as the others, or none", printable(path), printable(port.name));
      all.push_back(std::move(tensor));
    }
    if (all.empty()) return error("{}: the network has no input", printable(path));
    const int64_t rows = all[0].dims()[0], each = std::min(batch(), rows);
    if (rows == 0 || rows < batch_if_fixed()) return error("{}: holds {} rows, the network takes {} at a time", printable(path), rows, batch());
    const auto read = [all, each, ports = ports_, pixels = options_.image](size_t i) -> Result<std::vector<Tensor>> {
      std::vector<Tensor> out;
      for (size_t p = 0; p < all.size(); ++p) {
        SV_ASSIGN(Tensor part, rows_of(all[p], static_cast<int64_t>(i) * each, each));
        SV_ASSIGN(part, fit_to(ports[p], std::move(part), pixels));
        out.push_back(std::move(part));
      }
      return out;
    };
    sources_.push_back({path, static_cast<size_t>(rows / each), read});
    return {};
  }

  int64_t batch_if_fixed() const { return batch() == options_.batch ? 1 : batch(); }

  Status add_data_set(const std::string& path) {
    DataSetOptions how;
    for (const Session::Port& port : ports_) {
      const Shape& s = port.type.shape;
      if (s.rank() == 4 && s[1].is_static() && s[2].is_static() && s[3].is_static())
        how.image.channels = static_cast<int>(s[1].value()), how.image.height = static_cast<int>(s[2].value()),
        how.image.width = static_cast<int>(s[3].value());
    }
    SV_ASSIGN(const DataSetPtr set, open_dataset(path, how));
    const std::vector<Field>& fields = set->fields();
    std::vector<size_t> of_port;
    std::vector<bool> taken(fields.size());
    for (const Session::Port& port : ports_) {
      size_t field = 0;
      while (field < fields.size() && (taken[field] || fields[field].name != port.name)) ++field;
      if (field == fields.size()) field = static_cast<size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
      if (field == fields.size()) return error("{}: has {}, the network {} inputs", printable(path), to_string(fields), ports_.size());
      taken[field] = true;
      of_port.push_back(field);
    }
    const int64_t each = std::min(batch(), set->size());
    if (set->size() < batch_if_fixed() || set->size() == 0)
      return error("{}: holds {} samples, the network takes {} at a time", printable(path), set->size(), batch());
    const auto read = [set, of_port, each, ports = ports_, pixels = options_.image](size_t i) {
      return read_rows(*set, of_port, static_cast<int64_t>(i) * each, each, ports, pixels);
    };
    sources_.push_back({path, static_cast<size_t>(set->size() / each), read});
    return {};
  }

  static Result<std::vector<Tensor>> read_rows(const DataSet& set, const std::vector<size_t>& of_port, int64_t begin, int64_t rows,
                                               const Ports& ports, const ImageOptions& pixels) {
    std::vector<MutableTensor> batch;
    for (const Field& field : set.fields()) {
      Dims dims = field.dims;
      dims.insert(dims.begin(), rows);
      SV_ASSIGN(MutableTensor tensor, Tensor::allocate(field.type, std::move(dims)));
      batch.push_back(std::move(tensor));
    }
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<std::byte*> places;
      for (size_t f = 0; f < batch.size(); ++f) places.push_back(batch[f].raw() + static_cast<size_t>(r) * set.fields()[f].bytes());
      SV_TRY(set.read(begin + r, places));
    }
    std::vector<Tensor> out;
    for (size_t p = 0; p < ports.size(); ++p) {
      SV_ASSIGN(Tensor fitted, fit_to(ports[p], batch[of_port[p]], pixels));
      out.push_back(std::move(fitted));
    }
    return out;
  }

  const Ports& ports_;
  const SampleOptions& options_;
  std::vector<Source> sources_;
};

class Samples final : public validate::InputSamples {
 public:
  Samples(std::vector<Source> sources, size_t most) : sources_(std::move(sources)) {
    size_t all = 0;
    for (const Source& source : sources_) all += source.count;
    const size_t taken = std::min(all, most);
    for (size_t i = 0; i < taken; ++i) {
      size_t at = i * all / taken, source = 0;
      while (at >= sources_[source].count) at -= sources_[source++].count;
      chosen_.emplace_back(source, at);
    }
  }
  size_t size() const override { return chosen_.size(); }
  std::string name(size_t index) const override {
    const auto [source, at] = chosen_[index];
    const std::string path = printable(sources_[source].path);
    return sources_[source].count == 1 ? path : fmt::format("{}, sample {}", path, at);
  }
  Result<std::vector<Tensor>> read(size_t index) override {
    const auto [source, at] = chosen_[index];
    Result<std::vector<Tensor>> out = sources_[source].read(at);
    if (!out.ok()) return std::move(out).error().in(printable(sources_[source].path));
    return out;
  }

 private:
  std::vector<Source> sources_;
  std::vector<std::pair<size_t, size_t>> chosen_;
};

}  // namespace

void add_sample_options(Command& command, SampleOptions& options) {
  constexpr const char* kGroup = "Samples";
  command.add_option("--calibrate", options.paths, "Folders of test_data_set_N or images, data sets, array or image files")
      ->type_name("PATH")
      ->group(kGroup);
  command.add_option("--samples", options.most, "At most so many, at equal distances (default: 256)")
      ->check(within(int64_t{1}, int64_t{1} << 30))
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--batch", options.batch, "Rows of a sample, where the network leaves that open (default: 1)")
      ->check(within(int64_t{1}, int64_t{1} << 20))
      ->type_name("N")
      ->group(kGroup);
  command.add_option("--resize", options.resize, "Images: the shorter side's length, as 256, or WIDTHxHEIGHT")->type_name("SIZE")->group(kGroup);
  command.add_option("--image-mean", options.image.mean, "Subtracted from pixels, per channel or for all")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("M[,M,M]")
      ->group(kGroup);
  command.add_option("--image-std", options.image.std, "What pixels are divided by after that")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("S[,S,S]")
      ->group(kGroup);
  command.add_flag("--image-raw", [&options] { options.image.unit_range = false; }, "Pixels from 0 to 255 instead of 0 to 1")->group(kGroup)
      ->rare();
  command.add_flag("--image-bgr", options.image.bgr, "Channels in the order blue, green, red")->group(kGroup)->rare();
}

Result<std::unique_ptr<validate::InputSamples>> open_samples(const Ports& ports, const SampleOptions& options) {
  if (options.paths.empty()) return error("--calibrate is missing: inputs are needed on which the network is run");
  SourceMaker maker(ports, options);
  for (const std::string& path : options.paths) {
    Status status = maker.add(path);
    if (!status.ok()) return std::move(status).error().in("--calibrate");
  }
  return std::unique_ptr<validate::InputSamples>(std::make_unique<Samples>(maker.take(), static_cast<size_t>(options.most)));
}

}  // namespace svengine::tool
