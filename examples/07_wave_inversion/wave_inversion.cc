// Recovers a velocity model from recorded waves: wave_inversion [CELLS STEPS ITERATIONS].
//
// Sources at the top and the bottom of a cube send waves through it, receivers on both faces record them. The propagator is a network: finite
// differences in time and space as nodes of ONNX, unrolled over the time steps, the velocity being its one weight.
//
//     v [1, 1, n, n, n] ── Pad (edge) ──> c^2 = (v dt / h)^2 on the grid with its absorbing rim, [1, 1, m, m, m]
//     p(t + 1) = taper * (2 p(t) - taper * p(t - 1) + c^2 * Conv(p(t), Laplacian) + wavelet(t) * source)
//
// So gradients of the misfit with respect to the velocity are those of training (the adjoint-state method, in seismics), and the inversion is a
// training with shots as samples. The recordings are made by the same network with the true velocity, saved as a file and run.
#include <svengine/nn.hpp>
#include <svengine/svengine.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nn = svengine::nn;

namespace {

constexpr int64_t kRim = 6;          // cells around the model in which waves die away
constexpr float kStepOverCell = 0.2f;  // dt / h, in s / km: v dt / h <= 0.5 is stable in three dimensions
constexpr int64_t kShots = 8;

struct Size {
  int64_t cells, steps;
  int64_t padded() const { return cells + 2 * kRim; }
  int64_t recordings() const { return steps / 2; }
};

int fail(const std::string& problem) { return std::fprintf(stderr, "wave_inversion: %s\n", problem.c_str()), 1; }

/// Ricker's, of about 10 steps.
float wavelet(int64_t step) {
  const double t = (static_cast<double>(step) - 10) / 4.5;
  return static_cast<float>((1 - 2 * t * t) * std::exp(-t * t));
}

/// 1 inside, less towards the outside of the rim.
std::vector<float> taper(const Size& size) {
  const int64_t m = size.padded();
  const auto factor = [&](int64_t i) {
    const auto depth = static_cast<double>(std::max({kRim - i, i - (m - 1 - kRim), int64_t{0}}));
    return std::exp(-0.006 * depth * depth);
  };
  std::vector<float> out;
  for (int64_t z = 0; z < m; ++z)
    for (int64_t y = 0; y < m; ++y)
      for (int64_t x = 0; x < m; ++x) out.push_back(static_cast<float>(factor(z) * factor(y) * factor(x)));
  return out;
}

std::vector<float> laplacian() {
  std::vector<float> out(27, 0);
  for (int i : {4, 10, 12, 14, 16, 22}) out[static_cast<size_t>(i)] = 1;
  out[13] = -6;
  return out;
}

/// km/s: layers that get faster with depth, and where `with_body` a fast body in the middle.
std::vector<float> velocity(const Size& size, bool with_body) {
  std::vector<float> out;
  const auto n = static_cast<double>(size.cells);
  for (int64_t z = 0; z < size.cells; ++z)
    for (int64_t y = 0; y < size.cells; ++y)
      for (int64_t x = 0; x < size.cells; ++x) {
        const double r2 = (std::pow(static_cast<double>(z) - 0.5 * n, 2) + std::pow(static_cast<double>(y) - 0.55 * n, 2) +
                           std::pow(static_cast<double>(x) - 0.45 * n, 2)) /
                          (n * n);
        out.push_back(static_cast<float>(1.8 + 0.3 * static_cast<double>(z) / n + (with_body ? 0.35 * std::exp(-r2 / 0.03) : 0)));
      }
  return out;
}

/// Shot s is a point on the top or the bottom face.
std::vector<float> sources(const Size& size) {
  const int64_t m = size.padded(), n = size.cells;
  std::vector<float> out(static_cast<size_t>(kShots * m * m * m), 0);
  for (int64_t s = 0; s < kShots; ++s) {
    const int64_t z = kRim + (s % 2 ? n - 2 : 1), y = kRim + (s / 2 % 2 ? n / 4 : n - 1 - n / 4), x = kRim + (s / 4 ? n / 4 : n - 1 - n / 4);
    out[static_cast<size_t>(((s * m + z) * m + y) * m + x)] = 20;
  }
  return out;
}

/// The propagator: source [shots, 1, m, m, m] -> pressures on both faces at every second step, [shots, recordings, 2, n, n].
nn::Net propagator(const Size& size, const std::vector<float>& model) {
  const int64_t n = size.cells, m = size.padded();
  nn::Net net;
  const nn::Var source = net.input("source", svengine::ElementType::float32, {-1, 1, m, m, m});
  const nn::Var v = net.variable({1, 1, n, n, n}, model, "velocity");
  const nn::Var wide = nn::op("Pad", {v, net.integers({0, 0, kRim, kRim, kRim, 0, 0, kRim, kRim, kRim})}, {{"mode", "edge"}}) * kStepOverCell;
  const nn::Var speed = wide * wide, rim = net.constant({1, 1, m, m, m}, taper(size)), stencil = net.constant({1, 1, 3, 3, 3}, laplacian());
  const nn::Var starts = net.integers({kRim, kRim, kRim}), ends = net.integers({kRim + n, kRim + n, kRim + n}), axes = net.integers({2, 3, 4}),
                strides = net.integers({n - 1, 1, 1});
  nn::Var before = source * 0.0f, now = before;
  std::vector<nn::Var> recordings;
  for (int64_t t = 0; t < size.steps; ++t) {
    const nn::Var bend = nn::op("Conv", {now, stencil}, {{"pads", std::vector<int64_t>{1, 1, 1, 1, 1, 1}}});
    const nn::Var next = rim * (now * 2.0f - rim * before + speed * bend + source * wavelet(t));
    before = now;
    now = next;
    if (t % 2) recordings.push_back(nn::op("Slice", {now, starts, ends, axes, strides}));
  }
  net.output(nn::op("Concat", recordings, {{"axis", 1}}), "recordings");
  return net;
}

/// What the receivers hear where the velocity is `model`.
bool record(const Size& size, const std::vector<float>& model, const std::vector<float>& shots, std::vector<float>& out, std::string& problem) {
  nn::Net net = propagator(size, model);
  if (!net.save("propagator.onnx")) return problem = net.error(), false;
  svengine::Network network = svengine::Network::load("propagator.onnx");
  std::vector<svengine::TensorView> results;
  const int64_t m = size.padded();
  if (!network || !network.run({svengine::view({kShots, 1, m, m, m}, shots.data())}, results)) return problem = network.error(), false;
  const auto* first = results[0].as<float>();
  out.assign(first, first + kShots * size.recordings() * 2 * size.cells * size.cells);
  return true;
}

double distance(const float* a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(b.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 1 && argc != 4) return std::fprintf(stderr, "wave_inversion [CELLS STEPS ITERATIONS]\n"), 2;
  const Size size = argc == 4 ? Size{std::atoll(argv[1]), std::atoll(argv[2])} : Size{12, 60};
  const int64_t iterations = argc == 4 ? std::atoll(argv[3]) : 100, n = size.cells, m = size.padded();
  if (n < 4 || size.steps < 2 || iterations < 1) return fail("needs 4 cells, 2 steps and 1 iteration at least");
  const std::vector<float> shots = sources(size), hidden = velocity(size, true), first = velocity(size, false);
  std::vector<float> heard;
  std::string problem;
  if (!record(size, hidden, shots, heard, problem)) return fail(problem);

  nn::TrainerOptions options;
  options.loss = "mse";
  options.optimizer = "adam:epsilon=2e-4";  // a large one: where waves say little, in the corners, the velocity moves little
  nn::Trainer trainer = nn::Trainer::create(propagator(size, first), options);
  if (!trainer) return fail(trainer.error());
  const nn::Batch batch = {{svengine::view({kShots, 1, m, m, m}, shots.data())}, svengine::view({kShots, size.recordings(), 2, n, n}, heard.data())};
  nn::StepReport report;
  double misfit = 0;
  for (int64_t i = 0; i < iterations; ++i) {
    const double rate = 0.03 * (1 - static_cast<double>(i) / static_cast<double>(iterations));
    if (!trainer.step(batch, rate, &report)) return fail(trainer.error());
    if (i == 0) misfit = report.loss;
    if (i % 10 == 0 || i + 1 == iterations)
      std::printf("iteration %3d   misfit %.3e   error of the velocity %.4f km/s\n", static_cast<int>(i), report.loss,
                  distance(trainer.weight("velocity").as<float>(), hidden));
  }
  const double before = distance(first.data(), hidden), after = distance(trainer.weight("velocity").as<float>(), hidden);
  std::printf("misfit %.3e to %.3e, error of the velocity %.4f to %.4f km/s\n", misfit, report.loss, before, after);
  return report.loss < misfit && after < before ? 0 : fail("the velocity was not recovered");
}
