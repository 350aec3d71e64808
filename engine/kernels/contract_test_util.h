// Breaking contracts, one rule after the other.
#pragma once
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

namespace svengine::kernels::contract_test {

/// Apart from each other, 256-byte aligned, zeros.
inline char* memory_of_place(int i) {
  alignas(256) static char memory[16][8192] = {};
  return memory[i];
}
template <class T = float>
T* place(int i) {
  return reinterpret_cast<T*>(memory_of_place(i));
}

/// One way to break a contract, and what is said of it.
template <class Args>
struct Break {
  const char* rule;
  std::function<void(Args&)> change;
};

template <class Args>
void check(const Args& right, const std::vector<Break<Args>>& breaks) {
  const char* of_right = violation(right);
  INFO((of_right ? of_right : ""));
  REQUIRE(of_right == nullptr);
  for (const Break<Args>& b : breaks) {
    Args args = right;
    b.change(args);
    const char* rule = violation(args);
    CHECK(std::string(rule ? rule : "") == b.rule);
  }
}

}  // namespace svengine::kernels::contract_test
