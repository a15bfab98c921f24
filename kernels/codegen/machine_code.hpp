#pragma once
/// Machine code in memory: an object of a generator, put where it can be run and not be written.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dtnn::kernels {

class MachineCode {
  public:
    /// Loads the relocatable ELF object and finds `symbol` in it. Nothing, and the reason in
    /// `mistake`, for bytes that are none, that are for another processor, that refer to anything
    /// outside of themselves, or that are larger than kMostBytes.
    static std::optional<MachineCode> load(std::string_view object, std::string_view symbol,
                                           std::string& mistake);
    MachineCode(MachineCode&& other) noexcept;
    MachineCode& operator=(MachineCode&& other) noexcept;
    ~MachineCode();
    MachineCode(const MachineCode&) = delete;
    MachineCode& operator=(const MachineCode&) = delete;

    void* entry() const { return entry_; }

    static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  private:
    MachineCode() = default;

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    void* entry_ = nullptr;
};

}  // namespace dtnn::kernels
