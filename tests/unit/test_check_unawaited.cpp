// SPDX-License-Identifier: BSD-3-Clause
#include "unit/check_job.h"

using namespace chameleon;
using namespace chameleon::analysis;
using namespace chameleon::testing;
using Job = CheckJob;

namespace {

/// The sends that need not be waited for; nothing is left out, and nothing is wrong.
Omissions unawaited(Job& job) {
  job.finalize();
  const Trace trace = job.build();
  CHECK(check(trace)->ok);
  Omissions left_out, sends;
  const Result<CheckReport> report = check(trace, &left_out, &sends);
  REQUIRE(report);
  CHECK(report->ok);
  CHECK(report->problem_count == 0);
  for (const auto& list : left_out) CHECK(list.empty());
  return sends;
}

std::size_t count(const Omissions& sends) {
  std::size_t all = 0;
  for (const auto& list : sends) all += list.size();
  return all;
}

void exchange(Job& job, int self, int dest, int source) {
  job.push(static_cast<std::uint32_t>(self), kSendrecv,
           {0, 1, kInt, job.at(dest, self), 1, 0, 1, kInt, job.at(source, self), 1, 0, Job::none(),
            kNotRecorded, kNotRecorded});
}

}  // namespace

TEST_CASE("a program that needs no buffers waits for all of its sends") {
  Job job(3);
  for (int step = 0; step < 3; ++step) {
    for (int self = 0; self < 3; ++self) exchange(job, self, (self + 1) % 3, (self + 2) % 3);
    job.send(0, 1, 2);
    job.recv(1, 0, 2);
    for (int self = 0; self < 2; ++self) {
      const auto rank = static_cast<std::uint32_t>(self);
      job.irecv(self, job.at(1 - self, self), 5, 0);
      job.push(rank, kIsend, {0, 1, kInt, job.at(1 - self, self), 5, 0, 1});
      job.push(
          rank, kWaitall,
          {2, job.array({0, 1}), job.array({1 - self, -1}), job.array({5, -1}), job.array({4, 0})});
    }
  }
  CHECK(count(unawaited(job)) == 0);
}

TEST_CASE("of blocking sends in a circle one is not waited for") {
  Job job(3);
  for (int self = 0; self < 3; ++self) job.send(self, (self + 1) % 3, 1);
  for (int self = 0; self < 3; ++self) job.recv(self, (self + 2) % 3, 1);
  const Omissions sends = unawaited(job);
  CHECK(count(sends) == 1);
  CHECK(sends[0] == std::vector<Omission>{{1, 0}});
}

TEST_CASE("a rank that sends to itself before it receives does not wait") {
  Job job(1);
  job.send(0, 0, 1);
  job.recv(0, 0, 1);
  CHECK(unawaited(job)[0] == std::vector<Omission>{{1, 0}});
}

TEST_CASE("nonblocking and persistent sends in a circle are not waited for") {
  Job job(2);
  for (std::uint32_t self = 0; self < 2; ++self) {
    const int other = self == 0 ? 1 : 0;
    job.push(self, kIsend, {0, 1, kInt, job.at(other, static_cast<int>(self)), 1, 0, 0});
    job.wait(static_cast<int>(self), 0);
    job.recv(static_cast<int>(self), other, 1);
    job.push(self, kSendInit, {0, 1, kInt, job.at(other, static_cast<int>(self)), 2, 0, 1});
    for (int step = 0; step < 2; ++step) {
      job.push(self, kStartall, {1, job.array({1})});
      job.wait(static_cast<int>(self), 1);
      job.recv(static_cast<int>(self), other, 2);
    }
  }
  const Omissions sends = unawaited(job);
  CHECK(count(sends) == 3);  // one of each circle
  for (const auto& list : sends)
    for (const Omission& send : list) CHECK((send.event == 1 || send.event % 3 == 2));
}

TEST_CASE("an exchange waits for its send when it has received") {
  Job job(2);
  exchange(job, 0, 1, 1);
  job.send(1, 0, 1);
  job.recv(1, 0, 1);
  CHECK(count(unawaited(job)) == 0);
}
