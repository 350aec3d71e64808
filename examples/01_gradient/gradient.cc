// The first example of every tutorial: y = x^2, and its gradient at x = 3.
#include <svengine/nn.hpp>

#include <cstdio>

int main() {
  svengine::nn::Net net;
  const svengine::nn::Var x = net.variable({1}, {3});
  const svengine::nn::Var y = x * x;
  y.backward();
  std::printf("the gradient of x^2 at 3 is %g\n", x.gradient().at(0));
}
