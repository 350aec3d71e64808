#include "tools/support/inputs.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/support/output.h"
#include "tools/support/tensor_files.h"

namespace svengine::tool {
namespace {

using Port = Session::Port;

std::string names_of(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& p : ports) out += fmt::format("{}'{}' {}", out.empty() ? "" : ", ", p.name, to_string(p.type));
  return out.empty() ? "none" : out;
}

std::optional<size_t> find_port(const std::vector<Port>& ports, std::string_view name) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name) return i;
  return std::nullopt;
}

std::optional<int64_t> parse_size(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

/// "1x3x224x224", "[1,3,224,224]" or "scalar".
std::optional<Dims> parse_dims(std::string_view text) {
  char separator = 'x';
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2), separator = ',';
  Dims dims;
  if (text.empty() || text == "scalar") return dims;
  while (true) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::optional<int64_t> size = parse_size(text.substr(0, end));
    if (!size) return std::nullopt;
    dims.push_back(*size);
    if (end == text.size()) return dims;
    text.remove_prefix(end + 1);
  }
}

/// Collects what is known of the inputs, then fills in the rest.
class InputMaker {
 public:
  InputMaker(const std::vector<Port>& ports, const InputOptions& options, const IndexBounds& bounds)
      : ports_(ports), options_(options), bounds_(bounds), files_(ports.size()), shapes_(ports.size()) {}

