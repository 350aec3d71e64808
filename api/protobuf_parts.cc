// What the shared library has in place of two objects in Debian's archive of protobuf-lite and of one symbol, so that all else of that archive
// can be in it, and no protobuf of the host program is met. Archives are compiled for programs: arena.o reaches its thread-local variable, and
// common.o tables of the C++ library, in ways that only programs can. A protobuf that wants more of them fails to link, by name.
#include <google/protobuf/arena.h>
#include <google/protobuf/stubs/logging.h>

#include <stdexcept>

// What every object of g++ asks of <typeinfo>, here rather than in the C++ library: that of char.
extern "C" {
extern void* const fundamental_type_table[] __asm__("_ZTVN10__cxxabiv123__fundamental_type_infoE");
__attribute__((visibility("hidden"))) extern const void* const char_type_info[2] __asm__("_ZTIc");
const void* const char_type_info[2] = {fundamental_type_table + 2, "c"};
}

namespace google::protobuf {

// Nothing here makes an arena, so nothing calls these: every message asks whether it lies in one.
void* Arena::AllocateAlignedWithHook(size_t, const std::type_info*) { return nullptr; }
void* Arena::AllocateAlignedWithHookForArray(size_t, const std::type_info*) { return nullptr; }
std::pair<void*, internal::SerialArena::CleanupNode*> Arena::AllocateAlignedWithCleanup(size_t, const std::type_info*) { return {}; }

namespace internal {

__thread ThreadSafeArena::ThreadCache ThreadSafeArena::thread_cache_ = {};
ThreadSafeArena::~ThreadSafeArena() = default;
uint64_t ThreadSafeArena::SpaceAllocated() const { return 0; }
void ThreadSafeArena::AddCleanup(void*, void (*)(void*)) {}

// The library prints nothing. What protobuf calls fatal is an exception, as in protobuf, which api/guard.h makes an error.
LogMessage::LogMessage(LogLevel level, const char* file, int line) : level_(level), filename_(file), line_(line) {}
LogMessage::~LogMessage() = default;
LogMessage& LogMessage::operator<<(const std::string& text) { return message_ += text, *this; }
LogMessage& LogMessage::operator<<(const char* text) { return message_ += text, *this; }
LogMessage& LogMessage::operator<<(int number) { return *this << std::to_string(number); }
LogMessage& LogMessage::operator<<(unsigned number) { return *this << std::to_string(number); }
LogMessage& LogMessage::operator<<(unsigned long number) { return *this << std::to_string(number); }
void LogMessage::Finish() {
  if (level_ == LOGLEVEL_FATAL) throw std::runtime_error("protobuf: " + message_);
}
void LogFinisher::operator=(LogMessage& message) { message.Finish(); }

}  // namespace internal

uint32_t ghtonl(uint32_t x) { return __builtin_bswap32(x); }

}  // namespace google::protobuf
