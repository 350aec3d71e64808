// Catch2 3 under the one header name, and with the one matcher name, that version 2 has. Only the builds that find version 3 see it.
#pragma once
#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>
#include <string>

using Catch::Approx;

namespace Catch::Matchers {

inline StringContainsMatcher Contains(const std::string& part) { return ContainsSubstring(part); }

}  // namespace Catch::Matchers
