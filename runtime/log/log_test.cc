#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "runtime/log/crc32c.h"
#include "runtime/log/csv_log.h"
#include "runtime/log/event_writer.h"
#include "tests/support/temporary_directory.h"

namespace log_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

template <class T>
T number_at(std::string_view bytes, size_t at) {
  REQUIRE(at + sizeof(T) <= bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t crc_of(std::string_view text) { return crc32c(std::as_bytes(std::span(text.data(), text.size()))); }

uint32_t unmasked(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8;
  return rotated >> 17 | rotated << 15;
}

/// Fields of a protobuf message: number, and bytes (or the value's bytes).
std::vector<std::pair<int, std::string>> fields_of(std::string_view message) {
  std::vector<std::pair<int, std::string>> out;
  size_t at = 0;
  const auto varint = [&] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number_at<uint8_t>(message, at++);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const uint64_t key = varint();
    std::string value;
    switch (key & 7) {
      case 0: value = std::to_string(varint()); break;
      case 1: value = message.substr(at, 8), at += 8; break;
      case 5: value = message.substr(at, 4), at += 4; break;
      default: {
        const size_t size = varint();
        REQUIRE(size <= message.size() - at);
        value = message.substr(at, size);
        at += size;
      }
    }
    out.emplace_back(static_cast<int>(key >> 3), value);
  }
  return out;
}

std::string field(std::string_view message, int number) {
  for (const auto& [n, value] : fields_of(message))
    if (n == number) return value;
  FAIL("no field " << number);
  return {};
}

/// The Event messages of a file, checksums checked.
std::vector<std::string> events_of(const std::string& path) {
  const std::string bytes = content_of(path);
  std::vector<std::string> out;
  for (size_t at = 0; at < bytes.size();) {
    const auto length = number_at<uint64_t>(bytes, at);
    REQUIRE(unmasked(number_at<uint32_t>(bytes, at + 8)) == crc_of(std::string_view(bytes).substr(at, 8)));
    out.push_back(bytes.substr(at + 12, length));
    REQUIRE(unmasked(number_at<uint32_t>(bytes, at + 12 + length)) == crc_of(out.back()));
    at += 16 + length;
  }
  return out;
}

const std::vector<std::string> kColumns{"loss", "odd, \"name\""};

std::unique_ptr<CsvLog> csv(const std::string& path, int64_t last_step) {
  Result<std::unique_ptr<CsvLog>> log = CsvLog::open(path, kColumns, last_step);
  if (!log.ok()) FAIL(log.error().message());
  return std::move(log).value();
}

}  // namespace

TEST_CASE("CRC32C gives the known answers") {
  CHECK(crc_of("") == 0);
  CHECK(crc_of("123456789") == 0xe3069283);            // the check value of its definition
  CHECK(crc_of(std::string(32, '\0')) == 0x8a9136aa);  // RFC 3720, appendix B.4
  CHECK(crc_of(std::string(32, '\xff')) == 0x62a8ab43);
}

TEST_CASE("events are framed and hold what was written") {
  const TemporaryDirectory dir;
  const std::string runs = dir.path() + "/runs";
  std::string path;
  {
    auto writer = std::move(EventWriter::open(runs, 299)).value();
    REQUIRE(writer->scalar("train/loss", 300, 0.625).ok());
    const std::vector<float> values{-1, 0, 0.5f, 1, 1, NAN};
    REQUIRE(writer->histogram("weights/conv1", 301, histogram_of(values, 4)).ok());
    path = writer->path();
    CHECK(std::move(EventWriter::open(runs)).value()->path() != path);
  }
  CHECK_THAT(path, Contains("/events.out.tfevents."));
  const std::vector<std::string> events = events_of(path);
  REQUIRE(events.size() == 4);
  CHECK(field(events[0], 3) == "brain.Event:2");
  CHECK(number_at<double>(field(events[0], 1), 0) > 1.6e9);
  CHECK((field(events[1], 2) == "300" && field(field(events[1], 7), 1) == "1"));
  CHECK(field(events[2], 2) == "300");
  const std::string scalar = field(field(events[2], 5), 1);
  CHECK(field(scalar, 1) == "train/loss");
  CHECK(number_at<float>(field(scalar, 2), 0) == 0.625f);
  const std::string value = field(field(events[3], 5), 1), histogram = field(value, 5);
  CHECK(field(value, 1) == "weights/conv1");
  const double expected[] = {-1, 1, 5, 1.5, 3.25};
  for (int f = 1; f <= 5; ++f) CHECK(number_at<double>(field(histogram, f), 0) == expected[f - 1]);
  const double limits[] = {-0.5, 0, 0.5, 1}, counts[] = {1, 1, 1, 2};
  for (size_t i = 0; i < 4; ++i) {
    CHECK(number_at<double>(field(histogram, 6), 8 * i) == limits[i]);
    CHECK(number_at<double>(field(histogram, 7), 8 * i) == counts[i]);
  }
}

