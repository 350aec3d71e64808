// Learns the bottom drag of shallow water from its formula: shallow_water_network OUT.onnx [STEPS]
//
// Inputs are a cell's depth in tens of metres and its two velocities in m/s; the output is the rate of Manning's drag in 1/1000 s,
// 1000 g n^2 |velocity| / depth^(4/3) with n = 0.03.
#include <svengine/nn.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace nn = svengine::nn;

namespace {

constexpr int64_t kBatch = 256;

struct Samples {
  std::vector<float> cells = std::vector<float>(3 * kBatch), rates = std::vector<float>(kBatch);

  void draw(std::mt19937& random) {
    for (size_t i = 0; i < kBatch; ++i) {
      const double depth = 4 + 10 * uniform(random), u = velocity(random), v = velocity(random);
      const double values[3] = {depth / 10, u, v};
      for (size_t k = 0; k < 3; ++k) cells[3 * i + k] = static_cast<float>(values[k]);
      rates[i] = static_cast<float>(1000 * 9.81 * 0.03 * 0.03 * std::hypot(u, v) / std::pow(depth, 4.0 / 3));
    }
  }

  nn::Batch batch() const { return {{svengine::view({kBatch, 3}, cells.data())}, svengine::view({kBatch, 1}, rates.data())}; }

 private:
  static double uniform(std::mt19937& random) { return random() / 4294967296.0; }
  /// Up to 1.5 m/s, mostly slow, as water is.
  static double velocity(std::mt19937& random) {
    const double s = 2 * uniform(random) - 1;
    return 1.5 * s * std::fabs(s);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "shallow_water_network OUT.onnx [STEPS]\n"), 2;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 8000;
  nn::Net net(1);
  const nn::Layer layers = nn::Sequential({nn::Linear(3, 32), nn::Tanh(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, 1)});
  net.output(net.apply(layers, net.input("cells", svengine::ElementType::float32, {-1, 3})), "rate");
  nn::TrainerOptions options;
  options.loss = "mse";
  options.optimizer = "adam";
  options.runtime.threads = 1;
  nn::Trainer trainer = nn::Trainer::create(net, options);
  std::mt19937 random(1);
  Samples samples;
  nn::StepReport report;
  for (int step = 0; step < steps; ++step) {
    samples.draw(random);
    const double rate = 0.005 * (1 + std::cos(3.14159265 * step / steps));
    if (!trainer.step(samples.batch(), rate, &report)) return std::fprintf(stderr, "%s\n", trainer.error().c_str()), 1;
  }
  if (!trainer.save(argv[1])) return std::fprintf(stderr, "%s\n", trainer.error().c_str()), 1;
  std::printf("learnt the drag in %d steps: the error is %.4f / 1000 s\n", steps, std::sqrt(report.loss));
}
