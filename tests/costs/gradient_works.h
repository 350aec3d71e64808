// The works of backward passes; see works.h for names.
#pragma once
#include <functional>
#include <string>

namespace svengine::tests {

/// As make_work; empty when this is no backward pass.
std::function<void()> make_gradient_work(const std::string& name);

}  // namespace svengine::tests
