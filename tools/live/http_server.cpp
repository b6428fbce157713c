// SPDX-License-Identifier: BSD-3-Clause
#include "tools/live/http_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace chameleon::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostRequest = 8192, kMostConnections = 64;
constexpr auto kPatience = std::chrono::seconds(5);
constexpr std::string_view kEnd = "\r\n\r\n";

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

std::string lower(std::string_view text) {
  std::string letters(text);
  for (char& letter : letters)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return letters;
}

/// The only value of a header; empty if there is none, or several.
std::string header(std::string_view request, std::string_view name) {
  std::string found;
  std::size_t count = 0;
  for (std::size_t at = request.find("\r\n"); at != std::string_view::npos;) {
    const std::size_t begin = at + 2, end = request.find("\r\n", begin);
    const std::string_view line = request.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && lower(line.substr(0, colon)) == name) {
      found = lower(line.substr(colon + 1));
      ++count;
    }
    at = end;
  }
  const std::size_t first = found.find_first_not_of(" \t");
  if (count != 1 || first == std::string::npos) return "";
  return found.substr(first, found.find_last_not_of(" \t") + 1 - first);
}

/// A page of another site reaches this server under that site's name.
bool is_own_host(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  const std::string name = host.substr(0, colon);
  const bool port = colon == std::string::npos ||
                    host.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return port && (name == "127.0.0.1" || name == "localhost");
}

const char* reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    default: return "Not Found";
  }
}

HttpAnswer refusal(int status, const char* why) {
  return {status, "text/plain; charset=utf-8", std::string(why) + "\n"};
}

std::string in_full(const HttpAnswer& answer) {
  return "HTTP/1.1 " + std::to_string(answer.status) + " " + reason(answer.status) +
         "\r\nContent-Type: " + answer.type +
         "\r\nContent-Length: " + std::to_string(answer.body.size()) +
         (answer.status == 405 ? "\r\nAllow: GET" : "") +
         "\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer"
         "\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY"
         "\r\nConnection: close" +
         std::string(kEnd) + answer.body;
}

}  // namespace

HttpAnswer answer_request(std::string_view request, std::string_view token,
                          const HttpServer::Handler& handler) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' '), second = line.rfind(' ');
  if (first == std::string_view::npos || second == first || line.substr(second + 1, 5) != "HTTP/")
    return refusal(400, "not a request");
  if (line.substr(0, first) != "GET") return refusal(405, "only GET");
  if (!is_own_host(header(request, "host"))) return refusal(403, "not this host");
  const std::string_view target = line.substr(first + 1, second - first - 1);
  const std::size_t slash = target.find('/', 1);
  if (target.empty() || target[0] != '/' || slash == std::string_view::npos ||
      !same_secret(target.substr(1, slash - 1), token))
    return refusal(403, "the address lacks its token");
  return handler(target.substr(slash + 1));
}

HttpServer::~HttpServer() {
  for (const Connection& connection : connections_) ::close(connection.socket);
  if (listener_ >= 0) ::close(listener_);
}

Status HttpServer::listen(std::uint16_t port) {
  const auto failed = [](const std::string& what) {
    return Error{ErrorKind::kSystem, what + ": " + std::strerror(errno), 0};
  };
  token_ = random_token();
  if (token_.empty()) return failed("no random numbers");
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return failed("socket");
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, any, &size) != 0)
    return failed("port " + std::to_string(port));
  port_ = ntohs(address.sin_port);
  return Unit{};
}

std::string HttpServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + token_ + "/";
}

void HttpServer::accept_one() {
  const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  connections_.push_back({socket, Clock::now() + kPatience, {}, {}, 0});
}

bool HttpServer::advance(Connection& connection) {
  if (connection.answer.empty()) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(connection.socket, bytes.data(), bytes.size(), 0);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EINTR;
    connection.request.append(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t end = connection.request.find(kEnd);
    if (connection.request.size() > kMostRequest)
      connection.answer = in_full(refusal(431, "the request is too long"));
    else if (end == std::string::npos)
      return false;
    else
      connection.answer = in_full(
          answer_request(std::string_view(connection.request).substr(0, end), token_, handler_));
    connection.until = Clock::now() + kPatience;
  }
  const ssize_t sent = ::send(connection.socket, connection.answer.data() + connection.sent,
                              connection.answer.size() - connection.sent, MSG_NOSIGNAL);
  if (sent < 0) return errno != EAGAIN && errno != EINTR;
  connection.sent += static_cast<std::size_t>(sent);
  if (sent > 0) connection.until = Clock::now() + kPatience;
  if (connection.sent < connection.answer.size()) return false;
  ::shutdown(connection.socket, SHUT_WR);
  return true;
}

void HttpServer::serve(int stop) {
  for (;;) {
    std::vector<pollfd> waits = {{stop, POLLIN, 0}};
    for (const Connection& one : connections_)
      waits.push_back({one.socket, static_cast<short>(one.answer.empty() ? POLLIN : POLLOUT), 0});
    if (connections_.size() < kMostConnections) waits.push_back({listener_, POLLIN, 0});
    if (::poll(waits.data(), waits.size(), connections_.empty() ? -1 : 250) < 0 && errno != EINTR)
      return;
    if (waits.front().revents != 0) return;
    const std::size_t before = connections_.size();
    std::vector<Connection> kept;
    for (std::size_t at = 0; at < before; ++at) {
      Connection& one = connections_[at];
      const bool done = waits[at + 1].revents != 0 ? advance(one) : Clock::now() > one.until;
      if (done)
        ::close(one.socket);
      else
        kept.push_back(std::move(one));
    }
    connections_ = std::move(kept);
    if (waits.size() > before + 1 && waits.back().revents != 0) accept_one();
  }
}

}  // namespace chameleon::tools
