#include "collector/importers/pickle/machine.h"

#include <bit>

#include "collector/importers/pickle/opcodes.h"

namespace tutti::collector::importers::pickle {
namespace {

constexpr int kHighestProtocol = 5;

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  }
  return value;
}

double BigEndianDouble(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
  return std::bit_cast<double>(bits);
}

std::string HexOf(uint8_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

Machine::Machine(std::string_view input, Document& document)
    : input_(input), document_(document), builder_(document.arena) {}

void Machine::Run() {
  while (!is_done_ && document_.problem.ok() && refusal_.empty()) {
    opcode_at_ = at_;
    if (at_ >= input_.size()) {
      Fail("it ends before its end mark (cut off)");
      break;
    }
    const auto opcode = static_cast<uint8_t>(input_[at_++]);
    const bool is_known = RunMemo(opcode) || RunNumber(opcode) || RunText(opcode) ||
                          RunConstant(opcode) || RunDict(opcode) || RunSequence(opcode) ||
                          RunStack(opcode) || RunBytes(opcode) || RunObject(opcode) ||
                          RunUnsupported(opcode);
    if (!is_known) Fail("no pickle opcode is " + HexOf(opcode));
  }
  if (!is_done_) Salvage();
  document_.bytes_read = is_done_ ? at_ : opcode_at_;
  if (!stack_.empty()) document_.root = stack_.front();
}

bool Machine::RunConstant(uint8_t opcode) {
  switch (opcode) {
    case kNone:
      Push(Value());
      return true;
    case kNewTrue:
      Push(ValueBuilder::Bool(true));
      return true;
    case kNewFalse:
      Push(ValueBuilder::Bool(false));
      return true;
    default:
      return false;
  }
}

bool Machine::RunNumber(uint8_t opcode) {
  switch (opcode) {
    case kBinInt1:
    case kBinInt2: {
      const std::optional<uint64_t> number = TakeUnsigned(opcode == kBinInt1 ? 1 : 2);
      if (number) Push(builder_.Int(static_cast<int64_t>(*number)));
      return true;
    }
    case kBinInt: {
      const std::optional<uint64_t> number = TakeUnsigned(4);
      if (number) Push(builder_.Int(std::bit_cast<int32_t>(static_cast<uint32_t>(*number))));
      return true;
    }
    case kLong1:
    case kLong4: {
      const auto bytes = TakeCounted(opcode == kLong1 ? 1 : 4);
      if (bytes) PushWholeNumber(FromTwosComplement(*bytes));
      return true;
    }
    case kInt:
    case kLong: {
      const auto line = TakeLine();
      if (!line) return true;
      if (opcode == kInt && (*line == "00" || *line == "01")) {
        Push(ValueBuilder::Bool(*line == "01"));
      } else {
        PushWholeNumber(ParseWholeNumber(*line));
      }
      return true;
    }
    case kFloat: {
      const auto line = TakeLine();
      if (line) PushReal(ParseReal(*line));
      return true;
    }
    case kBinFloat: {
      const auto bytes = Take(8);
      if (bytes) PushReal(BigEndianDouble(*bytes));
      return true;
    }
    default:
      return false;
  }
}

bool Machine::RunText(uint8_t opcode) {
  switch (opcode) {
    case kShortBinUnicode:
      PushText(ValueKind::kText, TakeCounted(1));
      return true;
    case kBinUnicode:
      PushText(ValueKind::kText, TakeCounted(4));
      return true;
    case kBinUnicode8:
      PushText(ValueKind::kText, TakeCounted(8));
      return true;
    case kShortBinString:
      PushText(ValueKind::kText, TakeCounted(1));
      return true;
    case kBinString:
      PushText(ValueKind::kText, TakeCounted(4));
      return true;
    case kString: {
      const auto line = TakeLine();
      if (line) PushCopiedText(ParseQuoted(*line));
      return true;
    }
    case kUnicode: {
      const auto line = TakeLine();
      if (line) PushCopiedText(DecodeRawUnicodeEscape(*line));
      return true;
    }
    default:
      return false;
  }
}

bool Machine::RunBytes(uint8_t opcode) {
  switch (opcode) {
    case kShortBinBytes:
      PushText(ValueKind::kBytes, TakeCounted(1));
      return true;
    case kBinBytes:
      PushText(ValueKind::kBytes, TakeCounted(4));
      return true;
    case kBinBytes8:
    case kByteArray8:
      PushText(ValueKind::kBytes, TakeCounted(8));
      return true;
    case kReadOnlyBuffer:
      return true;
    default:
      return false;
  }
}

bool Machine::RunSequence(uint8_t opcode) {
  switch (opcode) {
    case kEmptyList:
      Push(builder_.Sequence(ValueKind::kList, {}));
      return true;
    case kEmptyTuple:
      Push(builder_.Sequence(ValueKind::kTuple, {}));
      return true;
    case kEmptySet:
      Push(builder_.Sequence(ValueKind::kSet, {}));
      return true;
    case kTuple1:
      PushTuple(1);
      return true;
    case kTuple2:
      PushTuple(2);
      return true;
    case kTuple3:
      PushTuple(3);
      return true;
    case kTuple:
      PushSequenceAboveMark(ValueKind::kTuple);
      return true;
    case kList:
      PushSequenceAboveMark(ValueKind::kList);
      return true;
    case kFrozenSet:
      PushSequenceAboveMark(ValueKind::kSet);
      return true;
    case kAppend: {
      const std::optional<Value> item = Pop();
      if (item) AppendToTop({&*item, 1}, ValueKind::kList);
      return true;
    }
    case kAppends:
    case kAddItems: {
      const auto items = AboveMark();
      if (!items) return true;
      const size_t height = marks_.back();
      FailUnless(height > 0, "there is no list to append to");
      if (height == 0) return true;
      const Value sequence = stack_[height - 1];
      FailUnless(sequence.kind() == (opcode == kAppends ? ValueKind::kList : ValueKind::kSet),
                 "values are appended to what is no list");
      if (document_.problem.ok()) builder_.Append(sequence, *items);
      DropMark();
      return true;
    }
    default:
      return false;
  }
}

bool Machine::RunDict(uint8_t opcode) {
  switch (opcode) {
    case kEmptyDict:
      Push(builder_.EmptyDict());
      return true;
    case kDict:
      PushDictAboveMark();
      return true;
    case kSetItem: {
      const std::optional<Value> value = Pop();
      const std::optional<Value> key = value ? Pop() : std::nullopt;
      if (!key) return true;
      const Value pair[] = {*key, *value};
      SetItemsOfTop(pair);
      return true;
    }
    case kSetItems: {
      const auto items = AboveMark();
      if (!items) return true;
      const size_t height = marks_.back();
      const bool is_dict = height > 0 && stack_[height - 1].kind() == ValueKind::kDict;
      FailUnless(is_dict, "keys are set in what is no dict");
      FailUnless(items->size() % 2 == 0, "a key has no value");
      if (document_.problem.ok()) builder_.SetItems(stack_[height - 1], *items);
      DropMark();
      return true;
    }
    default:
      return false;
  }
}

bool Machine::RunStack(uint8_t opcode) {
  switch (opcode) {
    case kMark:
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      // After a mark, it takes the mark away.
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        DropMark();
      } else {
        Pop();
      }
      return true;
    case kPopMark:
      if (AboveMark()) DropMark();
      return true;
    case kDup: {
      const std::optional<Value> top = Pop();
      if (!top) return true;
      Push(*top);
      Push(*top);
      return true;
    }
    case kStop:
      FailUnless(!stack_.empty() && marks_.empty(), "it ends without a result");
      is_done_ = document_.problem.ok();
      if (is_done_) stack_.front() = stack_.back();
      return true;
    case kProto: {
      const std::optional<uint64_t> protocol = TakeUnsigned(1);
      if (!protocol) return true;
      document_.protocol = static_cast<int>(*protocol);
      FailUnless(*protocol <= kHighestProtocol, "its protocol is newer than 5");
      return true;
    }
    case kFrame:
      // A hint how much to read at once; what is in it is read one by one here.
      TakeUnsigned(8);
      return true;
    default:
      return false;
  }
}

