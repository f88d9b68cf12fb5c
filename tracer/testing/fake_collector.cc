#include "tracer/testing/fake_collector.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

namespace tutti::tracer::testing {
namespace {

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string MakeToken() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 32; ++i) token += "0123456789abcdef"[random() % 16];
  return token;
}

std::string HexOf(const uint8_t (&token)[16]) {
  std::string hex;
  for (const uint8_t byte : token) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

int Listen(const std::string& path) {
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener, 16) != 0) {
    Fail("no socket at " + path);
  }
  return listener;
}

}  // namespace

int MakeSegmentFile(const wire::SegmentPlan& plan, wire::ClockKind clock_kind,
                    uint32_t capture_mask) {
  const int file = memfd_create("tutti-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const auto bytes = static_cast<off_t>(plan.segment_bytes);
  if (file < 0 || posix_fallocate(file, 0, bytes) != 0) Fail("no memory for a segment");
  void* memory = mmap(nullptr, plan.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) Fail("mmap");
  wire::InitializeSegment(memory, plan, clock_kind, capture_mask);
  munmap(memory, plan.segment_bytes);
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) Fail("seal");
  return file;
}

void SendWelcome(int connection, const wire::Welcome& welcome, const std::vector<int>& files) {
  iovec data{const_cast<wire::Welcome*>(&welcome), sizeof(welcome)};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(part), files.data(), files.size() * sizeof(int));
  }
  sendmsg(connection, &message, MSG_NOSIGNAL);
}

FakeCollector::FakeCollector(Options options)
    : options_(std::move(options)), plan_(wire::PlanShape(options_.shape)) {
  std::string pattern = std::filesystem::temp_directory_path() / "tutti-test-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) Fail("mkdtemp");
  directory_ = pattern;
  session_ = directory_ + "/socket:" + MakeToken();
  listener_ = Listen(directory_ + "/socket");
  thread_ = std::thread([this] { Serve(); });
}

FakeCollector::~FakeCollector() {
  shutdown(listener_, SHUT_RDWR);  // wakes accept()
  thread_.join();
  close(listener_);
  std::filesystem::remove_all(directory_);
}

SegmentReader& FakeCollector::segment(size_t index) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, std::chrono::seconds(20),
                         [&] { return segments_.size() > index; })) {
    throw std::runtime_error("no process became a rank");
  }
  return *segments_[index];
}

std::vector<wire::Hello> FakeCollector::hellos() const {
  const std::lock_guard lock(mutex_);
  return hellos_;
}

void FakeCollector::Serve() {
  for (;;) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    std::unique_ptr<SegmentReader> segment = Answer(connection);
    close(connection);
    if (segment == nullptr) continue;
    const std::lock_guard lock(mutex_);
    segments_.push_back(std::move(segment));
    changed_.notify_all();
  }
}

std::unique_ptr<SegmentReader> FakeCollector::Answer(int connection) {
  wire::Hello hello{};
  if (recv(connection, &hello, sizeof(hello), 0) != sizeof(hello)) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    hellos_.push_back(hello);
  }
  if (options_.answer) {
    options_.answer(connection, hello);
    return nullptr;
  }
  wire::Welcome welcome{};
  welcome.magic = wire::kHelloMagic;
  welcome.version = wire::kVersion;
  welcome.status = options_.status;
  welcome.segment_bytes = plan_.segment_bytes;
  std::strncpy(welcome.text, options_.text.c_str(), sizeof(welcome.text) - 1);
  if (!session_.ends_with(HexOf(hello.token))) {
    welcome.status = wire::WelcomeStatus::kRefusedToken;
  }
  if (welcome.status != wire::WelcomeStatus::kAccepted) {
    SendWelcome(connection, welcome, {});
    return nullptr;
  }
  const int file = MakeSegmentFile(plan_, options_.clock_kind, options_.capture_mask);
  auto segment = std::make_unique<SegmentReader>(file, plan_);
  SendWelcome(connection, welcome, {file});
  return segment;
}

}  // namespace tutti::tracer::testing
