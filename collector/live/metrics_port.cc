#include "collector/live/metrics_port.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"

namespace tutti::collector::live {
namespace {

constexpr const char* kLibrary = "libmicrohttpd.so.12";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
// The same text is valid Prometheus text, where "# EOF" is a comment.
constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kPlainText = "text/plain; charset=utf-8";

// Not linked: with what it needs itself it would be loaded by every command.
struct Library {
  decltype(&MHD_start_daemon) start = nullptr;
  decltype(&MHD_stop_daemon) stop = nullptr;
  decltype(&MHD_create_response_from_buffer) make_response = nullptr;
  decltype(&MHD_destroy_response) free_response = nullptr;
  decltype(&MHD_add_response_header) add_header = nullptr;
  decltype(&MHD_queue_response) queue_response = nullptr;
  decltype(&MHD_lookup_connection_value) header_of = nullptr;
  decltype(&MHD_get_connection_info) info_of = nullptr;
};

template <typename Function>
bool Find(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return *function != nullptr;
}

Result<Library> LoadLibrary() {
  void* const handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // never closed
  Library found;
  if (handle == nullptr || !Find(handle, "MHD_start_daemon", &found.start) ||
      !Find(handle, "MHD_stop_daemon", &found.stop) ||
      !Find(handle, "MHD_create_response_from_buffer", &found.make_response) ||
      !Find(handle, "MHD_destroy_response", &found.free_response) ||
      !Find(handle, "MHD_add_response_header", &found.add_header) ||
      !Find(handle, "MHD_queue_response", &found.queue_response) ||
      !Find(handle, "MHD_lookup_connection_value", &found.header_of) ||
      !Find(handle, "MHD_get_connection_info", &found.info_of)) {
    return Status(
        StatusCode::kUnavailable,
        std::string(kLibrary) + " is not there (Debian: apt-get install libmicrohttpd12)");
  }
  return found;
}

}  // namespace

Result<os::FileDescriptor> ListenOnLoopback(uint16_t port) {
  os::FileDescriptor socket(
      ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const int yes = 1;  // a recording's port is free again as soon as it has ended
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (!socket.valid() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.get(), MetricsPort::kMostConnections) != 0) {
    return os::ErrnoStatus("port " + std::to_string(port), errno);
  }
  return socket;
}

uint16_t PortOf(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  const auto known = ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  return known ? ntohs(address.sin_port) : 0;
}

// What the library's thread and ours share.
struct MetricsPort::Server {
  explicit Server(const Library& found) : library(found) {}
  ~Server() {
    if (daemon != nullptr) library.stop(daemon);
    ReplaceText(nullptr, nullptr);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  MHD_Response* MakeResponse(std::string_view text, const char* type) const {
    MHD_Response* const response =
        library.make_response(text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);
    library.add_header(response, "Content-Type", type);
    library.add_header(response, "Connection", "close");  // its time is a request's
    return response;
  }

  MHD_Result Refuse(MHD_Connection* connection, unsigned status, std::string_view why) const {
    MHD_Response* const response = MakeResponse(why, kPlainText);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) library.add_header(response, "Allow", "GET, HEAD");
    const MHD_Result queued = library.queue_response(connection, status, response);
    library.free_response(response);
    return queued;
  }

  MHD_Result Answer(MHD_Connection* connection, std::string_view path, std::string_view method) {
    if (method != "GET" && method != "HEAD") {
      return Refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
    }
    if (path != "/metrics") return Refuse(connection, MHD_HTTP_NOT_FOUND, "see /metrics\n");
    const char* const accept = library.header_of(connection, MHD_HEADER_KIND, "Accept");
    const bool takes_openmetrics =
        accept != nullptr &&
        std::string_view(accept).find("application/openmetrics-text") != std::string_view::npos;
    const std::lock_guard lock(mutex);
    MHD_Response* const response = takes_openmetrics ? openmetrics : prometheus;
    if (response == nullptr) {
      return Refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "nothing is known yet\n");
    }
    return library.queue_response(connection, MHD_HTTP_OK, response);
  }

  // Called with the head of a request, before its body, if it has one, is read.
  static MHD_Result OnRequest(void* self, MHD_Connection* connection, const char* path,
                              const char* method, const char* /*version*/, const char* /*body*/,
                              size_t* /*body_bytes*/, void** /*request*/) {
    return static_cast<Server*>(self)->Answer(connection, path, method);
  }

  static void OnConnection(void* self, MHD_Connection* connection, void** /*context*/,
                           MHD_ConnectionNotificationCode what) {
    auto* const server = static_cast<Server*>(self);
    const std::lock_guard lock(server->mutex);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
      server->began_ns[connection] = clock::MonotonicRawNs();
    } else {
      server->began_ns.erase(connection);  // before its socket is closed
    }
  }

  void ReplaceText(MHD_Response* new_openmetrics, MHD_Response* new_prometheus) {
    {
      const std::lock_guard lock(mutex);
      std::swap(openmetrics, new_openmetrics);
      std::swap(prometheus, new_prometheus);
    }
    // Connections that are being served hold theirs.
    if (new_openmetrics != nullptr) library.free_response(new_openmetrics);
    if (new_prometheus != nullptr) library.free_response(new_prometheus);
  }

  // The library's own limit begins anew with each byte of a request.
  void EndSlowConnections(int64_t raw_ns) {
    const std::lock_guard lock(mutex);
    for (const auto& [connection, began] : began_ns) {
      if (raw_ns - began < kConnectionNs) continue;
      const auto* info = library.info_of(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      if (info != nullptr) ::shutdown(info->connect_fd, SHUT_RDWR);
    }
  }

  const Library library;
  MHD_Daemon* daemon = nullptr;
  std::mutex mutex;  // of what follows
  MHD_Response* openmetrics = nullptr;
  MHD_Response* prometheus = nullptr;
  std::map<MHD_Connection*, int64_t> began_ns;
};

Result<std::unique_ptr<MetricsPort>> MetricsPort::Open(int listener) {
  TUTTI_ASSIGN_OR_RETURN(const Library library, LoadLibrary());
  auto server = std::make_unique<Server>(library);
  const int own = ::fcntl(listener, F_DUPFD_CLOEXEC, 0);  // the library closes it
  // Its thread has the priority of the one that starts it, which can't be raised again.
  std::thread starter([&server, own] {
    const sched_param none{};
    (void)::sched_setscheduler(0, SCHED_IDLE, &none);
    server->daemon = server->library.start(
        MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC, 0, nullptr, nullptr,
        &Server::OnRequest, server.get(), MHD_OPTION_LISTEN_SOCKET, own,
        MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        kConnectionBytes, MHD_OPTION_CONNECTION_TIMEOUT,
        static_cast<unsigned>(kConnectionNs / 1'000'000'000), MHD_OPTION_NOTIFY_CONNECTION,
        &Server::OnConnection, server.get(), MHD_OPTION_END);
  });
  starter.join();
  if (server->daemon == nullptr) {
    if (own >= 0) ::close(own);
    return Status(StatusCode::kUnavailable, std::string(kLibrary) + " could not be started");
  }
  return std::unique_ptr<MetricsPort>(new MetricsPort(std::move(server)));
}

MetricsPort::MetricsPort(std::unique_ptr<Server> server) : server_(std::move(server)) {}

MetricsPort::~MetricsPort() = default;

void MetricsPort::Publish(const std::string& text, int64_t raw_ns) {
  server_->ReplaceText(server_->MakeResponse(text, kOpenMetrics),
                       server_->MakeResponse(text, kPrometheusText));
  server_->EndSlowConnections(raw_ns);
}

}  // namespace tutti::collector::live
