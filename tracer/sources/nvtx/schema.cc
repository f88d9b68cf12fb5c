#include "tracer/sources/nvtx/schema.h"

#include <cstdarg>
#include <cstdio>
#include <iterator>

#include "tracer/sources/nvtx/schema_types.h"

namespace tutti::tracer::nvtx {
namespace {

struct Schemas {
  static constexpr uint32_t kBuckets = 64;

  static std::atomic<Schema*>& BucketOf(uint64_t id) noexcept { return buckets[id % kBuckets]; }

  static inline constinit std::atomic<Schema*> buckets[kBuckets]{};
  static inline constinit std::atomic<uint64_t> last_dynamic_id{
      NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};
};

// Lines of a schema's text, cut at the last whole line that fits into a stored string.
class TextBuilder {
 public:
  [[gnu::format(printf, 2, 3)]] void AddLine(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof(text_) - length_;
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, two lines up
    const int wanted = std::vsnprintf(text_ + length_, room, format, arguments);
    va_end(arguments);
    if (wanted > 0 && static_cast<size_t>(wanted) < room) length_ += static_cast<size_t>(wanted);
  }
  std::string_view text() const noexcept { return {text_, length_}; }

 private:
  char text_[wire::kMaxStringBytes] = {};
  size_t length_ = 0;
};

const char* NameOr(const char* name, const char* other) noexcept {
  return name != nullptr ? name : other;
}

void AddString(const StringField& field, bool is_message, Schema* schema) noexcept {
  if (is_message) schema->message = field;
  const bool replaced = field.form == StringForm::kPointer || field.form == StringForm::kRegistered;
  if (replaced && schema->string_count < kMaxStringFields) {
    schema->strings[schema->string_count++] = field;
  }
}

// Lays out |attributes|' entries by their offsets, or by natural alignment where they have
// none, into text and string fields.
void AddFields(const Domain& domain, const nvtxPayloadSchemaAttr_t& attributes,
               TextBuilder* builder, Schema* schema) noexcept {
  FieldCursor cursor((attributes.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) != 0
                         ? attributes.packAlign
                         : 0);
  for (size_t i = 0; i < attributes.numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = attributes.entries[i];
    const FieldType type = TypeOf(domain, entry);
    const int64_t offset = cursor.Place(entry.offset, type);
    builder->AddLine("%s\t%s\t%lld\t%llu\n", NameOr(entry.name, ""), type.name,
                     static_cast<long long>(offset),
                     static_cast<unsigned long long>(type.array_length));
    if (type.string != StringForm::kNone && offset >= 0) {
      AddString({type.string, static_cast<uint32_t>(offset), static_cast<uint32_t>(type.bytes)},
                (entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) != 0, schema);
    }
  }
}

void EmitSchema(Entry& entry, Schema& schema) noexcept {
  entry.Emit(wire::PayloadSchemaRecord{
      .header = HeaderOf(wire::RecordKind::kPayloadSchema, schema.name.Index(entry),
                         schema.is_enum ? uint16_t{wire::kPayloadEnum} : uint16_t{0}),
      .ticks = entry.Now(),
      .schema_id = schema.id,
      .domain = schema.domain->name.Index(entry),
      .text = schema.text.Index(entry),
      .payload_bytes = schema.payload_bytes,
      .reserved = {}});
}

// Published before the test for a rank: a promotion meanwhile may write it a second time,
// but never not at all.
uint64_t Publish(Schema* schema, std::string_view name, std::string_view text) noexcept {
  schema->name.Set(CopyForEver(name));
  schema->text.Set(CopyForEver(text));
  PushFront(Schemas::BucketOf(schema->id), schema);
  Entry entry(kCaptureAlways);
  if (entry) EmitSchema(entry, *schema);
  return schema->id;
}

uint64_t ChooseId(uint64_t given_id, uint64_t chained_id) noexcept {
  if (chained_id != 0) return chained_id;
  if (given_id != 0) return given_id;
  return Schemas::last_dynamic_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

uint64_t RegisterSchema(Domain& domain, const nvtxPayloadSchemaAttr_t* attributes,
                        uint64_t chained_id) noexcept {
  if (attributes == nullptr || attributes->entries == nullptr) return chained_id;
  auto* schema = MakeForEver<Schema>();
  if (schema == nullptr) return chained_id;
  const uint64_t fields = attributes->fieldMask;
  const bool has_id = (fields & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  schema->domain = &domain;
  schema->id = ChooseId(has_id ? attributes->schemaId : 0, chained_id);
  if ((fields & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) != 0) {
    schema->payload_bytes = attributes->payloadStaticSize;
  }
  TextBuilder builder;
  AddFields(domain, *attributes, &builder, schema);
  const bool has_name = (fields & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) != 0;
  return Publish(schema, NameOr(has_name ? attributes->name : nullptr, ""), builder.text());
}

uint64_t RegisterEnum(Domain& domain, const nvtxPayloadEnumAttr_t* attributes,
                      uint64_t chained_id) noexcept {
  if (attributes == nullptr || attributes->entries == nullptr) return chained_id;
  auto* schema = MakeForEver<Schema>();
  if (schema == nullptr) return chained_id;
  const uint64_t fields = attributes->fieldMask;
  const bool has_id = (fields & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
  schema->domain = &domain;
  schema->is_enum = true;
  schema->id = ChooseId(has_id ? attributes->schemaId : 0, chained_id);
  if ((fields & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) != 0) {
    schema->payload_bytes = attributes->sizeOfEnum;
  }
  TextBuilder builder;
  for (size_t i = 0; i < attributes->numEntries; ++i) {
    builder.AddLine("%s\t%llu\n", NameOr(attributes->entries[i].name, ""),
                    static_cast<unsigned long long>(attributes->entries[i].value));
  }
  const bool has_name = (fields & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) != 0;
  return Publish(schema, NameOr(has_name ? attributes->name : nullptr, ""), builder.text());
}

const Schema* FindSchema(const Domain& domain, uint64_t id) noexcept {
  const Schema* elsewhere = nullptr;
  for (const Schema* schema = Schemas::BucketOf(id).load(std::memory_order_acquire);
       schema != nullptr; schema = schema->next) {
    if (schema->id != id) continue;
    if (schema->domain == &domain) return schema;
    if (elsewhere == nullptr) elsewhere = schema;
  }
  return elsewhere;
}

void EmitSchemas() noexcept {
  for (const std::atomic<Schema*>& bucket : Schemas::buckets) {
    Schema* schema = bucket.load(std::memory_order_acquire);
    if (schema == nullptr) continue;
    Entry entry(kCaptureAlways);
    for (; entry && schema != nullptr; schema = schema->next) EmitSchema(entry, *schema);
  }
}

}  // namespace tutti::tracer::nvtx
