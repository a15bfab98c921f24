#include "plan/normalization.hpp"

namespace dtnn::plan {

const std::vector<NormalizationConstants>& normalization_constants() {
    static const std::vector<NormalizationConstants> list = {
        {"mnist", {0.1307}, {0.3081}, "PyTorch's examples"},
        {"cifar10",
         {0.4914, 0.4822, 0.4465},
         {0.2470, 0.2435, 0.2616},
         "the 50,000 training images"},
        {"cifar100",
         {0.5071, 0.4865, 0.4409},
         {0.2673, 0.2564, 0.2762},
         "the 50,000 training images"},
        {"imagenet", {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, "torchvision's models"},
        {"chestxray", {0.509}, {0.2499}, "PyDTNN: an offset of -0.509, a factor of 4.002"},
    };
    return list;
}

const NormalizationConstants* find_normalization_constants(std::string_view name) {
    for (const NormalizationConstants& one : normalization_constants())
        if (one.name == name) return &one;
    return nullptr;
}

}  // namespace dtnn::plan
