#pragma once
/// Requests for predictions and their answers, as the Open Inference Protocol (KServe's v2, REST)
/// and its extension of binary tensors have them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/sources/array_source.hpp"
#include "tools/dtnn_run/serve/http.hpp"
#include "tools/dtnn_run/serve/network_form.hpp"

namespace dtnn::serve {

/// A request that has been read. It can be moved, not copied: the arrays lie in it.
struct InferenceRequest {
    InferenceRequest() = default;
    InferenceRequest(InferenceRequest&&) = default;
    InferenceRequest& operator=(InferenceRequest&&) = default;

    std::vector<char> body;                   ///< as it came; binary tensors lie in it
    std::vector<std::vector<char>> decoded;   ///< the elements of the others
    std::vector<runtime::GivenArray> arrays;  ///< one for each of the network's inputs
    std::int64_t samples = 0;
    std::optional<std::string> id;
    bool binary_output = false;
};

/// Refused (400) where the body is not what the protocol says, or not of the network's inputs. What
/// elements are worth (finite, classes that there are) is looked at when they are used.
InferenceRequest read_inference_request(const NetworkForm& form, const RequestHead& head,
                                        std::vector<char> body);

/// `predictions` are those for the samples of the request, row-major.
Answer inference_answer(const NetworkForm& form, const InferenceRequest& request,
                        std::span<const double> predictions);

}  // namespace dtnn::serve
