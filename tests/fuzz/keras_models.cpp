/// Any bytes at all as what is in Keras' archives: config.json to the first zero byte, then
/// model.weights.h5. It is refused with reasons, or gives a spec that the compiler takes or refuses
/// in words, whose parameters are the weights that came with it.

#include <algorithm>
#include <string>

#include "base/utf8.hpp"
#include "compiler/keras/import.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/hdf5.hpp"
#include "tests/fuzz/imported_model.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dtnn;
    using namespace dtnn::compiler;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(bytes.find('\0'), size);
    keras::KerasFile file{std::string(bytes.substr(0, end)), {}, {}};
    const std::string weights(bytes.substr(std::min(end + 1, size)));
    try {
        runtime::Hdf5Arrays arrays = runtime::read_hdf5(weights, "weights");
        file.weights = std::move(arrays.tensors);
        file.unread = std::move(arrays.others);
    } catch (const runtime::RunError& error) {
        if (!is_utf8(error.render(false))) fuzz::fail("a message that is not UTF-8");
    }
    onnx::Constants constants("/nonexistent", size);
    fuzz::check_imported(keras::import_model(file, "net", constants));
    return 0;
}