bool Machine::RunMemo(uint8_t opcode) {
  const auto index_in_line = [&]() -> std::optional<uint64_t> {
    const auto line = TakeLine();
    if (!line) return std::nullopt;
    const auto number = ParseWholeNumber(*line);
    if (number && number->small && *number->small >= 0) {
      return static_cast<uint64_t>(*number->small);
    }
    Fail("a memo index is no number");
    return std::nullopt;
  };
  switch (opcode) {
    case kBinGet:
      Recall(TakeUnsigned(1));
      return true;
    case kLongBinGet:
      Recall(TakeUnsigned(4));
      return true;
    case kGet:
      Recall(index_in_line());
      return true;
    case kBinPut:
      Remember(TakeUnsigned(1));
      return true;
    case kLongBinPut:
      Remember(TakeUnsigned(4));
      return true;
    case kPut:
      Remember(index_in_line());
      return true;
    case kMemoize:
      Remember(memo_.size() + sparse_memo_.size());
      return true;
    default:
      return false;
  }
}

std::optional<std::string_view> Machine::Take(uint64_t count) {
  if (count > input_.size() - at_) {
    Fail("it ends in the middle of a value (cut off)");
    return std::nullopt;
  }
  const std::string_view taken = input_.substr(at_, count);
  at_ += count;
  return taken;
}

std::optional<std::string_view> Machine::TakeLine() {
  const size_t end = input_.find('\n', at_);
  if (end == std::string_view::npos) {
    Fail("it ends in the middle of a line (cut off)");
    return std::nullopt;
  }
  std::string_view line = input_.substr(at_, end - at_);
  at_ = end + 1;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::optional<uint64_t> Machine::TakeUnsigned(int bytes) {
  const auto taken = Take(static_cast<uint64_t>(bytes));
  if (!taken) return std::nullopt;
  return LittleEndian(*taken);
}

std::optional<std::string_view> Machine::TakeCounted(int bytes_of_count) {
  const std::optional<uint64_t> count = TakeUnsigned(bytes_of_count);
  if (!count) return std::nullopt;
  return Take(*count);
}

std::optional<Value> Machine::Pop() {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) {
    Fail("it takes more values than there are");
    return std::nullopt;
  }
  const Value top = stack_.back();
  stack_.pop_back();
  return top;
}

