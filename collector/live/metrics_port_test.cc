#include "collector/live/metrics_port.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collector/clock/clock_reading.h"

namespace tutti::collector::live {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

os::FileDescriptor Connect(uint16_t port) {
  os::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
            0);
  return socket;
}

void Send(const os::FileDescriptor& socket, std::string_view text) {
  (void)::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);  // refused: is seen below
}

// What comes until the other side closes.
std::string ReadAll(const os::FileDescriptor& socket) {
  std::string text;
  std::array<char, 4096> bytes;
  for (ssize_t got; (got = ::recv(socket.get(), bytes.data(), bytes.size(), 0)) > 0;) {
    text.append(bytes.data(), static_cast<size_t>(got));
  }
  return text;
}

class MetricsPortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listener = ListenOnLoopback(0);
    ASSERT_TRUE(listener.ok()) << listener.status().message();
    listener_ = std::move(*listener);
    auto port = MetricsPort::Open(listener_.get());
    ASSERT_TRUE(port.ok()) << port.status().message();
    port_ = std::move(*port);
  }

  std::string Ask(std::string_view request) const {
    const os::FileDescriptor socket = Connect(PortOf(listener_.get()));
    Send(socket, request);
    return ReadAll(socket);
  }
  void Publish(const std::string& text, int64_t later_ns = 0) {
    port_->Publish(text, clock::MonotonicRawNs() + later_ns);
  }

  os::FileDescriptor listener_;
  std::unique_ptr<MetricsPort> port_;
};

constexpr std::string_view kGet = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(MetricsPortTest, ServesWhatWasPublishedLast) {
  EXPECT_THAT(Ask(kGet), StartsWith("HTTP/1.1 503 "));
  Publish("a 1\n# EOF\n");
  EXPECT_THAT(Ask(kGet), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                               HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\na 1\n# EOF\n")));
  Publish("a 2\n# EOF\n");
  EXPECT_THAT(Ask(kGet), EndsWith("\r\na 2\n# EOF\n"));
  EXPECT_THAT(Ask("HEAD /metrics HTTP/1.1\r\nHost: h\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(MetricsPortTest, SaysWhichTextItIsAsItWasAskedFor) {
  Publish("# EOF\n");
  EXPECT_THAT(Ask(kGet), HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(
      Ask("GET /metrics HTTP/1.1\r\nHost: h\r\n"
          "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2\r\n\r\n"),
      HasSubstr("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
}

TEST_F(MetricsPortTest, RefusesWhatItIsNotFor) {
  Publish("# EOF\n");
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask("POST /metrics HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000\r\n\r\nx"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
  // A head without an end is cut off, not kept.
  Ask("GET /metrics HTTP/1.1\r\nX: " + std::string(1 << 20, 'x'));
  Ask("GET /" + std::string(1 << 20, 'x'));
  const os::FileDescriptor no_http = Connect(PortOf(listener_.get()));
  Send(no_http, std::string(1000, '\0'));
  EXPECT_THAT(Ask(kGet), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(MetricsPortTest, EndsConnectionsThatTakeTooLong) {
  Publish("# EOF\n");
  std::vector<os::FileDescriptor> slow;
  for (unsigned i = 0; i < MetricsPort::kMostConnections; ++i) {
    slow.push_back(Connect(PortOf(listener_.get())));
    Send(slow.back(), "GET /metr");
  }
  // All places are taken: this one waits at the door until the slow ones are shown out.
  const os::FileDescriptor waiting = Connect(PortOf(listener_.get()));
  Send(waiting, kGet);
  pollfd answer{waiting.get(), POLLIN, 0};
  int rounds = 0;
  while (::poll(&answer, 1, 100) == 0 && ++rounds < 300) {
    Publish("# EOF\n", MetricsPort::kConnectionNs);
  }
  EXPECT_THAT(ReadAll(waiting), StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const os::FileDescriptor& socket : slow) EXPECT_EQ(ReadAll(socket), "");
}

TEST_F(MetricsPortTest, WhoAsksMeanwhileGetsOneTextWhole) {
  const auto text_of = [](int64_t number) {
    return std::string(50'000, static_cast<char>('a' + number % 26)) + "\n# EOF\n";
  };
  Publish(text_of(0));
  std::atomic<int> asking{4};
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const std::string answer = Ask(kGet);
        const size_t body = answer.find("\r\n\r\n");
        if (body == std::string::npos) {
          ADD_FAILURE() << answer;
          break;
        }
        EXPECT_EQ(answer.substr(body + 4), text_of(answer[body + 4] - 'a'));
      }
      --asking;
    });
  }
  for (int64_t number = 1; asking > 0; ++number) Publish(text_of(number));
  for (std::thread& client : clients) client.join();
}

TEST_F(MetricsPortTest, AnotherServesTheSameListenerWhenItIsGone) {
  port_.reset();
  const os::FileDescriptor waiting = Connect(PortOf(listener_.get()));  // at nobody's door
  Send(waiting, kGet);
  auto next = MetricsPort::Open(listener_.get());
  ASSERT_TRUE(next.ok());
  EXPECT_THAT(ReadAll(waiting), StartsWith("HTTP/1.1 503 "));
}

TEST(ListenOnLoopback, SaysThatAPortIsTaken) {
  const auto first = ListenOnLoopback(0);
  ASSERT_TRUE(first.ok());
  const auto second = ListenOnLoopback(PortOf(first->get()));
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace tutti::collector::live
