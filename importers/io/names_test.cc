#include "importers/io/names.h"

#include <catch2/catch.hpp>

namespace names_test {
using namespace svengine;

TEST_CASE("control characters and broken UTF-8 are shown, not sent to the terminal") {
  CHECK(printable("conv1/weight:0") == "conv1/weight:0");
  CHECK(printable("\x1b[31mred\n") == "\\x1b[31mred\\x0a");
  CHECK(printable("Größe 張量 🙂") == "Größe 張量 🙂");
  CHECK(printable("\xc2\x9b" "1m") == "\\xc2\\x9b1m");        // CSI as a C1 control character
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");               // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");      // a surrogate
  CHECK(printable("a\xe5\xbc") == "a\\xe5\\xbc");             // cut off
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(printable(std::string(300, 'a')) == std::string(200, 'a') + "...");
}

TEST_CASE("names are refused when they could harm a terminal or a log") {
  CHECK(check_name("value", "x").ok());
  CHECK(check_name("value", "").ok());
  CHECK(check_name("value", std::string(kMaxName, 'a')).ok());
  CHECK_FALSE(check_name("value", std::string(kMaxName + 1, 'a')).ok());
  CHECK(check_name("value", "a\nb").error().message() == "the name of value 'a\\x0ab' has control characters or is not UTF-8");
  CHECK_FALSE(check_name("value", "\xff").ok());
  CHECK_FALSE(check_name("value", std::string_view("a\0b", 3)).ok());
}
}  // namespace names_test
