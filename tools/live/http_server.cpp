// SPDX-License-Identifier: BSD-3-Clause
#include "tools/live/http_server.h"

#include <httplib.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace chameleon::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostConnections = 256;
constexpr std::size_t kMostRequestBytes = 65536;
/// How long a connection may say nothing, take to ask, and take to receive its answer.
constexpr std::chrono::seconds kSilence(2), kAsking(5), kAnswering(30);

/// 128 bits that nobody can guess; empty if there are none.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

/// In a time that does not tell how much of it agrees.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differ = 0;
  for (std::size_t at = 0; at < a.size(); ++at)
    differ |= static_cast<unsigned char>(a[at]) ^ static_cast<unsigned char>(b[at]);
  return differ == 0;
}

/// A page of another site reaches this server under that site's name.
bool is_own_host(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  const std::string name = host.substr(0, colon);
  const bool port = colon == std::string::npos ||
                    host.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return port && (name == "127.0.0.1" || name == "localhost");
}

HttpAnswer refusal(int status, const char* why) {
  return {status, "text/plain; charset=utf-8", std::string(why) + "\n"};
}

HttpAnswer answer_of(const httplib::Request& request, std::string_view token,
                     const HttpServer::Handler& handler) {
  if (request.method != "GET") return refusal(405, "only GET");
  if (request.get_header_value_count("Host") != 1 || !is_own_host(request.get_header_value("Host")))
    return refusal(403, "not this host");
  const std::string_view target = request.target;
  const std::size_t slash = target.find('/', 1);
  if (target.empty() || target[0] != '/' || slash == std::string_view::npos ||
      !same_secret(target.substr(1, slash - 1), token))
    return refusal(403, "the address lacks its token");
  return handler(target.substr(slash + 1));
}

/// A thread for each connection, so that one that says nothing holds up no other.
class Connections final : public httplib::TaskQueue {
 public:
  /// In newer versions of the library it says whether the task was taken.
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Taken enqueue(std::function<void()> task) override {
    std::unique_lock held(mutex_);
    changed_.wait(held, [this] { return count_ < kMostConnections; });
    ++count_;
    std::thread([this, task = std::move(task)] {
      task();
      const std::lock_guard done(mutex_);
      --count_;
      changed_.notify_all();
    }).detach();
    return Taken(true);
  }
  void shutdown() override {
    std::unique_lock held(mutex_);
    changed_.wait(held, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

/// A connection that has an end in time for all of its request, and for all of its answer: one
/// that says a byte a second would have a thread for good. The library bounds single reads only.
/// It asks for other functions in other versions; here are those of all.
class TimedStream final : public httplib::Stream {
 public:
  explicit TimedStream(socket_t socket) : socket_(socket) {}

  // NOLINTBEGIN(modernize-use-override): not all of them are virtual in all versions
  virtual bool is_readable() const { return from_ < to_ || wait(POLLIN); }
  virtual bool is_writable() const { return wait(POLLOUT); }
  virtual void get_local_ip_and_port(std::string&, int&) const {}
  virtual bool wait_readable() const { return is_readable(); }
  virtual bool wait_writable() const { return is_writable(); }
  virtual time_t duration() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_).count();
  }
  virtual ssize_t read(char* bytes, std::size_t size) {
    if (from_ == to_) {
      if (taken_ >= kMostRequestBytes || !wait(POLLIN)) return -1;
      const ssize_t got = ::recv(socket_, room_.data(), room_.size(), MSG_DONTWAIT);
      if (got <= 0) return got;
      from_ = 0;
      to_ = static_cast<std::size_t>(got);
      taken_ += to_;
    }
    const std::size_t given = std::min(size, to_ - from_);
    std::memcpy(bytes, room_.data() + from_, given);
    from_ += given;
    return static_cast<ssize_t>(given);
  }

  virtual ssize_t write(const char* bytes, std::size_t size) {
    if (!answers_) end_ = Clock::now() + kAnswering;
    answers_ = true;
    for (std::size_t done = 0; done < size;) {
      if (!wait(POLLOUT)) return -1;
      const ssize_t sent = ::send(socket_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return -1;
      if (sent > 0) done += static_cast<std::size_t>(sent);
    }
    return static_cast<ssize_t>(size);
  }

  virtual void get_remote_ip_and_port(std::string&, int&) const {}
  virtual socket_t socket() const { return socket_; }
  // NOLINTEND

 private:
  /// For `events` of the socket, until one of the ends.
  bool wait(short events) const {
    const Clock::time_point end = answers_ ? end_ : std::min(end_, Clock::now() + kSilence);
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return false;
      pollfd one{socket_, events, 0};
      const int ready = ::poll(&one, 1, static_cast<int>(left.count()));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  socket_t socket_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point end_ = begin_ + kAsking;
  bool answers_ = false;
  std::array<char, 4096> room_{};
  std::size_t from_ = 0, to_ = 0, taken_ = 0;
};

/// All versions of the library give a connection to this function, which that for TLS overrides
/// likewise. There is no public way to an end in time for a whole request.
class TimedServer final : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    TimedStream stream(socket);
    const bool done = process(*this, stream);
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return done;
  }

  /// Newer versions are given both addresses, for handlers and logs, of which there are none.
  template <class Server>
  static bool process(Server& server, httplib::Stream& stream) {
    bool closed = false;
    if constexpr (requires { server.process_request(stream, true, closed, nullptr); })
      return server.process_request(stream, true, closed, nullptr);
    else
      return server.process_request(stream, {}, 0, {}, 0, true, closed, nullptr);
  }
};

}  // namespace

struct HttpServer::State {
  Handler handler;
  std::unique_ptr<httplib::Server> server = std::make_unique<TimedServer>();
  std::mutex one_at_a_time;
  std::string token;
  int port = 0;
};

HttpServer::HttpServer(Handler handler) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.handler = std::move(handler);
  httplib::Server& server = *state.server;
  server.new_task_queue = [] { return new Connections; };
  server.set_payload_max_length(0);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"}});
  server.set_pre_routing_handler(
      [&state](const httplib::Request& request, httplib::Response& response) {
        const std::lock_guard held(state.one_at_a_time);
        const HttpAnswer answer = answer_of(request, state.token, state.handler);
        response.status = answer.status;
        if (answer.status == 405) response.set_header("Allow", "GET");
        response.set_content(answer.body, answer.type.c_str());
        return httplib::Server::HandlerResponse::Handled;
      });
}

HttpServer::~HttpServer() = default;

Status HttpServer::listen(std::uint16_t port) {
  const auto failed = [](const std::string& what) {
    return Error{ErrorKind::kSystem, what + ": " + std::strerror(errno), 0};
  };
  constexpr const char* kLoopback = "127.0.0.1";
  state_->token = random_token();
  if (state_->token.empty()) return failed("no random numbers");
  errno = 0;
  if (port == 0)
    state_->port = state_->server->bind_to_any_port(kLoopback);
  else
    state_->port = state_->server->bind_to_port(kLoopback, port) ? port : -1;
  if (state_->port <= 0) return failed("port " + std::to_string(port));
  return Unit{};
}

std::string HttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/" + state_->token + "/";
}

Status HttpServer::serve() {
  state_->server->listen_after_bind();
  return Error{ErrorKind::kSystem, "no connection can be accepted any more", 0};
}

}  // namespace chameleon::tools
