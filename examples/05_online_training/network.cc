// Writes the network that online_training begins with, 1-24-24-1 with drawn weights: online_training_network OUT.onnx
#include <svengine/nn.hpp>

#include <cstdio>

namespace nn = svengine::nn;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "online_training_network OUT.onnx\n"), 2;
  nn::Net net(1);
  const nn::Layer layers = nn::Sequential({nn::Linear(1, 24), nn::Tanh(), nn::Linear(24, 24), nn::Tanh(), nn::Linear(24, 1)});
  net.output(net.apply(layers, net.input("slow", svengine::ElementType::float32, {-1, 1})), "tendency");
  if (!net.save(argv[1])) return std::fprintf(stderr, "%s\n", net.error().c_str()), 1;
}
