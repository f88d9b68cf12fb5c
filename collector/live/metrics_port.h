// The metrics of a running job over HTTP, for a Prometheus on the same host: http://127.0.0.1:PORT
// /metrics. Nobody else's host can ask, and whoever asks can't get at the recording: libmicrohttpd
// serves a text that is ready on a thread of its own at the kernel's lowest priority, to few
// connections, each with little memory and little time. Nothing of a request is kept or logged.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::live {

// A socket that listens on loopback. Port 0 is any free one.
Result<os::FileDescriptor> ListenOnLoopback(uint16_t port);
// That it listens on.
uint16_t PortOf(int listener);

class MetricsPort {
 public:
  static constexpr unsigned kMostConnections = 16;
  static constexpr size_t kConnectionBytes = 8 << 10;       // for a request's head
  static constexpr int64_t kConnectionNs = 10'000'000'000;  // from its beginning to its end

  // Serves on |listener|, which stays the caller's. libmicrohttpd is looked for now; where it isn't
  // there the status says what to install.
  static Result<std::unique_ptr<MetricsPort>> Open(int listener);
  ~MetricsPort();
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  // What is served from now on (503 before the first), and the end of connections that have taken
  // too long.
  void Publish(const std::string& text, int64_t raw_ns);

 private:
  struct Server;
  explicit MetricsPort(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace tutti::collector::live
