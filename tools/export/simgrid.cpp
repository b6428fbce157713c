// SPDX-License-Identifier: BSD-3-Clause
/// SimGrid's time-independent traces for `smpirun -replay` (F. Desprez, G. Markomanolis,
/// F. Suter: "Improving the accuracy and efficiency of time-independent trace replay",
/// 2012): rank.N.txt for each rank, and traces.txt, the list of them. Computing is in flops, one
/// a nanosecond: a host of 1 Gf/s computes as fast as the traced one. Sizes are bytes; an empty
/// message has one, because a size of 0 would make the replay probe.

#include <filesystem>

#include "tools/export/schedule.h"

namespace chameleon::tools {
namespace {

std::string number(std::int64_t value) { return " " + std::to_string(value); }

std::string list(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += number(value);
  return text;
}

/// A collective of all ranks as an action, or nothing.
std::string action_of(const Operation& operation, const VectorBytes& vectors, std::int64_t n) {
  const CallPlan& plan = *operation.collective;
  const Movement& movement = plan.movement;
  const bool blocks = movement.part == Movement::Part::kBlock;
  const std::string sent = number(operation.sent);
  const std::string root = number(operation.root < 0 ? 0 : operation.root);
  if (!movement.moves()) return "barrier";
  if (movement.from_root())
    return blocks ? "" : "bcast" + number(operation.sent + operation.received) + root;
  if (movement.to_root()) return plan.combines ? "reduce" + sent + " 0" + root : "";
  if (movement.from != Movement::From::kAll) return "";  // a scan
  if (plan.combines) return blocks ? "" : "allreduce" + sent + " 0";
  if (!blocks && plan.many_received) return "allgatherv" + sent + list(vectors.received);
  if (!blocks) return "allgather" + sent + number(operation.received / n);
  if (plan.many_sent)
    return "alltoallv" + sent + list(vectors.sent) + number(operation.received) +
           list(vectors.received);
  return "alltoall" + number(operation.sent / n) + number(operation.received / n);
}

class SimGrid final : public ScheduleWriter {
 public:
  explicit SimGrid(std::string folder) : folder_(std::move(folder)) {}

  Status finish() {
    std::error_code error;
    const std::string full = std::filesystem::absolute(folder_, error).string();
    TextFile list(folder_ + "/traces.txt");
    for (const std::uint32_t rank : ranks_)
      list << full << "/rank." << std::to_string(rank) << ".txt\n";
    if (!failed_.message.empty()) return failed_;
    return list.close();
  }

  void begin_rank(std::uint32_t rank) override {
    ranks_.push_back(rank);
    prefix_ = std::to_string(rank) + " ";
    file_.emplace(folder_ + "/rank." + std::to_string(rank) + ".txt");
    finalized_ = false;
    requests_.clear();
    line("init");
  }
  void end_rank() override {
    if (!finalized_) line("finalize");
    if (const Status closed = file_->close(); !closed) failed_ = closed.error();
    file_.reset();
  }
  void finalize() override {
    line("finalize");
    finalized_ = true;
  }
  void compute(std::uint64_t ns) override { line("compute " + std::to_string(ns)); }
  void send(const Message& message) override { line("send " + to(message)); }
  void receive(const Message& message) override { line("recv " + from(message)); }
  void start_send(std::uint64_t request, const Message& message) override {
    requests_[request] = message;
    line("isend " + to(message));
  }
  void start_receive(std::uint64_t request, const Message& message) override {
    requests_[request] = message;
    line("irecv " + from(message));
  }
  void wait(std::uint64_t request) override {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return;
    const Message& message = found->second;
    line("wait " + std::to_string(message.source) + " " + std::to_string(message.dest) + " " +
         std::to_string(message.tag));
    requests_.erase(found);
  }
  // Those that 3.32 reads the arguments of right; the others go as messages.
  bool collective(const Operation& operation, const VectorBytes& vectors,
                  std::uint32_t ranks) override {
    const std::string text = action_of(operation, vectors, ranks);
    if (!text.empty()) line(text);
    return !text.empty();
  }

 private:
  static std::string size(const Message& message) {
    return std::to_string(message.bytes < 1 ? 1 : message.bytes);
  }
  static std::string to(const Message& message) {
    return std::to_string(message.dest) + " " + std::to_string(message.tag) + " " + size(message);
  }
  static std::string from(const Message& message) {
    return std::to_string(message.source) + " " + std::to_string(message.tag) + " " + size(message);
  }
  void line(const std::string& text) { *file_ << prefix_ << text << "\n"; }

  const std::string folder_;
  std::string prefix_;
  std::optional<TextFile> file_;
  bool finalized_ = false;
  std::vector<std::uint32_t> ranks_;
  std::map<std::uint64_t, Message> requests_;
  Error failed_;
};

}  // namespace

Result<ExportReport> export_simgrid(const ExportRequest& request) {
  if (!(request.ranks == request.trace.ranks))
    return Error{ErrorKind::kUsage, "a replay needs all ranks: no --ranks with --simgrid", 0};
  if (const Status made = make_folder(request.output); !made) return made.error();
  ExportReport report(request);
  SimGrid writer(request.output);
  if (const Status done = write_schedule(request.trace, writer, report); !done) return done.error();
  if (const Status done = writer.finish(); !done) return done.error();
  report.notes.push_back("1 flop a nanosecond of computing; empty messages have one byte");
  return report;
}

ExportSize simgrid_size(const ExportShape& shape) {
  const ScheduleShape said(shape);
  std::error_code error;
  const double folder = length(std::filesystem::absolute(shape.request->output, error).string());
  const double line = shape.rank + 2;
  double bytes = shape.world * (folder + length("/rank..txt\n") + shape.rank + 2 * line +
                                length("init") + length("finalize"));
  for (const CallShape& call : shape.calls) {
    const bool known = call.on_world && !call.requests;  // else it is messages
    const double blocks = call.plan->many_sent || call.plan->many_received ? 2 * call.members : 0;
    bytes +=
        said.computes(call) * (line + length("compute ") + shape.time) +
        said.messages(call) * (line + length("isend   ") + call.bytes + shape.rank + said.tag()) +
        said.waits(call) * (line + length("wait   ") + 2 * shape.rank + said.tag());
    if (known)
      bytes += call.collectives * (line + length("allgatherv    ") + 2 * call.bytes + shape.rank +
                                   blocks * (call.bytes + 1));
  }
  return {bytes, 0};
}

}  // namespace chameleon::tools
