#include "tools/support/profile.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/arena.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

struct Sum {
  ProfileEntry entry;
  std::set<std::string> nodes;
  double flops = 0;
  int64_t nanoseconds = 0, costliest = -1;
};

template <class Key>
std::vector<ProfileEntry> add_up(const std::vector<ProfileRow>& rows, int64_t runs, Key&& key) {
  std::map<std::string, Sum> sums;
  int64_t total = 0;
  for (const ProfileRow& row : rows) {
    Sum& sum = sums[key(row)];
    sum.entry.op = row.op;
    sum.entry.node = row.node;
    sum.nodes.insert(row.node);
    sum.nanoseconds += row.nanoseconds;
    sum.flops += row.cost.flops;
    total += row.nanoseconds;
    if (row.nanoseconds > sum.costliest) sum.costliest = row.nanoseconds, sum.entry.kernel = row.kernel;
  }
  std::vector<ProfileEntry> out;
  for (auto& [name, sum] : sums) {
    ProfileEntry& e = sum.entry;
    const auto ns = static_cast<double>(sum.nanoseconds) / static_cast<double>(runs);
    e.count = static_cast<int64_t>(sum.nodes.size());
    e.ms = ns * 1e-6;
    e.share = total ? static_cast<double>(sum.nanoseconds) / static_cast<double>(total) : 0;
    e.gflops = ns > 0 ? sum.flops / ns : 0;
    out.push_back(std::move(e));
  }
  std::stable_sort(out.begin(), out.end(), [](const ProfileEntry& a, const ProfileEntry& b) { return a.ms > b.ms; });
  return out;
}

}  // namespace

std::vector<ProfileEntry> profile_by_node(const std::vector<ProfileRow>& rows, int64_t runs) {
  return add_up(rows, runs, [](const ProfileRow& row) { return row.op + '\n' + row.node; });
}

std::vector<ProfileEntry> profile_by_operator(const std::vector<ProfileRow>& rows, int64_t runs) {
  return add_up(rows, runs, [](const ProfileRow& row) { return row.op; });
}

std::string memory_text(const Plan& plan, size_t top) {
  const FullestStep fullest = fullest_step(plan.slots);
  std::vector<const Slot*> live;
  for (const Slot& s : plan.slots)
    if (s.kind == SlotKind::arena && s.first_step <= fullest.step && fullest.step <= s.last_step) live.push_back(&s);
  if (live.empty()) return "";
  std::stable_sort(live.begin(), live.end(), [](const Slot* a, const Slot* b) { return a->bytes > b->bytes; });
  Table table({"size", "steps", "value"}, {Table::Align::right, Table::Align::right, Table::Align::left});
  for (size_t i = 0; i < std::min(top, live.size()); ++i)
    table.row({bytes_text(static_cast<double>(live[i]->bytes)), fmt::format("{}-{}", live[i]->first_step, live[i]->last_step),
               live[i]->name});
  const auto at = static_cast<size_t>(fullest.step);
  const auto text = [](int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  return fmt::format("largest {} of {} values at step {} of {}, node '{}', where {} of an arena of {} are in use\n{}",
                     std::min(top, live.size()), live.size(), at, plan.steps.size(),
                     at < plan.steps.size() ? plan.steps[at].node : "", text(fullest.bytes), text(plan.arena_bytes), table.text("  "));
}

std::string profile_text(const std::vector<ProfileRow>& rows, int64_t runs, size_t top) {
  constexpr auto kLeft = Table::Align::left, kRight = Table::Align::right;
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const std::vector<ProfileEntry> nodes = profile_by_node(rows, runs), ops = profile_by_operator(rows, runs);
  Table by_node({"ms", "share", "GFLOP/s", "operator", "kernel", "node"}, {kRight, kRight, kRight, kLeft, kLeft, kLeft});
  for (size_t i = 0; i < std::min(top, nodes.size()); ++i) {
    const ProfileEntry& e = nodes[i];
    by_node.row({fmt::format("{:.3f}", e.ms), percent(e.share), fmt::format("{:.1f}", e.gflops), e.op, e.kernel, e.node});
  }
  Table by_op({"ms", "share", "GFLOP/s", "operator", "nodes"}, {kRight, kRight, kRight, kLeft, kRight});
  for (size_t i = 0; i < std::min(top, ops.size()); ++i) {
    const ProfileEntry& e = ops[i];
    by_op.row({fmt::format("{:.3f}", e.ms), percent(e.share), fmt::format("{:.1f}", e.gflops), e.op, std::to_string(e.count)});
  }
  return fmt::format("costliest {} of {} nodes\n{}\ncostliest {} of {} operators\n{}", std::min(top, nodes.size()), nodes.size(), by_node.text("  "),
                     std::min(top, ops.size()), ops.size(), by_op.text("  "));
}

}  // namespace svengine::tool
