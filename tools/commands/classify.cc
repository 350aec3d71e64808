// svengine classify: a network for images against a data set with known answers.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "importers/idx/idx.h"
#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/labels.h"
#include "tools/support/network.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace classify_command {

struct Options {
  ModelFile model;
  std::string images, answers, labels;
  ImageOptions pixels;
  int64_t batch = 100;
  int64_t limit = 0;  // 0: all
  int64_t show = 0;
  RuntimeOptions runtime;
  bool json = false;
};

struct LabelledImages {
  Tensor images;   // uint8 [N, H, W]
  Tensor answers;  // uint8 [N], or undefined
  int64_t count = 0, height = 0, width = 0;
};

Result<LabelledImages> load_data(const Options& options) {
  LabelledImages out;
  SV_ASSIGN(out.images, load_idx(options.images));
  const Dims& dims = out.images.dims();
  if (out.images.type() != DType::u8 || dims.size() != 3)
    return error("{}: holds {}[{}], images are uint8[N x height x width]", options.images, name_of(out.images.type()),
                 to_string(dims));
  out.count = options.limit ? std::min(options.limit, dims[0]) : dims[0];
  out.height = dims[1];
  out.width = dims[2];
  if (out.count == 0) return error("{}: holds no image", options.images);
  if (options.answers.empty()) return out;
  SV_ASSIGN(out.answers, load_idx(options.answers));
  if (out.answers.type() != DType::u8 || out.answers.dims() != Dims{dims[0]})
    return error("{}: holds {}[{}], the answers to {} images are uint8[{}]", options.answers, name_of(out.answers.type()),
                 to_string(out.answers.dims()), dims[0], dims[0]);
  return out;
}

/// One line that is redrawn, on a terminal only.
class Progress {
 public:
  explicit Progress(int64_t total) : total_(total), shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  void update(int64_t done, double seconds) const {
    if (!shown_) return;
    constexpr int64_t kCells = 40;
    const auto filled = static_cast<size_t>(kCells * done / total_);
    const std::string line = fmt::format("\r[{}{}] {} of {} images, {:.0f} /s", std::string(filled, '#'), std::string(kCells - filled, ' '), done,
                                         total_, seconds > 0 ? static_cast<double>(done) / seconds : 0);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
  }

 private:
  int64_t total_;
  bool shown_;
};

/// float32 [rows, 1, H, W] with the images from `begin` on; rows beyond the last image are zeros.
Result<Tensor> make_batch(const LabelledImages& data, int64_t begin, int64_t rows, const ImageOptions& pixels) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::f32, {rows, 1, data.height, data.width}));
  const float scale = pixels.unit_range ? 1.0f / 255 : 1.0f;
  const float mean = pixels.mean.empty() ? 0.0f : pixels.mean[0], std = pixels.std.empty() ? 1.0f : pixels.std[0];
  const int64_t image = data.height * data.width;
  const std::span<const uint8_t> from = data.images.data<uint8_t>().subspan(static_cast<size_t>(begin * image));
  const std::span<float> to = out.data<float>();
  const auto given = static_cast<size_t>(std::min(rows, data.count - begin) * image);
  for (size_t i = 0; i < to.size(); ++i) to[i] = i < given ? (static_cast<float>(from[i]) * scale - mean) / std : 0.0f;
  return out;
}

struct Report {
  std::vector<Candidate> answers;  // the best of every image
  int64_t right = 0;
  int64_t batch = 0;
  double seconds = 0;
};

/// A network of a fixed batch gets that; others the wanted one, and what is left in the last run.
struct Batching {
  int64_t size = 1;
  bool fixed = false;
};

Batching batching(const Options& options, const Network& network, const LabelledImages& data) {
  const Shape& shape = network.inputs[0].type.shape;
  if (shape.rank() > 0 && shape[0].is_static() && shape[0].value() > 0) return {shape[0].value(), true};
  return {std::min(options.batch, data.count), false};
}

Result<Report> classify(const Options& options, Network& network, const LabelledImages& data) {
  Report report;
  const Progress progress(data.count);
  const auto [size, fixed] = batching(options, network, data);
  report.batch = size;
  SV_ASSIGN(Tensor batch, make_batch(data, 0, size, options.pixels));
  SV_TRY(make_ready(network, {batch}));
  const Stopwatch watch;
  for (int64_t begin = 0; begin < data.count; begin += size) {
    const int64_t images = std::min(size, data.count - begin), rows = fixed ? size : images;
    SV_ASSIGN(batch, make_batch(data, begin, rows, options.pixels));
    SV_ASSIGN(const std::vector<Tensor> outputs, run_network(network, {batch}));
    const Tensor& scores = outputs[0];
    if (scores.dims().empty() || scores.dims()[0] != rows || scores.count() == 0)
      return error("{}: gives {}[{}] for {} images; one row of scores for each is needed", options.model.path, name_of(scores.type()),
                   to_string(scores.dims()), rows);
    const int64_t row = scores.count() / rows;
    for (int64_t i = 0; i < images; ++i) report.answers.push_back(best_of(scores, i * row, row, 1)[0]);
    progress.update(begin + images, watch.milliseconds() / 1000);
  }
  report.seconds = watch.milliseconds() / 1000;
  for (int64_t i = 0; data.answers.defined() && i < data.count; ++i)
    report.right += report.answers[static_cast<size_t>(i)].index == data.answers.data<uint8_t>()[static_cast<size_t>(i)];
  return report;
}