TEST_CASE("histograms count every finite value once") {
  const Histogram none = histogram_of(std::vector<float>{NAN, INFINITY});
  CHECK((none.count == 0 && none.not_finite == 2 && none.counts.empty()));
  const Histogram equal = histogram_of(std::vector<float>(7, 3.0f));
  CHECK((equal.counts == std::vector<int64_t>{7} && equal.limits == std::vector<double>{3}));
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(std::sin(i)) * std::numeric_limits<float>::max());
  const Histogram wide = histogram_of(values, 10);
  int64_t total = 0;
  for (int64_t n : wide.counts) total += n;
  CHECK((total == 1000 && wide.counts.size() == 10 && std::isfinite(wide.sum_of_squares)));
}

TEST_CASE("event files that cannot be written are errors") {
  CHECK_FALSE(EventWriter::open("/dev/null/runs").ok());
  const TemporaryDirectory dir;
  CHECK_FALSE(EventWriter::open(dir.path() + "/a/b").ok());
  std::ofstream(dir.path() + "/file") << "x";
  const auto opened = EventWriter::open(dir.path() + "/file");
  REQUIRE_FALSE(opened.ok());
  CHECK_THAT(opened.error().message(), Contains("Not a directory"));
}

TEST_CASE("a table grows row by row, and a resumed run continues it") {
  const TemporaryDirectory dir;
  const std::string path = dir.path() + "/log.csv", header = "step,loss,\"odd, \"\"name\"\"\"\n";
  {
    const auto log = csv(path, 0);
    for (int step = 1; step <= 4; ++step)
      REQUIRE(log->row(100 * step, std::vector<std::optional<double>>{0.1 * step, std::nullopt}).ok());
    CHECK_FALSE(log->row(500, std::vector<std::optional<double>>{1.0}).ok());
  }
  const std::string whole = content_of(path);
  CHECK(whole == header + "100,0.1,\n200,0.2,\n300,0.30000000000000004,\n400,0.4,\n");
  REQUIRE(csv(path, 250)->row(300, std::vector<std::optional<double>>{1.5, NAN}).ok());
  CHECK(content_of(path) == header + "100,0.1,\n200,0.2,\n300,1.5,nan\n");
  // Killed at any byte: whole rows stay, half a row goes.
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, cut);
    csv(path, 1000);
    const size_t rows = whole.substr(0, cut).rfind('\n');
    REQUIRE(content_of(path) == (rows == std::string::npos ? header : whole.substr(0, rows + 1)));
  }
}

TEST_CASE("a file that is no such table is not touched") {
  const TemporaryDirectory dir;
  const std::string path = dir.path() + "/log.csv";
  for (const std::string text :
       {"a letter\n", "step,other\n", "step,loss,\"odd, \"\"name\"\"\"\nno number,\n", "step,loss,\"odd, \"\"name\"\"\"\n7\n"}) {
    std::ofstream(path, std::ios::trunc) << text;
    const auto opened = CsvLog::open(path, kColumns, 1000);
    REQUIRE_FALSE(opened.ok());
    CHECK_THAT(opened.error().message(), Contains("give another name"));
    CHECK(content_of(path) == text);
  }
  CHECK_FALSE(CsvLog::open(dir.path(), kColumns, 0).ok());
  CHECK_FALSE(CsvLog::open("/dev/full", kColumns, 0).ok());
}
}  // namespace log_test