std::optional<std::span<const Value>> Machine::AboveMark() {
  if (marks_.empty()) {
    Fail("it goes back to a mark that was not set");
    return std::nullopt;
  }
  return std::span<const Value>(stack_).subspan(marks_.back());
}

void Machine::DropMark() {
  stack_.resize(marks_.back());
  marks_.pop_back();
}

void Machine::PushWholeNumber(const std::optional<WholeNumber>& number) {
  if (!number) return Fail("a number can't be read");
  if (number->small) return Push(builder_.Int(*number->small));
  if (document_.big_integers++ == 0) document_.first_big_integer_offset = opcode_at_;
  Push(builder_.Text(ValueKind::kBigInt, builder_.Copy(number->text)));
}

void Machine::PushReal(std::optional<double> real) {
  if (!real) return Fail("a number can't be read");
  Push(builder_.Real(*real));
}

void Machine::PushText(ValueKind kind, std::optional<std::string_view> text) {
  if (text) Push(builder_.Text(kind, *text));
}

void Machine::PushCopiedText(const std::optional<std::string>& text) {
  if (!text) return Fail("a text can't be read");
  Push(builder_.Text(ValueKind::kText, builder_.Copy(*text)));
}

void Machine::PushTuple(size_t size) {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + size) return Fail("a tuple has fewer values than it says");
  const std::span<const Value> items = std::span<const Value>(stack_).last(size);
  const Value tuple = builder_.Sequence(ValueKind::kTuple, items);
  stack_.resize(stack_.size() - size);
  Push(tuple);
}

void Machine::PushSequenceAboveMark(ValueKind kind) {
  const auto items = AboveMark();
  if (!items) return;
  const Value sequence = builder_.Sequence(kind, *items);
  DropMark();
  Push(sequence);
}

void Machine::PushDictAboveMark() {
  const auto items = AboveMark();
  if (!items) return;
  if (items->size() % 2 != 0) return Fail("a key has no value");
  const Value dict = builder_.EmptyDict();
  builder_.SetItems(dict, *items);
  DropMark();
  Push(dict);
}

void Machine::AppendToTop(std::span<const Value> items, ValueKind kind) {
  const std::optional<Value> top = Pop();
  if (!top) return;
  if (top->kind() != kind) return Fail("a value is appended to what is no list");
  builder_.Append(*top, items);
  Push(*top);
}

void Machine::SetItemsOfTop(std::span<const Value> items) {
  const std::optional<Value> top = Pop();
  if (!top) return;
  if (top->kind() != ValueKind::kDict) return Fail("a key is set in what is no dict");
  builder_.SetItems(*top, items);
  Push(*top);
}

void Machine::Remember(std::optional<uint64_t> index) {
  if (!index) return;
  if (stack_.empty()) return Fail("there is nothing to remember");
  if (*index < memo_.size()) {
    memo_[*index] = stack_.back();
  } else if (*index == memo_.size() && sparse_memo_.empty()) {
    memo_.push_back(stack_.back());
  } else {
    sparse_memo_[*index] = stack_.back();
  }
}

void Machine::Recall(std::optional<uint64_t> index) {
  if (!index) return;
  if (*index < memo_.size()) return Push(memo_[*index]);
  const auto found = sparse_memo_.find(*index);
  if (found == sparse_memo_.end()) return Fail("it refers to a value that was not remembered");
  Push(found->second);
}

void Machine::Fail(std::string what) {
  if (!document_.problem.ok()) return;
  document_.problem = BadDataError("byte " + std::to_string(opcode_at_) + ": " + what);
}

void Machine::FailUnless(bool condition, const char* what) {
  if (!condition) Fail(what);
}

void Machine::Salvage() {
  while (stack_.size() > 1 || !marks_.empty()) {
    if (marks_.empty()) {
      CloseTop();
    } else {
      CloseGroup();
    }
  }
}

void Machine::CloseGroup() {
  std::span<const Value> items = std::span<const Value>(stack_).subspan(marks_.back());
  const Value below = marks_.back() > 0 ? stack_[marks_.back() - 1] : Value();
  if (below.kind() == ValueKind::kDict) {
    builder_.SetItems(below, items.first(items.size() / 2 * 2));
  } else if (below.kind() == ValueKind::kList || below.kind() == ValueKind::kSet) {
    builder_.Append(below, items);
  }
  DropMark();
}

void Machine::CloseTop() {
  const Value top = stack_.back();
  stack_.pop_back();
  const Value below = stack_.back();
  if (below.kind() == ValueKind::kList) {
    builder_.Append(below, {&top, 1});
  } else if (stack_.size() >= 2 && stack_[stack_.size() - 2].kind() == ValueKind::kDict) {
    const Value pair[] = {below, top};
    stack_.pop_back();
    builder_.SetItems(stack_.back(), pair);
  }
}

}  // namespace tutti::collector::importers::pickle
