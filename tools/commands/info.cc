// svengine info: what this program is, what it found here, and what it will use.
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "engine/base/affinity.h"
#include "engine/kernels/openblas/openblas.h"
#include "engine/ops/registry.h"
#include "runtime/arena_memory.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/options.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace info_command {

struct Options {
  RuntimeOptions runtime;
  bool json = false;
};

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value of the first "key : value" line whose key is `key`.
std::string field_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t value = colon == line.npos ? line.npos : line.find_first_not_of(" \t", colon + 1);
    if (value != line.npos) return line.substr(value);
  }
  return {};
}

/// x86 has a model name; Arm gives numbers, of which those of Fujitsu (implementer 0x46, Arm's list of MIDR_EL1) are known.
std::string processor_name() {
  if (std::string model = field_of("/proc/cpuinfo", "model name"); !model.empty()) return model;
  const std::string implementer = field_of("/proc/cpuinfo", "CPU implementer"), part = field_of("/proc/cpuinfo", "CPU part");
  if (implementer == "0x46" && part == "0x001") return "Fujitsu A64FX";
  utsname system{};
  uname(&system);
  return implementer.empty() ? system.machine : fmt::format("{}, implementer {}, part {}", system.machine, implementer, part);
}

/// What `--gemm openblas` would take, or why it cannot.
std::string openblas() {
  const Result<std::string> found = kernels::openblas_description();
  return found.ok() ? *found : found.error().message();
}

std::string kernel_sets() {
  std::string out;
  for (const kernels::KernelTable* set : kernels::all_kernel_sets())
    out += (out.empty() ? "" : ", ") + std::string(set->name);
  return out;
}

/// The choice in brackets: "always [madvise] never".
std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t open = line.find('['), close = line.find(']');
  const std::string transparent = open == line.npos || close == line.npos ? "not known" : line.substr(open + 1, close - open - 1);
  const std::string total = field_of("/proc/meminfo", "HugePages_Total"), size = field_of("/proc/meminfo", "Hugepagesize");
  return fmt::format("transparent: {}; reserved: {} of {}", transparent, total.empty() ? "0" : total,
                     size.empty() ? "unknown size" : size);
}

/// What an arena of some size gets here.
std::string arena_pages() {
  constexpr size_t kTryBytes = size_t{64} << 20;
  const Result<ArenaMemory> memory = ArenaMemory::map(kTryBytes);
  return memory.ok() ? std::string(name_of(memory->kind())) : memory.error().message();
}

struct Info {
  const SessionOptions& session;
  size_t operators = all_ops().all().size();
  std::string system = {}, processor = processor_name();
  size_t allowed_cpus = 0;
  int64_t memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  std::string kernel_sets = info_command::kernel_sets(), openblas = info_command::openblas(), huge_pages = info_command::huge_pages(),
              arena_pages = info_command::arena_pages();
};

Info collect(const SessionOptions& session) {
  Info out{.session = session};
  utsname system{};
  uname(&system);
  out.system = fmt::format("{} {} on {}", system.sysname, system.release, system.machine);
  out.allowed_cpus = svengine::allowed_cpus().size();
  return out;
}

Json to_json(const Info& info) {
  const kernels::KernelTable& kernels = *info.session.kernels;
  return {
      {"version", SVENGINE_VERSION},
      {"build", SVENGINE_BUILD},
      {"operators", info.operators},
      {"system", info.system},
      {"processor", info.processor},
      {"allowed_cpus", info.allowed_cpus},
      {"memory_bytes", info.memory_bytes},
      {"kernel_sets", info.kernel_sets},
      {"kernel_set", kernels.name},
      {"vector_bits", kernels.lanes * 32},
      {"openblas", info.openblas},
      {"threads", info.session.topology.threads()},
      {"topology", to_string(info.session.topology)},
      {"huge_pages", info.huge_pages},
      {"arena_pages", info.arena_pages},
      {"flush_denormals", info.session.flush_denormals},
  };
}

std::string to_text(const Info& info) {
  const kernels::KernelTable& kernels = *info.session.kernels;
  Table table;
  table.row({"version", fmt::format("svengine {} ({})", SVENGINE_VERSION, SVENGINE_BUILD)});
  table.row({"operators", std::to_string(info.operators)});
  table.row({"system", info.system});
  table.row({"processor", fmt::format("{}, {} allowed cpus", info.processor, info.allowed_cpus)});
  table.row({"memory", bytes_text(static_cast<double>(info.memory_bytes))});
  table.row({"kernel set", fmt::format("{} (available: {})", kernels.name, info.kernel_sets)});
  table.row({"vector length", fmt::format("{} bits", kernels.lanes * 32)});
  table.row({"openblas", info.openblas});
  table.row({"threads", std::to_string(info.session.topology.threads())});
  table.row({"topology", to_string(info.session.topology)});
  table.row({"huge pages", info.huge_pages});
  table.row({"arena pages", info.arena_pages});
  table.row({"denormals", info.session.flush_denormals ? "flushed to zero inside runs, the caller's mode restored" : "kept"});
  return table.text();
}

Result<int> run(const Options& options) {
  SV_ASSIGN(SessionOptions session, options.runtime.resolve());
  if (!session.kernels) {
    if (kernels::available_kernel_sets().empty())
      return error("this processor ({}) runs none of the fast kernel sets built into this program; --kernels reference runs anywhere",
                   processor_name());
    session.kernels = kernels::available_kernel_sets().front();
  }
  const Info info = collect(session);
  if (options.json) put_json(to_json(info));
  else put(to_text(info));
  return kSuccess;
}

}  // namespace info_command

Action add_info(Command& program) {
  using namespace info_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("info", "Show this build, processor, kernel set, topology and memory pages");
  add_runtime_options(command, options->runtime);
  add_json(command, options->json);
  command.footer("Examples:\n  svengine info\n  svengine info --topology 4x12\n  OMP_NUM_THREADS=12 svengine info --json");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
