// The part of the machine that meets classes, functions and what they are called with.
#include "collector/importers/pickle/machine.h"
#include "collector/importers/pickle/opcodes.h"
#include "collector/importers/pickle/plain_classes.h"

namespace tutti::collector::importers::pickle {
namespace {

// A class is an object whose only elements are its module and its name.
PlainClass MeaningOf(Value value) {
  if (value.kind() != ValueKind::kObject) return PlainClass::kUnknown;
  const std::span<const Value> parts = value.Items();
  const auto module = parts.size() == 2 ? parts[0].Text() : std::nullopt;
  const auto name = parts.size() == 2 ? parts[1].Text() : std::nullopt;
  return module && name ? FindPlainClass(*module, *name) : PlainClass::kUnknown;
}

}  // namespace

bool Machine::RunObject(uint8_t opcode) {
  switch (opcode) {
    case kGlobal: {
      const auto module = TakeLine();
      PushClass(module, module ? TakeLine() : std::nullopt);
      return true;
    }
    case kStackGlobal:
      PushClassFromStack();
      return true;
    case kInst: {
      const auto module = TakeLine();
      PushClass(module, module ? TakeLine() : std::nullopt);
      const std::optional<Value> callee = Pop();
      const auto arguments = callee ? AboveMark() : std::nullopt;
      if (!arguments) return true;
      const std::vector<Value> copy(arguments->begin(), arguments->end());
      DropMark();
      Call(callee, copy);
      return true;
    }
    case kObj: {
      const auto values = AboveMark();
      if (!values) return true;
      if (values->empty()) {
        Fail("an object has no class");
        return true;
      }
      const std::vector<Value> copy(values->begin(), values->end());
      DropMark();
      Call(copy.front(), std::span<const Value>(copy).subspan(1));
      return true;
    }
    case kNewObjEx:
      if (!Pop()) return true;  // keyword arguments: no plain class has any
      [[fallthrough]];
    case kNewObj:
    case kReduce: {
      const std::optional<Value> arguments = Pop();
      const std::optional<Value> callee = arguments ? Pop() : std::nullopt;
      if (callee) Call(callee, arguments->Items());
      return true;
    }
    case kBuild:
      SetState();
      return true;
    default:
      return false;
  }
}

bool Machine::RunUnsupported(uint8_t opcode) {
  switch (opcode) {
    case kPersId:
    case kBinPersId: {
      // Stands for something outside the pickle, which stays outside.
      std::optional<Value> id;
      if (opcode == kPersId) {
        const auto line = TakeLine();
        if (line) id = builder_.Text(ValueKind::kText, *line);
      } else {
        id = Pop();
      }
      if (id) Push(builder_.Sequence(ValueKind::kObject, {&*id, 1}));
      return true;
    }
    case kExt1:
    case kExt2:
    case kExt4: {
      const auto code = TakeUnsigned(opcode == kExt1 ? 1 : opcode == kExt2 ? 2 : 4);
      if (code) Refuse("the registered extension " + std::to_string(*code));
      return true;
    }
    case kNextBuffer:
      Fail("part of its data was written elsewhere (out-of-band)");
      return true;
    default:
      return false;
  }
}

void Machine::PushClass(std::optional<std::string_view> module,
                        std::optional<std::string_view> name) {
  if (!module || !name) return;
  if (FindPlainClass(*module, *name) == PlainClass::kUnknown) {
    return Refuse(std::string(*module) + "." + std::string(*name));
  }
  const Value parts[] = {builder_.Text(ValueKind::kText, *module),
                         builder_.Text(ValueKind::kText, *name)};
  Push(builder_.Sequence(ValueKind::kObject, parts));
}

void Machine::PushClassFromStack() {
  const std::optional<Value> name = Pop();
  const std::optional<Value> module = name ? Pop() : std::nullopt;
  if (!module) return;
  if (!module->Text() || !name->Text()) return Fail("a class has no name");
  PushClass(module->Text(), name->Text());
}

void Machine::Call(std::optional<Value> callee, std::span<const Value> arguments) {
  const auto elements = [&] {
    return arguments.empty() ? std::span<const Value>() : arguments.front().Items();
  };
  const auto make = [&](ValueKind kind) {
    if (MayCopy(elements().size())) Push(builder_.Sequence(kind, elements()));
  };
  switch (MeaningOf(*callee)) {
    case PlainClass::kDict:
      return MakeDict(arguments);
    case PlainClass::kBytes:
      return MakeBytes(arguments);
    case PlainClass::kList:
      return make(ValueKind::kList);
    case PlainClass::kTuple:
      return make(ValueKind::kTuple);
    case PlainClass::kSet:
      return make(ValueKind::kSet);
    case PlainClass::kType:
    case PlainClass::kUnknown:
      return Fail("it calls what is no class of plain data");
  }
}

// OrderedDict(), OrderedDict(pairs), defaultdict(factory), defaultdict(factory, dict).
void Machine::MakeDict(std::span<const Value> arguments) {
  const Value dict = builder_.EmptyDict();
  Push(dict);
  if (arguments.empty()) return;
  const Value source = arguments.back();
  if (!MayCopy(source.Entries().size() + source.Items().size())) return;
  for (const DictEntry& entry : source.Entries()) {
    const Value pair[] = {entry.key, entry.value};
    builder_.SetItems(dict, pair);
  }
  if (source.kind() == ValueKind::kObject) return;  // the factory
  for (const Value item : source.Items()) {
    if (item.Items().size() != 2) return Fail("a key has no value");
    builder_.SetItems(dict, item.Items());
  }
}

// _codecs.encode(text, "latin1") is how protocols without bytes write bytes.
void Machine::MakeBytes(std::span<const Value> arguments) {
  if (arguments.empty()) return Push(builder_.Text(ValueKind::kBytes, {}));
  const Value source = arguments.front();
  if (source.kind() == ValueKind::kBytes) return Push(source);
  if (source.kind() != ValueKind::kText) return Fail("bytes are made of what is no text");
  if (!MayCopy(source.Text()->size())) return;
  const std::optional<std::string> bytes = EncodeLatin1(*source.Text());
  if (!bytes) return Fail("bytes are written as text that is none");
  Push(builder_.Text(ValueKind::kBytes, builder_.Copy(*bytes)));
}

void Machine::SetState() {
  const std::optional<Value> state = Pop();
  if (!state) return;
  if (stack_.empty()) return Fail("there is no object to set a state of");
  if (!state->is_none()) ++document_.ignored_states;
}

// Every element is written at least once, in a byte at least: whoever needs more copies
// than there are bytes has one list made into others over and over.
bool Machine::MayCopy(size_t count) {
  copied_ += count;
  if (copied_ <= input_.size()) return true;
  Fail("it copies its own values too often");
  return false;
}

void Machine::Refuse(const std::string& what) {
  if (!refusal_.empty()) return;
  refusal_ = "byte " + std::to_string(opcode_at_) + ": it wants " + what +
             ", which could run code; refused, nothing was executed";
}

}  // namespace tutti::collector::importers::pickle
