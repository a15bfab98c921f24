/// Any bytes at all as an ONNX file: it is refused with reasons, or gives a spec that the compiler
/// takes or refuses in words, whose parameters are the weights that came with it.

#include "tests/fuzz/imported_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dtnn;
    using namespace dtnn::compiler;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    try {
        const onnx::ModelProto model = onnx::read_model(bytes);
        onnx::Constants constants("/nonexistent", size);
        fuzz::check_imported(onnx::import_model(model, "net", constants));
    } catch (const ProtobufError& error) {
        if (error.offset() > size) fuzz::fail("an offset beyond the file");
    }
    return 0;
}
