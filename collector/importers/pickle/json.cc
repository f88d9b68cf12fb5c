#include "collector/importers/pickle/json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tutti::collector::importers::pickle {
namespace {

// Puts each value where it belongs the moment it is read, so that a cut leaves what was
// there before.
class TreeMaker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeMaker(Document& document) : document_(document), builder_(document.arena) {}

  bool null() override { return Add(Value()); }
  bool boolean(bool value) override { return Add(ValueBuilder::Bool(value)); }
  bool number_integer(int64_t value) override { return Add(builder_.Int(value)); }
  bool number_unsigned(uint64_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Add(builder_.Int(static_cast<int64_t>(value)));
    }
    ++document_.big_integers;
    return Add(builder_.Text(ValueKind::kBigInt, builder_.Copy(std::to_string(value))));
  }
  bool number_float(double value, const std::string& text) override {
    if (text.find_first_of(".eE") != std::string::npos) return Add(builder_.Real(value));
    ++document_.big_integers;
    return Add(builder_.Text(ValueKind::kBigInt, builder_.Copy(text)));
  }
  bool string(std::string& value) override {
    return Add(builder_.Text(ValueKind::kText, builder_.Copy(value)));
  }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON
  bool start_object(size_t /*size*/) override { return Open(builder_.EmptyDict()); }
  bool start_array(size_t /*size*/) override {
    return Open(builder_.Sequence(ValueKind::kList, {}));
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override {
    keys_.back() = builder_.Text(ValueKind::kText, builder_.Copy(name));
    return true;
  }
  bool parse_error(size_t position, const std::string& /*last*/,
                   const nlohmann::json::exception& /*error*/) override {
    // nlohmann counts bytes from 1.
    Fail(position == 0 ? 0 : position - 1, "it is not JSON from here on");
    return false;
  }

 private:
  bool Add(Value value) {
    if (open_.empty()) {
      document_.root = value;
    } else if (open_.back().kind() == ValueKind::kDict) {
      const Value pair[] = {keys_.back(), value};
      builder_.SetItems(open_.back(), pair);
    } else {
      builder_.Append(open_.back(), {&value, 1});
    }
    return true;
  }

  bool Open(Value container) {
    if (open_.size() == kMaxJsonDepth) {
      document_.problem = BadDataError("its values are nested deeper than " +
                                       std::to_string(kMaxJsonDepth) + " levels");
      return false;
    }
    Add(container);
    open_.push_back(container);
    keys_.emplace_back();
    return true;
  }

  bool Close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  void Fail(size_t at, const char* what) {
    document_.problem = BadDataError("byte " + std::to_string(at) + ": " + what);
  }

  Document& document_;
  ValueBuilder builder_;
  std::vector<Value> open_;
  std::vector<Value> keys_;  // of each open dict the key that waits for its value
};

}  // namespace

Result<Document> ReadJson(std::string_view bytes) {
  if (bytes.empty()) return BadDataError("the file is empty");
  Document document;
  {
    TreeMaker maker(document);
    nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &maker);
  }
  document.bytes_read = bytes.size();
  const bool has_nothing = document.root.Items().empty() && document.root.Entries().empty();
  if (!document.problem.ok() && has_nothing) return document.problem;
  return document;
}

}  // namespace tutti::collector::importers::pickle
