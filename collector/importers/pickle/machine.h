// The stack machine that a pickle is a program for, restricted to what builds plain data.
// One thread; one use.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/importers/pickle/numbers.h"
#include "collector/importers/pickle/reader.h"
#include "collector/importers/pickle/value.h"

namespace tutti::collector::importers::pickle {

class Machine {
 public:
  // Both must outlive the machine; values are made in the document's arena.
  Machine(std::string_view input, Document& document);

  // Runs to the end of the pickle, of the input, or to what can't be read.
  void Run();

  // What would have to be executed, and where: not empty if the pickle must be refused.
  const std::string& refusal() const { return refusal_; }

 private:
  // Each handles opcodes of one kind: false if `opcode` is none of them.
  bool RunConstant(uint8_t opcode);
  bool RunNumber(uint8_t opcode);
  bool RunText(uint8_t opcode);
  bool RunBytes(uint8_t opcode);
  bool RunSequence(uint8_t opcode);
  bool RunDict(uint8_t opcode);
  bool RunStack(uint8_t opcode);
  bool RunMemo(uint8_t opcode);
  bool RunObject(uint8_t opcode);
  bool RunUnsupported(uint8_t opcode);

  // The input. Each returns nothing, and notes the problem, where it ends too early.
  std::optional<std::string_view> Take(uint64_t count);
  std::optional<std::string_view> TakeLine();
  std::optional<uint64_t> TakeUnsigned(int bytes);
  std::optional<std::string_view> TakeCounted(int bytes_of_count);

  // The stack. Values below the last mark can't be taken.
  void Push(Value value) { stack_.push_back(value); }
  std::optional<Value> Pop();
  // The values above the last mark, until it is dropped together with them.
  std::optional<std::span<const Value>> AboveMark();
  void DropMark();
  void PushWholeNumber(const std::optional<WholeNumber>& number);
  void PushReal(std::optional<double> real);
  void PushText(ValueKind kind, std::optional<std::string_view> text);
  void PushCopiedText(const std::optional<std::string>& text);
  void PushTuple(size_t size);
  void PushSequenceAboveMark(ValueKind kind);
  void PushDictAboveMark();
  void AppendToTop(std::span<const Value> items, ValueKind kind);
  void SetItemsOfTop(std::span<const Value> items);

  void Remember(std::optional<uint64_t> index);
  void Recall(std::optional<uint64_t> index);

  // Objects: see plain_classes.h.
  void PushClass(std::optional<std::string_view> module, std::optional<std::string_view> name);
  void PushClassFromStack();
  void Call(std::optional<Value> callee, std::span<const Value> arguments);
  void MakeDict(std::span<const Value> arguments);
  void MakeBytes(std::span<const Value> arguments);
  void SetState();
  bool MayCopy(size_t count);

  // Closes what was being built when the input broke off: every open list gets the values
  // that were read for it, every dict its complete pairs.
  void Salvage();
  void CloseGroup();
  void CloseTop();

  void Fail(std::string what);  // the first one counts
  void FailUnless(bool condition, const char* what);
  void Refuse(const std::string& what);

  std::string_view input_;
  Document& document_;
  ValueBuilder builder_;
  uint64_t at_ = 0;         // next byte to read
  uint64_t opcode_at_ = 0;  // where the current opcode is
  uint64_t copied_ = 0;     // elements that were taken over from one container to another
  bool is_done_ = false;
  std::string refusal_;
  std::vector<Value> stack_;
  std::vector<size_t> marks_;  // heights of the stack, ascending
  std::vector<Value> memo_;    // indices 0, 1, 2, … as every known writer gives them
  std::unordered_map<uint64_t, Value> sparse_memo_;  // others
};

}  // namespace tutti::collector::importers::pickle
