// Writes a network of the shape of an orographic-drag emulator, with drawn weights: column_physics_network OUT.onnx
//
// 191 numbers of a column (wind, temperature and moisture on its levels, and the mountain below) become 126: the drag on the levels.
#include <svengine/nn.hpp>

#include <cstdio>

namespace nn = svengine::nn;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "column_physics_network OUT.onnx\n"), 2;
  constexpr int64_t kIn = 191, kHidden = 122, kOut = 126;
  std::vector<nn::Layer> layers = {nn::Linear(kIn, kHidden), nn::Tanh()};
  for (int i = 1; i < 5; ++i) layers.insert(layers.end(), {nn::Linear(kHidden, kHidden), nn::Tanh()});
  layers.push_back(nn::Linear(kHidden, kOut));
  nn::Net net(1);
  net.output(net.apply(nn::Sequential(layers), net.input("column", svengine::ElementType::float32, {-1, kIn})), "drag");
  if (!net.save(argv[1])) return std::fprintf(stderr, "%s\n", net.error().c_str()), 1;
}
