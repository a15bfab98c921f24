#include "kernels/codegen/machine_code.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/architecture.hpp"

namespace dtnn::kernels {
namespace {

/// Reads an object whose every number may be wrong.
class ObjectReader {
  public:
    ObjectReader(std::string_view object, std::string& mistake)
        : object_(object), mistake_(mistake) {}

    /// Places each section that is loaded; `bytes` is the end of them. False after a mistake.
    bool lay_out(std::size_t& bytes) {
        if (object_.size() > MachineCode::kMostBytes) return fail("it is too large");
        if (!at(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
            header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
            header_.e_type != ET_REL || header_.e_machine == EM_NONE ||
            header_.e_machine != architecture::kLoadedMachine ||
            header_.e_shentsize != sizeof(Elf64_Shdr))
            return fail("it is no relocatable object for this processor");
        sections_.resize(header_.e_shnum);
        places_.assign(sections_.size(), kNowhere);
        bytes = 0;
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            Elf64_Shdr& section = sections_[i];
            if (!at(header_.e_shoff + i * sizeof section, section)) return false;
            const bool filled = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
            if (filled && (section.sh_offset > object_.size() ||
                           section.sh_size > object_.size() - section.sh_offset))
                return fail("a section ends outside of it");
            if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) continue;
            if (section.sh_type != SHT_PROGBITS) return fail("a section is of an unknown type");
            if ((section.sh_flags & SHF_WRITE) != 0) return fail("a section is to be written");
            const std::size_t alignment = section.sh_addralign > 0 ? section.sh_addralign : 1;
            if (alignment > kLargestAlignment || (alignment & (alignment - 1)) != 0)
                return fail("a section is aligned to an unknown multiple");
            bytes = (bytes + alignment - 1) & ~(alignment - 1);
            places_[i] = bytes;
            bytes += section.sh_size;
        }
        if (bytes == 0) return fail("it has no code");
        return true;
    }

    void copy(std::byte* memory) const {
        for (std::size_t i = 0; i < sections_.size(); ++i)
            if (places_[i] != kNowhere)
                std::memcpy(memory + places_[i], object_.data() + sections_[i].sh_offset,
                            sections_[i].sh_size);
    }

    /// Puts the addresses of the code's own data into it, relative to itself.
    bool relocate(std::byte* memory) const {
        for (const Elf64_Shdr& list : sections_) {
            if (list.sh_type == SHT_REL) return fail("it is relocated in an unknown way");
            if (list.sh_type != SHT_RELA) continue;
            if (list.sh_info >= sections_.size()) return fail("a relocation is of no section");
            if (places_[list.sh_info] == kNowhere) continue;  // of what is not loaded
            for (std::uint64_t i = 0; i < list.sh_size / sizeof(Elf64_Rela); ++i) {
                Elf64_Rela entry;
                std::uint64_t target = 0;
                if (!at(list.sh_offset + i * sizeof entry, entry) ||
                    !symbol_place(list.sh_link, ELF64_R_SYM(entry.r_info), target))
                    return false;
                const std::uint32_t type = ELF64_R_TYPE(entry.r_info);
                if (type != R_X86_64_PC32 && type != R_X86_64_PLT32)
                    return fail("it is relocated in an unknown way");
                const Elf64_Shdr& section = sections_[list.sh_info];
                if (entry.r_offset > section.sh_size || section.sh_size - entry.r_offset < 4)
                    return fail("a relocation is outside of its section");
                const std::uint64_t place = places_[list.sh_info] + entry.r_offset;
                const auto difference =
                    std::int64_t(target + std::uint64_t(entry.r_addend) - place);
                const auto number = std::int32_t(difference);
                if (number != difference) return fail("a relocation does not fit");
                std::memcpy(memory + place, &number, sizeof number);
            }
        }
        return true;
    }

    bool find(std::string_view name, std::uint64_t& place) const {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            const Elf64_Shdr& table = sections_[i];
            if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
            const Elf64_Shdr& names = sections_[table.sh_link];
            for (std::uint64_t s = 0; s < table.sh_size / sizeof(Elf64_Sym); ++s) {
                Elf64_Sym symbol;
                if (!at(table.sh_offset + s * sizeof symbol, symbol)) return false;
                if (symbol.st_name >= names.sh_size ||
                    names.sh_size - symbol.st_name <= name.size())
                    continue;
                const std::string_view text =
                    object_.substr(names.sh_offset + symbol.st_name, name.size() + 1);
                if (text.substr(0, name.size()) != name || text.back() != '\0') continue;
                if (!symbol_place(i, s, place)) return false;
                if ((sections_[symbol.st_shndx].sh_flags & SHF_EXECINSTR) == 0) continue;
                return true;
            }
        }
        return fail("it does not have the function");
    }

  private:
    static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t kLargestAlignment = 4096;

    bool fail(const char* what) const {
        mistake_ = what;
        return false;
    }

    template <class T>
    bool at(std::uint64_t offset, T& value) const {
        if (offset > object_.size() || object_.size() - offset < sizeof value)
            return fail("it is cut short");
        std::memcpy(&value, object_.data() + offset, sizeof value);
        return true;
    }

    bool symbol_place(std::uint64_t table, std::uint64_t number, std::uint64_t& place) const {
        if (table >= sections_.size() || sections_[table].sh_type != SHT_SYMTAB ||
            number >= sections_[table].sh_size / sizeof(Elf64_Sym))
            return fail("a symbol is in no table");
        Elf64_Sym symbol;
        if (!at(sections_[table].sh_offset + number * sizeof symbol, symbol)) return false;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size() ||
            places_[symbol.st_shndx] == kNowhere)
            return fail("it refers to something outside of itself");
        if (symbol.st_value > sections_[symbol.st_shndx].sh_size)
            return fail("a symbol is outside of its section");
        place = places_[symbol.st_shndx] + symbol.st_value;
        return true;
    }

    std::string_view object_;
    std::string& mistake_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::size_t> places_;  ///< of each section in memory
};

}  // namespace

std::optional<MachineCode> MachineCode::load(std::string_view object, std::string_view symbol,
                                             std::string& mistake) {
    ObjectReader reader(object, mistake);
    std::size_t bytes = 0;
    if (!reader.lay_out(bytes)) return std::nullopt;
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    MachineCode code;
    code.bytes_ = (bytes + page - 1) / page * page;
    if (code.bytes_ > 2 * kMostBytes) {
        mistake = "it is too large";
        return std::nullopt;
    }
    void* const memory =
        mmap(nullptr, code.bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        mistake = "there is no memory for it";
        return std::nullopt;
    }
    code.memory_ = memory;
    reader.copy(static_cast<std::byte*>(memory));
    std::uint64_t place = 0;
    if (!reader.relocate(static_cast<std::byte*>(memory)) || !reader.find(symbol, place))
        return std::nullopt;
    if (mprotect(memory, code.bytes_, PROT_READ | PROT_EXEC) != 0) {
        mistake = "the system does not let this program run code that it has made";
        return std::nullopt;
    }
    code.entry_ = static_cast<std::byte*>(memory) + place;
    return code;
}

MachineCode::MachineCode(MachineCode&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_), entry_(other.entry_) {}

MachineCode& MachineCode::operator=(MachineCode&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(entry_, other.entry_);
    return *this;
}

MachineCode::~MachineCode() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
}

}  // namespace dtnn::kernels