  Result<Inputs> run() {
    out_.seed = options_.seed_of_inputs();
    for (const std::string& spec : options_.dims) SV_TRY(read_dim(spec));
    for (const std::string& spec : options_.shapes) SV_TRY(read_shape(spec));
    SV_TRY(read_files());
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (files_[i].empty()) continue;
      Result<Tensor> joined = join_tensors(files_[i]);
      if (!joined.ok()) return std::move(joined).error().in(fmt::format("input '{}'", ports_[i].name));
      files_[i] = {std::move(joined).value()};
      bind_symbols(i, files_[i][0].dims());
    }
    for (size_t i = 0; i < ports_.size(); ++i)
      if (shapes_[i]) bind_symbols(i, *shapes_[i]);
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (!files_[i].empty()) {
        out_.tensors.push_back(files_[i][0]);
        continue;
      }
      Result<Tensor> made = make_random(i);
      if (!made.ok()) return std::move(made).error().in(fmt::format("input '{}'", ports_[i].name));
      out_.tensors.push_back(std::move(made).value());
    }
    return std::move(out_);
  }

 private:
  Status read_dim(const std::string& spec) {
    const size_t equals = spec.rfind('=');
    const auto size = equals == spec.npos ? std::nullopt : parse_size(std::string_view(spec).substr(equals + 1));
    if (!size) return error("--dim {}: expected a dimension's name and its size, as N=8", spec);
    std::string symbol = spec.substr(0, equals), known;
    for (const Port& p : ports_)
      for (const Dim& d : p.type.shape.has_rank() ? p.type.shape.dims() : std::vector<Dim>())
        if (d.is_symbolic() && known.find('\'' + d.symbol() + '\'') == known.npos)
          known += (known.empty() ? "'" : ", '") + d.symbol() + '\'';
    if (known.find('\'' + symbol + '\'') == known.npos)
      return error("--dim {}: the inputs have no dimension '{}'; they have: {}", spec, symbol,
                   known.empty() ? "none with a name" : known);
    symbols_[symbol] = *size;
    return {};
  }

  Status read_shape(const std::string& spec) {
    size_t colon = spec.rfind(':');
    std::optional<size_t> port;
    if (colon != spec.npos) port = find_port(ports_, std::string_view(spec).substr(0, colon));
    else if (ports_.size() == 1) port = 0;
    if (!port) return error("--shape {}: expected NAME:1x3x224x224 with an input of the network: {}", spec, names_of(ports_));
    const std::string text = spec.substr(colon == spec.npos ? 0 : colon + 1);
    const std::optional<Dims> dims = parse_dims(text);
    if (!dims) return error("--shape {}: '{}' is no shape such as 1x3x224x224", spec, text);
    SV_TRY(check_dims(*dims));
    const Port& p = ports_[*port];
    bool fits = !p.type.shape.has_rank() || p.type.shape.rank() == static_cast<int64_t>(dims->size());
    for (size_t i = 0; fits && p.type.shape.has_rank() && i < dims->size(); ++i)
      fits = !p.type.shape[i].is_static() || p.type.shape[i].value() == (*dims)[i];
    if (!fits) return error("--shape {}: input '{}' is {}", spec, p.name, to_string(p.type));
    shapes_[*port] = *dims;
    return {};
  }

  Status read_files() {
    for (const std::string& spec : options_.files) {
      const auto [port, path] = split_spec(spec);
      if (port) {
        SV_TRY(read_file(*port, path));
      } else if (is_npz_file(spec)) {
        SV_TRY(read_archive(spec));
      } else {
        return error("--input {}: expected NAME=FILE with an input of the network: {}", spec, names_of(ports_));
      }
    }
    return {};
  }

  /// Names and paths may both have '=' in them: the longest name that is an input's wins.
  std::pair<std::optional<size_t>, std::string> split_spec(const std::string& spec) const {
    for (size_t equals = spec.rfind('='); equals != spec.npos && equals > 0; equals = spec.rfind('=', equals - 1))
      if (const auto port = find_port(ports_, std::string_view(spec).substr(0, equals))) return {port, spec.substr(equals + 1)};
    if (ports_.size() == 1 && spec.find('=') == spec.npos) return {0, spec};
    return {std::nullopt, spec};
  }

  Status read_file(size_t port, const std::string& path) {
    ImageOptions image;
    if (is_image_file(path)) {
      Result<ImageOptions> fitted = fit_image(ports_[port].type);
      if (!fitted.ok()) return std::move(fitted).error().in(fmt::format("input '{}'", ports_[port].name));
      image = *fitted;
    }
    Result<Tensor> tensor = load_tensor_file(path, ports_[port].name, image, ports_[port].type.dtype);
    if (!tensor.ok()) return std::move(tensor).error().in(fmt::format("input '{}'", ports_[port].name));
    files_[port].push_back(std::move(tensor).value());
    return {};
  }

  Status read_archive(const std::string& path) {
    SV_ASSIGN(const std::vector<std::string> names, npz_names(path));
    bool any = false;
    for (const std::string& name : names)
      if (const auto port = find_port(ports_, name)) {
        SV_TRY(read_file(*port, path));
        any = true;
      }
    if (any) return {};
    return error("{}: no array has the name of an input; the network has {}", path, names_of(ports_));
  }

  /// Channels, their place and the size in pixels, from the input's type.
  Result<ImageOptions> fit_image(const Type& type) const {
    ImageOptions out = options_.image;
    const Shape& s = type.shape;
    const auto is_channels = [&](size_t i) { return s[i].is_static() && (s[i].value() == 1 || s[i].value() == 3); };
    if (s.rank() != 4 || !(is_channels(1) || is_channels(3)) || (type.dtype != DType::f32 && type.dtype != DType::u8))
      return error("an image needs an input of float32 or uint8, [N, 1 or 3, H, W] or [N, H, W, 1 or 3]; this one is {}", to_string(type));
    out.type = type.dtype;
    out.channels_last = !is_channels(1);
    out.channels = static_cast<int>(s[out.channels_last ? 3 : 1].value());
    const Dim &h = s[out.channels_last ? 1 : 2], &w = s[out.channels_last ? 2 : 3];
    constexpr int64_t kMostSide = 1 << 16;
    const bool sized = h.is_static() && w.is_static() && h.value() <= kMostSide && w.value() <= kMostSide;
    if (!options_.resize.empty()) {
      const std::optional<Dims> size = parse_dims(options_.resize);
      const bool good = size && (size->size() == 1 || size->size() == 2) &&
                        std::all_of(size->begin(), size->end(), [](int64_t v) { return v >= 1 && v <= kMostSide; });
      if (!good) return error("--resize {}: expected the length of the shorter side, as 256, or WIDTHxHEIGHT", options_.resize);
      if (size->size() == 1) out.shorter_side = static_cast<int>((*size)[0]);
      else out.width = static_cast<int>((*size)[0]), out.height = static_cast<int>((*size)[1]);
      if (sized) out.crop_width = static_cast<int>(w.value()), out.crop_height = static_cast<int>(h.value());
    } else if (sized) {
      out.width = static_cast<int>(w.value()), out.height = static_cast<int>(h.value());
    }
    return out;
  }

  /// Sizes of symbolic dimensions that a file or --shape has decided. The session refuses contradictions.
  void bind_symbols(size_t port, const Dims& dims) {
    const Shape& shape = ports_[port].type.shape;
    if (shape.rank() != static_cast<int64_t>(dims.size())) return;
    for (size_t i = 0; i < dims.size(); ++i)
      if (shape[i].is_symbolic()) symbols_.emplace(shape[i].symbol(), dims[i]);
  }

  Result<Dims> dims_of(size_t port) {
    if (shapes_[port]) return *shapes_[port];
    const Shape& shape = ports_[port].type.shape;
    if (!shape.has_rank()) return error("its rank is not known: give --shape {}:1x3x224x224 or --input", ports_[port].name);
    Dims dims;
    for (size_t i = 0; i < shape.dims().size(); ++i) {
      const Dim& d = shape[i];
      if (d.is_static()) {
        dims.push_back(d.value());
        continue;
      }
      if (!d.is_symbolic()) {
        out_.notes.push_back(fmt::format("input '{}': dimension {} is not known, 1 is taken; see --shape", ports_[port].name, i));
        out_.assumed.push_back(fmt::format("--shape {}:SHAPE for {}", ports_[port].name, to_string(shape)));
        dims.push_back(1);
        continue;
      }
      const auto [it, fresh] = symbols_.emplace(d.symbol(), 1);
      if (fresh) {
        out_.notes.push_back(fmt::format("dimension {0} is taken as 1; see --dim {0}=SIZE", d.symbol()));
        out_.assumed.push_back(fmt::format("--dim {}=SIZE", d.symbol()));
      }
      dims.push_back(it->second);
    }
    return dims;
  }

  Result<Tensor> make_random(size_t port) {
    const Port& p = ports_[port];
    if (is_handle(p.type.dtype) && !options_.only_types)
      return error("there are no random values of type {}: give --input {}=FILE", name_of(p.type.dtype), p.name);
    if (is_container(p.type.dtype)) return Tensor::of_items(p.type.dtype, {});
    SV_ASSIGN(const Dims dims, dims_of(port));
    SV_TRY(check_dims(dims));
    if (p.type.dtype == DType::string) {
      constexpr int64_t kMostStrings = 1 << 20;
      if (element_count(dims) > kMostStrings) return error("input '{}' is {} strings; give --shape", p.name, element_count(dims));
      return Tensor::of_strings(dims, std::vector<std::string>(static_cast<size_t>(element_count(dims))));
    }
    out_.random.push_back(p.name);
    return validate::random_input(p.name, p.type.dtype, dims, options_.seed_of_inputs(), port, bounds_);
  }

  const std::vector<Port>& ports_;
  const InputOptions& options_;
  const IndexBounds& bounds_;
  std::map<std::string, int64_t> symbols_;
  std::vector<std::vector<Tensor>> files_;
  std::vector<std::optional<Dims>> shapes_;
  Inputs out_;
};

}  // namespace

std::vector<Session::Port> input_ports(const Graph& graph) {
  std::vector<Session::Port> ports;
  for (const Value* v : graph.inputs()) ports.push_back({v->name(), v->type});
  return ports;
}

Result<Inputs> make_inputs(const std::vector<Session::Port>& ports, const InputOptions& options, const IndexBounds& bounds) {
  return InputMaker(ports, options, bounds).run();
}

void print_notes(const Inputs& inputs) {
  for (const std::string& note : inputs.notes) print_hint(note);
  if (inputs.random.empty()) return;
  std::string names;
  for (const std::string& name : inputs.random) names += (names.empty() ? "" : ", ") + name;
  print_hint(fmt::format("random inputs with seed {}: {}", inputs.seed, names));
}

std::vector<std::string> names_of_files(const InputOptions& options) {
  std::vector<std::string> names;
  for (const std::string& spec : options.files)
    for (size_t equals = spec.rfind('='); equals != spec.npos && equals > 0; equals = spec.rfind('=', equals - 1))
      names.push_back(spec.substr(0, equals));
  return names;
}

}  // namespace svengine::tool