/// Grey levels as characters; a character is about twice as high as wide, so it stands for two rows.
std::vector<std::string> text_art(const LabelledImages& data, int64_t image) {
  static constexpr std::string_view kLevels = " .:-=+*#%@";
  const std::span<const uint8_t> pixels = data.images.data<uint8_t>().subspan(static_cast<size_t>(image * data.height * data.width));
  std::vector<std::string> out;
  for (int64_t y = 0; y < data.height; y += 2) {
    std::string line;
    for (int64_t x = 0; x < data.width; ++x) {
      const int upper = pixels[static_cast<size_t>(y * data.width + x)];
      const int lower = y + 1 < data.height ? pixels[static_cast<size_t>((y + 1) * data.width + x)] : upper;
      line += kLevels[static_cast<size_t>(upper + lower) * kLevels.size() / 511];
    }
    out.push_back(std::move(line));
  }
  return out;
}

size_t terminal_width() {
  constexpr size_t kOtherwise = 80;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kOtherwise;
}

std::vector<std::string> captions(const LabelledImages& data, const Report& report, const std::vector<std::string>& labels,
                                  int64_t image) {
  const Candidate& c = report.answers[static_cast<size_t>(image)];
  std::vector<std::string> out{fmt::format("{} ({:.1f} %)", printable(label_of(labels, c.index)), 100 * c.probability)};
  if (!data.answers.defined()) return out;
  const int64_t answer = data.answers.data<uint8_t>()[static_cast<size_t>(image)];
  out.push_back(answer == c.index ? "right" : fmt::format("wrong: {}", printable(label_of(labels, answer))));
  return out;
}

/// The first images, as many side by side as fit.
std::string show_images(const Options& options, const LabelledImages& data, const Report& report,
                        const std::vector<std::string>& labels) {
  constexpr size_t kGap = 2;
  const size_t cell = static_cast<size_t>(data.width) + kGap;
  const auto per_row = static_cast<int64_t>(std::max<size_t>(1, (terminal_width() + kGap) / cell));
  const int64_t shown = std::min(options.show, data.count);
  std::string out;
  for (int64_t begin = 0; begin < shown; begin += per_row) {
    Table table;
    std::vector<std::vector<std::string>> columns;
    for (int64_t i = begin; i < std::min(begin + per_row, shown); ++i) {
      columns.push_back(text_art(data, i));
      for (std::string& line : captions(data, report, labels, i)) columns.back().push_back(std::move(line));
    }
    for (size_t line = 0; line < columns[0].size(); ++line) {
      std::vector<std::string> cells;
      for (const auto& column : columns) cells.push_back(column[line]);
      table.row(std::move(cells));
    }
    out += table.text() + '\n';
  }
  return out;
}

Status check(const Options& options, const Network& network) {
  if (network.inputs.size() != 1 || network.session->outputs().empty())
    return error("{}: has {} inputs and {} outputs; a network that classifies images has one input, and its first output is the scores",
                 options.model.path, network.inputs.size(), network.session->outputs().size());
  for (const std::vector<float>& values : {options.pixels.mean, options.pixels.std})
    if (values.size() > 1) return error("--image-mean and --image-std: grey images have one channel, not {}", values.size());
  return {};
}

Result<int> run(const Options& options) {
  std::vector<std::string> labels;
  if (!options.labels.empty()) {
    SV_ASSIGN(labels, load_labels(options.labels));
  }
  SV_ASSIGN(const LabelledImages data, load_data(options));
  SV_ASSIGN(Network network, load_network(options.model, options.runtime));
  SV_TRY(check(options, network));
  SV_ASSIGN(const Report report, classify(options, network, data));
  const double accuracy = static_cast<double>(report.right) / static_cast<double>(data.count);
  const double rate = static_cast<double>(data.count) / report.seconds;
  if (options.json) {
    Json out = {{"model", options.model.path}, {"images", data.count}, {"seconds", report.seconds}, {"images_per_s", rate}};
    if (data.answers.defined()) out["right"] = report.right, out["accuracy"] = accuracy;
    put_json(out);
    return kSuccess;
  }
  put(show_images(options, data, report, labels));
  if (data.answers.defined())
    print("accuracy  {:.2f} %  ({} of {} images)\n", 100 * accuracy, grouped(report.right), grouped(data.count));
  print("speed     {:.0f} images/s  ({:.2f} s, {} at a time, {} threads, {})\n", rate, report.seconds, report.batch,
        network.session->team().threads(), network.session->kernels().name);
  return kSuccess;
}

}  // namespace classify_command

Action add_classify(Command& program) {
  using namespace classify_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("classify", "Classify the images of a data set and count right answers");
  add_model(command, options->model);
  command.add_option("--idx-images", options->images, "Grey images as an IDX file (MNIST's format), gzipped or not")
      ->required()
      ->type_name("FILE");
  command.add_option("--idx-labels", options->answers, "The right answers, likewise")->type_name("FILE");
  command.add_option("--labels", options->labels, "Names of the classes, one a line")->type_name("FILE");
  command.add_option("--batch", options->batch, "Images in one run, where the network leaves that open (default: 100)")
      ->check(within(int64_t{1}, int64_t{1} << 20))
      ->type_name("N");
  command.add_option("--limit", options->limit, "Take only the first images")
      ->check(within(int64_t{1}, int64_t{1} << 40))
      ->type_name("N");
  command.add_option("--show", options->show, "Show the first images as text, with their answers")
      ->check(within(int64_t{0}, int64_t{1} << 20))
      ->type_name("K");
  add_pixel_options(command, options->pixels);
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer(
      "Examples:\n  svengine classify model.onnx --labels labels.txt --show 4 \\\n"
      "      --idx-images t10k-images-idx3-ubyte.gz --idx-labels t10k-labels-idx1-ubyte.gz");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
