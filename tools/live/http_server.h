// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// A server for one reader on this host: HTTP on 127.0.0.1, GET only, one answer a connection, by
/// cpp-httplib. A request is answered only if its path begins with a random token and its Host is
/// this host, so neither other users nor pages of other sites can read anything. No path names a
/// file. A connection is closed when it says nothing for two seconds, has not asked in full after
/// five, or has not taken its answer after thirty. It holds up no other: each has a thread of its
/// own, up to 256, beyond which others wait to be accepted.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace chameleon::tools {

struct HttpAnswer {
  int status = 404;
  std::string type = "text/plain; charset=utf-8", body = "not found\n";
};

/// `TOKEN/NAME` is answered by the handler, with `name` as its argument, one request at a time.
/// Everything else, and what breaks the rules above, has an answer of its own.
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(std::string_view name)>;

  explicit HttpServer(Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Listens on `port`, or on a free one if it is 0.
  Status listen(std::uint16_t port);
  /// `http://127.0.0.1:PORT/TOKEN/`.
  std::string url() const;
  /// Serves until the process ends. Error: it cannot.
  Status serve();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace chameleon::tools
