#include "runtime/log/event_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "runtime/log/crc32c.h"

namespace svengine {
namespace {

/// A protobuf message in the making: fields are appended in the order of the calls.
class Message {
 public:
  Message& number(int field, int64_t value) {
    key(field, 0);
    varint(static_cast<uint64_t>(value));
    return *this;
  }
  Message& real(int field, double value) {
    key(field, 1);
    raw(value);
    return *this;
  }
  Message& small_real(int field, float value) {
    key(field, 5);
    raw(value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  template <class T>
  Message& reals(int field, const std::vector<T>& values) {
    Message packed;
    for (T v : values) packed.raw(static_cast<double>(v));
    return text(field, packed.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

  template <class T>
  void raw(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);  // little endian, as everywhere here
  }

 private:
  void key(int field, int type) { varint(static_cast<uint64_t>(field << 3 | type)); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// A CRC that is stored within data that others checksum again is rotated, lest the two cancel (record_writer.cc).
uint32_t masked_crc(std::string_view bytes) {
  constexpr uint32_t kMask = 0xa282ead8;
  const uint32_t crc = crc32c(std::as_bytes(std::span(bytes.data(), bytes.size())));
  return (crc >> 15 | crc << 17) + kMask;
}

double wall_clock() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string value_event(int64_t step, const Message& value) {
  Message summary, event;
  summary.text(1, value.bytes());
  return event.number(2, step).text(5, summary.bytes()).bytes();
}

}  // namespace

Result<std::unique_ptr<EventWriter>> EventWriter::open(const std::string& directory, int64_t done) {
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return error("cannot make the directory '{}': {}", directory, std::strerror(errno));
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "host");
  const std::string name =
      fmt::format("{}/events.out.tfevents.{:010}.{}.{}", directory, static_cast<int64_t>(wall_clock()), host.data(), getpid());
  int file = -1;
  std::string path;
  for (int attempt = 0; attempt < 1000 && file < 0; ++attempt) {  // several in one second have a number each
    path = fmt::format("{}.{}", name, attempt);
    file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0) return error("cannot create '{}': {}", path, std::strerror(errno));
  std::unique_ptr<EventWriter> writer(new EventWriter(UniqueFd(file), path));
  SV_TRY(writer->write_event(Message().text(3, "brain.Event:2").bytes()));
  // Readers drop the earlier files' events from a session's first step on (TensorBoard's event_accumulator.py).
  constexpr int64_t kStart = 1;
  SV_TRY(writer->write_event(Message().number(2, done + 1).text(7, Message().number(1, kStart).bytes()).bytes()));
  return writer;
}

Status EventWriter::write_event(const std::string& fields) {
  const std::string event = Message().real(1, wall_clock()).bytes() + fields;
  Message length, record;
  length.raw(static_cast<uint64_t>(event.size()));
  record.raw(static_cast<uint64_t>(event.size()));
  record.raw(masked_crc(length.bytes()));
  Message end;
  end.raw(masked_crc(event));
  Status written = write_all(file_.get(), record.bytes() + event + end.bytes());
  return written.ok() ? Status() : Status(std::move(written).error().in(fmt::format("cannot write '{}'", path_)));
}

Status EventWriter::scalar(std::string_view tag, int64_t step, double value) {
  return write_event(value_event(step, Message().text(1, tag).small_real(2, static_cast<float>(value))));
}

Status EventWriter::histogram(std::string_view tag, int64_t step, const Histogram& h) {
  Message histo;
  histo.real(1, h.least).real(2, h.most).real(3, static_cast<double>(h.count)).real(4, h.sum).real(5, h.sum_of_squares);
  histo.reals(6, h.limits).reals(7, h.counts);
  return write_event(value_event(step, Message().text(1, tag).text(5, histo.bytes())));
}

}  // namespace svengine
