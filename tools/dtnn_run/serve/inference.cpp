#include "tools/dtnn_run/serve/inference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "tools/dtnn_run/serve/tensor_text.hpp"

namespace dtnn::serve {
namespace {

/// Extents of a tensor; more are none of a network's.
constexpr std::size_t kMostAxes = 32;

[[noreturn]] void refuse(const std::string& reason) {
    throw Refused(Status::bad_request, reason);
}

/// The bytes of JSON at the beginning of the body; the rest are binary tensors.
std::size_t json_bytes(const std::string& header, std::size_t body) {
    if (header.empty()) return body;
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), bytes);
    if (error != std::errc() || end != header.data() + header.size() || bytes > body)
        refuse(
            fmt::format("Inference-Header-Content-Length is `{}`; it is the number of bytes of "
                        "JSON at the beginning of the body, which has {}",
                        printable(header), body));
    return bytes;
}

/// A member of an object; null where there is none.
const Json* member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

/// A member that must be a text; `of` is what it belongs to.
std::string text_member(const Json& object, const char* name, const std::string& of) {
    const Json* const found = member(object, name);
    if (found == nullptr || !found->is_string())
        refuse(fmt::format("{}: give its `{}`, a text", of, name));
    return found->get<std::string>();
}

/// Whether the parameter of this name is set to true.
bool is_set(const Json& object, const char* name) {
    const Json* const parameters = member(object, "parameters");
    if (parameters == nullptr) return false;
    if (!parameters->is_object()) refuse("`parameters` is no object");
    const Json* const found = member(*parameters, name);
    if (found != nullptr && !found->is_boolean()) refuse(fmt::format("`{}` is no boolean", name));
    return found != nullptr && found->get<bool>();
}

class RequestReader {
  public:
    RequestReader(const NetworkForm& form, const RequestHead& head, InferenceRequest& request)
        : form_(form),
          request_(request),
          json_bytes_(json_bytes(head.inference_header_content_length, request.body.size())),
          document_(read_tensor_document({request.body.data(), json_bytes_})),
          binary_(request.body.data() + json_bytes_, request.body.size() - json_bytes_) {}

    void read() {
        const Json& root = document_.tree;
        if (!root.is_object()) refuse("the request is no JSON object");
        if (const Json* const id = member(root, "id")) {
            if (!id->is_string()) refuse("`id` is no text");
            request_.id = id->get<std::string>();
        }
        request_.binary_output = is_set(root, "binary_data_output");
        read_outputs(root);
        const Json* const inputs = member(root, "inputs");
        if (inputs == nullptr || !inputs->is_array())
            refuse(fmt::format("there is no list `inputs`; the network takes {}", names()));
        request_.arrays.resize(form_.inputs.size());
        for (const Json& input : *inputs)
            read_input(input);
        for (std::size_t i = 0; i < form_.inputs.size(); ++i)
            if (request_.arrays[i].bytes == nullptr)
                refuse(fmt::format("the input `{}` is missing; the network takes {}",
                                   form_.inputs[i].name, names()));
        if (!binary_.empty())
            refuse(
                fmt::format("{} bytes are left over behind the binary tensors; an input says "
                            "in `parameters.binary_data_size` how many are its own",
                            binary_.size()));
        check_shapes();
        request_.samples = request_.arrays.front().header.dims.front();
    }

  private:
    std::string names() const {
        std::vector<std::string> names;
        for (const plan::Feature& input : form_.inputs)
            names.push_back(fmt::format("`{}`", input.name));
        return fmt::format("{}", fmt::join(names, ", "));
    }

    void read_outputs(const Json& root) {
        const Json* const outputs = member(root, "outputs");
        if (outputs == nullptr) return;
        if (!outputs->is_array()) refuse("`outputs` is no list");
        for (const Json& output : *outputs) {
            if (!output.is_object()) refuse("an output is no object");
            if (const std::string name = text_member(output, "name", "an output");
                name != kOutputName)
                refuse(fmt::format("there is no output `{}`; the network gives `{}`",
                                   printable(name), kOutputName));
            if (is_set(output, "binary_data")) request_.binary_output = true;
            const Json* const parameters = member(output, "parameters");
            if (parameters != nullptr && parameters->contains("classification"))
                refuse(
                    "`classification` is not served; take the largest of the predictions, and "
                    "the names of classes from the network's metadata");
        }
    }

    void read_input(const Json& input) {
        if (!input.is_object()) refuse("an input is no object");
        const std::string name = text_member(input, "name", "an input");
        const auto feature =
            std::find_if(form_.inputs.begin(), form_.inputs.end(),
                         [&](const plan::Feature& one) { return one.name == name; });
        if (feature == form_.inputs.end())
            refuse(fmt::format("there is no input `{}`; the network takes {}", printable(name),
                               names()));
        const std::string label = fmt::format("the input `{}`", name);
        runtime::GivenArray& array = request_.arrays[std::size_t(feature - form_.inputs.begin())];
        if (array.bytes != nullptr) refuse(fmt::format("{} comes twice", label));
        const std::string datatype = text_member(input, "datatype", label);
        const TensorType* const type = find_tensor_type(datatype);
        if (type == nullptr) {
            std::vector<const char*> known;
            for (const TensorType& one : kTensorTypes)
                known.push_back(one.name);
            refuse(fmt::format("{}: its datatype is `{}`; give one of {}", label,
                               printable(datatype), fmt::join(known, ", ")));
        }
        array.header.kind = type->kind;
        array.header.item_bytes = type->bytes;
        array.header.dims = shape_of(input, label);
        array.bytes = elements_of(input, *type, array.header.dims, name, label);
    }

