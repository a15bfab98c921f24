#include "compiler/onnx/messages.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace dtnn::compiler::onnx {
namespace {

#define ONNX_MESSAGE(name)                                                                \
    template <class Self, class Visit,                                                    \
              std::enable_if_t<std::is_same_v<std::remove_const_t<Self>, name>, int> = 0> \
    void visit_fields(Self& self, Visit&& visit) {
#define ONNX_FIELD(number, type, member) visit(number, self.member);
#define ONNX_END }
#include "compiler/onnx/schema.def"
#undef ONNX_MESSAGE
#undef ONNX_FIELD
#undef ONNX_END

// ---- Writing

struct Writer {
    ProtobufMessage out;

    void operator()(int number, std::int64_t value) {
        if (value != 0) out.integer(number, value);
    }
    void operator()(int number, std::string_view value) {
        if (!value.empty()) out.text(number, value);
    }
    void operator()(int number, const std::string& value) {
        (*this)(number, std::string_view(value));
    }
    void operator()(int number, const std::optional<std::int64_t>& value) {
        if (value) out.integer(number, *value);
    }
    void operator()(int number, const std::optional<float>& value) {
        if (value) out.single(number, *value);
    }
    void operator()(int number, const std::optional<std::string>& value) {
        if (value) out.text(number, *value);
    }
    void operator()(int number, const std::vector<std::string>& values) {
        for (const std::string& value : values)
            out.text(number, value);
    }
    void operator()(int number, const std::vector<std::int64_t>& values) {
        if (values.empty()) return;
        ProtobufMessage packed;
        for (const std::int64_t value : values)
            packed.varint(std::uint64_t(value));
        out.message(number, packed);
    }
    template <class Number>
    requires std::is_floating_point_v<Number>
    void operator()(int number, const std::vector<Number>& values) {
        std::string packed;
        for (const Number value : values)
            if constexpr (sizeof(Number) == 4)
                append_little_endian(packed, std::bit_cast<std::uint32_t>(value), 4);
            else
                append_little_endian(packed, std::bit_cast<std::uint64_t>(value), 8);
        (*this)(number, packed);
    }
    template <class Message>
    requires std::is_class_v<Message>
    void operator()(int number, const std::vector<Message>& messages) {
        for (const Message& message : messages)
            nested(number, message);
    }
    template <class Message>
    requires std::is_class_v<Message>
    void operator()(int number, const std::optional<Message>& message) {
        if (message) nested(number, *message);
    }
    template <class Message>
    void nested(int number, const Message& message) {
        Writer inner;
        visit_fields(message, inner);
        out.message(number, inner.out);
    }
};

// ---- Reading

using Wire = ProtobufReader::Wire;

/// What may still be taken of memory.
class Budget {
  public:
    explicit Budget(std::size_t bytes)
        : left_(std::min(64 * bytes + (std::size_t{16} << 20), std::size_t{4} << 30)) {}
    void take(std::size_t bytes, std::size_t offset) {
        if (bytes > left_)
            throw ProtobufError(offset,
                                "the parts of the file take far more memory than it has "
                                "bytes, as no model does");
        left_ -= bytes;
    }

  private:
    std::size_t left_;
};

/// One field of a message, given to the member that has its number.
struct FieldReader {
    const ProtobufReader& field;
    Budget& budget;

    bool mine(int number) const { return std::uint32_t(number) == field.number(); }
    [[noreturn]] void fail(const char* wanted) const {
        throw ProtobufError(field.offset(), "field " + std::to_string(field.number()) +
                                                " has another wire type than that of " + wanted);
    }
    void expect(Wire wire, const char* wanted) const {
        if (field.wire() != wire) fail(wanted);
    }

    void operator()(int number, std::int64_t& value) {
        if (!mine(number)) return;
        expect(Wire::varint, "an integer");
        value = std::int64_t(field.bits());
    }
    void operator()(int number, std::string_view& value) {
        if (!mine(number)) return;
        expect(Wire::bytes, "bytes");
        value = field.content();
    }
    void operator()(int number, std::string& value) {
        if (!mine(number)) return;
        expect(Wire::bytes, "a text");
        budget.take(field.content().size(), field.offset());
        value = field.content();
    }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    void operator()(int number, std::optional<Number>& value) {
        if (!mine(number)) return;
        if constexpr (std::is_integral_v<Number>) {
            expect(Wire::varint, "an integer");
            value = Number(field.bits());
        } else {
            expect(Wire::fixed32, "a number");
            value = std::bit_cast<float>(std::uint32_t(field.bits()));
        }
    }
    void operator()(int number, std::optional<std::string>& value) {
        if (!mine(number)) return;
        expect(Wire::bytes, "a text");
        budget.take(field.content().size(), field.offset());
        value = field.content();
    }
    void operator()(int number, std::vector<std::string>& values) {
        if (!mine(number)) return;
        expect(Wire::bytes, "a text");
        budget.take(2 * sizeof(std::string) + field.content().size(), field.offset());
        values.emplace_back(field.content());
    }
    void operator()(int number, std::vector<std::int64_t>& values) {
        if (!mine(number)) return;
        const auto add = [&](std::uint64_t bits) {
            budget.take(2 * sizeof(std::int64_t), field.offset());
            values.push_back(std::int64_t(bits));
        };
        if (field.wire() == Wire::varint) return add(field.bits());
        expect(Wire::bytes, "integers");
        ProtobufReader packed(field.content(), field.content_offset());
        while (!packed.at_end())
            add(packed.take_varint());
    }
    template <class Number>
    requires std::is_floating_point_v<Number>
    void operator()(int number, std::vector<Number>& values) {
        if (!mine(number)) return;
        constexpr bool kSingle = sizeof(Number) == 4;
        const auto add = [&](std::uint64_t bits) {
            if constexpr (kSingle)
                values.push_back(std::bit_cast<float>(std::uint32_t(bits)));
            else
                values.push_back(std::bit_cast<double>(bits));
        };
        if (field.wire() == (kSingle ? Wire::fixed32 : Wire::fixed64)) {
            budget.take(2 * sizeof(Number), field.offset());
            return add(field.bits());
        }
        expect(Wire::bytes, "numbers");
        const std::string_view bytes = field.content();
        if (bytes.size() % sizeof(Number) != 0)
            throw ProtobufError(field.offset(), "a list of numbers ends within one");
        budget.take(bytes.size(), field.offset());
        values.reserve(values.size() + bytes.size() / sizeof(Number));
        for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < sizeof(Number); ++i)
                bits |= std::uint64_t(std::uint8_t(bytes[at + i])) << (8 * i);
            add(bits);
        }
    }
    template <class Message>
    requires std::is_class_v<Message>
    void operator()(int number, std::vector<Message>& messages) {
        if (!mine(number)) return;
        budget.take(2 * sizeof(Message), field.offset());
        read(messages.emplace_back());
    }
    template <class Message>
    requires std::is_class_v<Message>
    void operator()(int number, std::optional<Message>& message) {
        if (!mine(number)) return;
        // What is there twice is one message: the later fields count.
        if (!message) message.emplace();
        read(*message);
    }
    template <class Message>
    void read(Message& message);
};

template <class Message>
void read_fields(Message& message, ProtobufReader reader, Budget& budget) {
    while (reader.next()) {
        FieldReader field{reader, budget};
        visit_fields(message, field);
    }
}

template <class Message>
void FieldReader::read(Message& message) {
    expect(Wire::bytes, "a message");
    read_fields(message, ProtobufReader(field.content(), field.content_offset()), budget);
}

}  // namespace

ElementType element_type(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return kFloat;
        case DType::f64:
            return kDouble;
        case DType::i32:
            return kInt32;
        case DType::i64:
            return kInt64;
        case DType::u8:
            return kUint8;
        case DType::bf16:
            return kBfloat16;
        case DType::fp16:
            return kFloat16;
    }
    return kFloat;
}

std::string write_model(const ModelProto& model) {
    Writer writer;
    visit_fields(model, writer);
    return writer.out.bytes();
}

ModelProto read_model(std::string_view bytes) {
    ModelProto model;
    Budget budget(bytes.size());
    read_fields(model, ProtobufReader(bytes), budget);
    return model;
}

}  // namespace dtnn::compiler::onnx
