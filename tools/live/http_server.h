// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A server for one reader on this host: HTTP/1.1 on 127.0.0.1, GET only, one answer a connection.
/// A request is answered only if its path begins with a random token and its Host is this host, so
/// neither other users nor pages of other sites can read anything. No path names a file. Requests
/// are bounded in bytes and time, and no client can hold up another.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace chameleon::tools {

struct HttpAnswer {
  int status = 404;
  std::string type = "text/plain; charset=utf-8", body = "not found\n";
};

/// `TOKEN/NAME` is answered by the handler, with `name` as its argument. Everything else, and what
/// breaks the rules above, has an answer of its own.
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(std::string_view name)>;

  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {}
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Listens on `port`, or on a free one if it is 0.
  Status listen(std::uint16_t port);
  /// `http://127.0.0.1:PORT/TOKEN/`.
  std::string url() const;
  /// Serves until `stop` reads something. Waits for nothing but requests.
  void serve(int stop);

 private:
  struct Connection {
    int socket = -1;
    std::chrono::steady_clock::time_point until;  ///< dropped then, if nothing has moved
    std::string request, answer;
    std::size_t sent = 0;
  };

  void accept_one();
  /// True if the connection is done with.
  bool advance(Connection& connection);

  Handler handler_;
  std::string token_;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  std::vector<Connection> connections_;
};

/// The answer to a complete request.
HttpAnswer answer_request(std::string_view request, std::string_view token,
                          const HttpServer::Handler& handler);

}  // namespace chameleon::tools