    static Dims shape_of(const Json& input, const std::string& label) {
        const Json* const shape = member(input, "shape");
        Dims dims;
        const auto refuse_shape = [&] {
            refuse(
                fmt::format("{}: give its `shape`, a list of the number of samples and the "
                            "extents of one",
                            label));
        };
        if (shape == nullptr || !shape->is_array() || shape->empty() || shape->size() > kMostAxes)
            refuse_shape();
        for (const Json& extent : *shape) {
            if (!extent.is_number_integer()) refuse_shape();
            try {
                dims.push_back(whole_number_of(extent, 0));
            } catch (const Json::exception&) {
                refuse_shape();
            }
        }
        return dims;
    }

    /// Where they begin; of none a place, too.
    const char* elements_of(const Json& input, const TensorType& type, const Dims& dims,
                            const std::string& name, const std::string& label) {
        const Json* const parameters = member(input, "parameters");
        const Json* const size = parameters != nullptr && parameters->is_object()
                                     ? member(*parameters, "binary_data_size")
                                     : nullptr;
        const Json* const data = member(input, "data");
        if ((size == nullptr) == (data == nullptr))
            refuse(
                fmt::format("{}: give its elements, in `data` or, in binary, behind the JSON, "
                            "with `parameters.binary_data_size`",
                            label));
        if (data != nullptr) {
            // A list has become its number, unless an escape in the name has hidden it. Whoever
            // writes a number instead means no list.
            const std::size_t next = request_.decoded.size();
            if (*data != next || next >= document_.data.size())
                refuse(fmt::format("{}: its `data` is no list", label));
            request_.decoded.push_back(read_elements(document_.data[next], type, dims, name));
            // Even of no elements it is a place.
            request_.decoded.back().reserve(1);
            return request_.decoded.back().data();
        }
        std::size_t wanted = std::size_t(type.bytes);
        bool fits = size->is_number_unsigned();
        for (const std::int64_t extent : dims)
            fits = fits && !__builtin_mul_overflow(wanted, std::size_t(extent), &wanted);
        if (!fits || size->get<std::size_t>() != wanted)
            refuse(
                fmt::format("{}: its `binary_data_size` is {}; its shape [{}] of {} is of "
                            "another number of bytes",
                            label, printable(write_json(*size)), fmt::join(dims, ","), type.name));
        if (wanted > binary_.size())
            refuse(
                fmt::format("{}: the body ends {} bytes early; "
                            "Inference-Header-Content-Length says where the JSON ends",
                            label, wanted - binary_.size()));
        const char* const place = binary_.data();
        binary_.remove_prefix(wanted);
        return place;
    }

    /// By who reads such arrays.
    void check_shapes() const {
        try {
            runtime::ArraySource::of_memory(form_.inputs, form_.lengths)->take(request_.arrays);
        } catch (const runtime::RunError& error) {
            refuse(fmt::format("{}; {}", error.what(), error.help()));
        }
    }

    const NetworkForm& form_;
    InferenceRequest& request_;
    const std::size_t json_bytes_;
    const TensorDocument document_;
    std::string_view binary_;  ///< what is left of it
};

}  // namespace

InferenceRequest read_inference_request(const NetworkForm& form, const RequestHead& head,
                                        std::vector<char> body) {
    InferenceRequest request;
    request.body = std::move(body);
    request.body.reserve(1);  // its end is a place
    RequestReader(form, head, request).read();
    return request;
}

namespace {

template <class Real>
void append_binary(std::string& out, std::span<const double> predictions) {
    const std::size_t begin = out.size();
    out.resize(begin + predictions.size() * sizeof(Real));
    char* to = out.data() + begin;
    for (const double prediction : predictions) {
        const auto value = Real(prediction);
        std::memcpy(to, &value, sizeof value);
        to += sizeof value;
    }
}

/// The shortest digits that read back as the same number of the type.
template <class Real>
void append_numbers(std::string& out, std::span<const double> predictions) {
    const char* separator = "";
    for (const double prediction : predictions) {
        fmt::format_to(std::back_inserter(out), "{}{}", separator, Real(prediction));
        separator = ",";
    }
}

}  // namespace

Answer inference_answer(const NetworkForm& form, const InferenceRequest& request,
                        std::span<const double> predictions) {
    Answer answer;
    std::string& out = answer.body;
    out = "{\"model_name\":";
    append_json(out, form.name);
    if (request.id) {
        out += ",\"id\":";
        append_json(out, *request.id);
    }
    fmt::format_to(std::back_inserter(out),
                   ",\"outputs\":[{{\"name\":\"{}\",\"datatype\":\"{}\",\"shape\":[{}", kOutputName,
                   tensor_type_of(form.dtype), request.samples);
    for (const std::int64_t extent : form.output.dims)
        fmt::format_to(std::back_inserter(out), ",{}", extent);
    const bool wide = form.dtype == DType::f64;
    if (request.binary_output) {
        fmt::format_to(std::back_inserter(out), "],\"parameters\":{{\"binary_data_size\":{}}}}}]}}",
                       predictions.size() * (wide ? sizeof(double) : sizeof(float)));
        answer.inference_header_content_length = std::to_string(out.size());
        answer.content_type = "application/octet-stream";
        wide ? append_binary<double>(out, predictions) : append_binary<float>(out, predictions);
        return answer;
    }
    out += "],\"data\":[";
    wide ? append_numbers<double>(out, predictions) : append_numbers<float>(out, predictions);
    out += "]}]}";
    return answer;
}

}  // namespace dtnn::serve
