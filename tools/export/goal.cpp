// SPDX-License-Identifier: BSD-3-Clause
/// GOAL (T. Hoefler, C. Siebert, A. Lumsdaine: "Group Operation Assembly Language",
/// 2009), the text that LogGOPSim's txt2bin reads: a graph of calc, send and recv a
/// rank. Calls in a row require each other; what a request began is required only
/// where it is waited for. Collectives are messages. calc is in nanoseconds.

#include "tools/export/schedule.h"

namespace chameleon::tools {
namespace {

class Goal final : public ScheduleWriter {
 public:
  Goal(TextFile& file) : file_(file) {}

  void begin_rank(std::uint32_t rank) override {
    file_ << "\nrank " << std::to_string(rank) << " {\n";
    labels_ = last_ = 0;
    requests_.clear();
  }
  void end_rank() override { file_ << "}\n"; }
  void compute(std::uint64_t ns) override { last_ = operation("calc " + std::to_string(ns)); }
  void send(const Message& message) override { last_ = operation(to(message)); }
  void receive(const Message& message) override { last_ = operation(from(message)); }
  void start_send(std::uint64_t request, const Message& message) override {
    requests_[request] = operation(to(message));
  }
  void start_receive(std::uint64_t request, const Message& message) override {
    requests_[request] = operation(from(message));
  }
  void wait(std::uint64_t request) override {
    const auto found = requests_.find(request);
    if (found == requests_.end()) return;
    const std::uint64_t began = found->second;
    requests_.erase(found);
    last_ = operation("calc 0");
    require(last_, began);
  }
  bool collective(const Operation&, const VectorBytes&, std::uint32_t) override { return false; }

 private:
  std::uint64_t operation(const std::string& text) {
    const std::uint64_t label = ++labels_;
    file_ << "l" << label << ": " << text << "\n";
    if (last_ != 0) require(label, last_);
    return label;
  }
  void require(std::uint64_t label, std::uint64_t before) {
    file_ << "l" << label << " requires l" << before << "\n";
  }
  static std::string to(const Message& message) {
    return "send " + std::to_string(message.bytes) + "b to " + std::to_string(message.dest) +
           " tag " + std::to_string(message.tag);
  }
  static std::string from(const Message& message) {
    return "recv " + std::to_string(message.bytes) + "b from " + std::to_string(message.source) +
           " tag " + std::to_string(message.tag);
  }

  TextFile& file_;
  std::uint64_t labels_ = 0, last_ = 0;
  std::map<std::uint64_t, std::uint64_t> requests_;
};

}  // namespace

Result<ExportReport> export_goal(const ExportRequest& request) {
  if (!(request.ranks == request.trace.ranks))
    return Error{ErrorKind::kUsage, "a schedule needs all ranks: no --ranks with --goal", 0};
  ExportReport report(request);
  TextFile file(request.output);
  file << "num_ranks " << std::to_string(request.trace.world_size) << "\n";
  Goal writer(file);
  if (const Status done = write_schedule(request.trace, writer, report); !done) return done.error();
  if (const Status closed = file.close(); !closed) return closed.error();
  return report;
}

ExportSize goal_size(const ExportShape& shape) {
  const ScheduleShape said(shape);
  double labels = 1;
  for (const CallShape& call : shape.calls)
    if (call.streams > 0) labels += said.operations(call) / call.streams;
  const double label = 1 + digits_of(labels);
  const double require = length(" requires \n") + 2 * label,
               line = label + length(": \n") + require;
  double bytes = 40 + shape.world * (length("\nrank  {\n}\n") + shape.rank);
  for (const CallShape& call : shape.calls) {
    const double message = line + length("send b to  tag ") + call.bytes + shape.rank + said.tag();
    bytes += said.computes(call) * (line + length("calc ") + shape.time) +
             said.messages(call) * message + said.waits(call) * (line + require + length("calc 0"));
  }
  return {bytes, 0};
}

}  // namespace chameleon::tools
