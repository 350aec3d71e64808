#include "runtime/log/csv_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace svengine {
namespace {

constexpr off_t kMostBytes = off_t{1} << 30;

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

Result<std::string> read_all(int file, const std::string& path) {
  struct stat status{};
  if (fstat(file, &status) != 0) return error("cannot read the state of '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return error("'{}' is no regular file", path);
  if (status.st_size > kMostBytes)
    return error("'{}' has {} bytes; a log of at most {} is continued", path, status.st_size, kMostBytes);
  std::string text(static_cast<size_t>(status.st_size), '\0');
  Result<size_t> read = read_full(file, std::as_writable_bytes(std::span(text)));
  if (read.ok() && *read == text.size()) return text;
  return error("cannot read '{}': {}", path, read.ok() ? "it became shorter" : read.error().message());
}

/// How much of a log stays: the header and the rows of steps up to the last. Steps rise, so what goes is at the end.
Result<size_t> kept_part(std::string_view text, std::string_view header, int64_t last_step) {
  if (!text.starts_with(header))
    return error("it holds other columns than '{}'; give another name", header.substr(0, header.size() - 1));
  size_t kept = header.size();
  for (;;) {
    const size_t stop = text.find('\n', kept);
    if (stop == std::string_view::npos) return kept;
    const std::string_view line = text.substr(kept, stop - kept);
    int64_t step = 0;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), step);
    if (problem != std::errc() || end == line.data() + line.size() || *end != ',')
      return error("'{}' is no row of a log; give another name", line.substr(0, 40));
    if (step > last_step) return kept;
    kept = stop + 1;
  }
}

}  // namespace

Result<std::unique_ptr<CsvLog>> CsvLog::open(const std::string& path, const std::vector<std::string>& columns,
                                             int64_t last_step) {
  std::string header = "step";
  for (const std::string& column : columns) header += "," + csv_field(column);
  header += "\n";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) return error("cannot open '{}': {}", path, std::strerror(errno));
  std::unique_ptr<CsvLog> log(new CsvLog(UniqueFd(file), path, columns.size()));
  SV_ASSIGN(const std::string text, read_all(file, path));
  // A run that was killed in its very first write leaves a part of the header.
  if (header.starts_with(text)) {
    SV_TRY(log->write(std::string_view(header).substr(text.size())));
    return log;
  }
  Result<size_t> kept = kept_part(text, header, last_step);
  if (!kept.ok()) return std::move(kept).error().in(fmt::format("cannot continue '{}'", path));
  if (*kept < text.size() && ::ftruncate(file, static_cast<off_t>(*kept)) != 0)
    return error("cannot shorten '{}': {}", path, std::strerror(errno));
  return log;
}

Status CsvLog::write(std::string_view text) {
  Status written = write_all(file_.get(), text);
  return written.ok() ? Status() : Status(std::move(written).error().in(fmt::format("cannot write '{}'", path_)));
}

Status CsvLog::row(int64_t step, std::span<const std::optional<double>> values) {
  if (values.size() != columns_) return error("{} values for the {} columns of '{}'", values.size(), columns_, path_);
  std::string line = fmt::format("{}", step);
  for (const std::optional<double>& value : values) line += value ? fmt::format(",{}", *value) : std::string(",");
  return write(line + "\n");
}

}  // namespace svengine
