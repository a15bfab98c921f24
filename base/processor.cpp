#include "base/processor.hpp"

#include <fstream>
#include <string_view>

namespace dtnn {

std::string processor_name(std::istream& told) {
    constexpr std::string_view kNumber = "CPU ";
    std::string numbers;
    for (std::string line; std::getline(told, line);) {
        const std::size_t colon = line.find(':');
        if (line.empty() && !numbers.empty()) break;  // of the first core
        if (colon == std::string::npos || colon + 2 > line.size()) continue;
        std::string value = line.substr(colon + 2);
        if (line.starts_with("model name")) return value;
        if (!line.starts_with(kNumber)) continue;
        const std::size_t end = line.find_last_not_of(" \t", colon - 1) + 1;
        if (!numbers.empty()) numbers += ", ";
        numbers += line.substr(kNumber.size(), end - kNumber.size()) + ' ' + value;
    }
    return numbers;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    return processor_name(file);
}

}  // namespace dtnn
