#pragma once
/// The list of kernels as data: what exists, what it supports, how much workspace it needs. No
/// kernel code is linked with it, so the compiler can plan for machines it does not run on.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/problem.hpp"

namespace dtnn::kernels {

/// The name of every operator's last kernel.
inline constexpr std::string_view kReference = "reference";

/// Why not, or nothing.
using Refuses = std::optional<std::string> (*)(const Problem&);

struct KernelInfo {
    std::string_view op;
    std::string_view name;    ///< unique within the operator
    std::string_view device;  ///< "cpu", "cuda"
    bool f32 = false;
    bool f64 = false;
    bool reduced = false;  ///< values in bf16 or fp16
    /// It calls a library that may have several engines for a problem: the attribute `engine` says
    /// which, by the library's own order; without it, the first.
    bool library = false;
    Isa needs = Isa::baseline;
    /// Why the kernel cannot do this problem, or nothing when it can. Null: it can do all of its
    /// operator's problems.
    Refuses refuses = nullptr;
    /// Bytes of scratch memory for problem.threads threads. Null: none.
    std::int64_t (*workspace)(const Problem&) = nullptr;
    /// It does not sum the products of the formula but does other arithmetic with the same result,
    /// rounded otherwise: `numerics: strict` does without it.
    bool transforms = false;
    bool blis = false;  ///< its products are BLIS's
    /// It rounds the factors of products to bfloat16, as the attribute `bf16` asks. `reference`
    /// does either.
    bool rounds = false;
    /// One launch of it does all members of a problem (base/tensor/members.hpp).
    bool joins = false;
    bool terms = false;  ///< it reads a problem's expression term by term
    /// Why a kernel behind it is expected to be faster at a problem that it can do, or nothing when
    /// none is. Null: none ever is.
    Refuses slower = nullptr;
};

/// All kernels of a device in the catalogue's order: by operator, specialised first, on the CPU
/// reference last. None of a device that is unknown.
std::span<const KernelInfo> catalogue(std::string_view device = "cpu");
std::span<const KernelInfo> kernels_of(std::string_view op, std::string_view device = "cpu");
const KernelInfo* find_kernel(std::string_view op, std::string_view name,
                              std::string_view device = "cpu");

/// Says what is wrong with the operands' number, types and shapes, or with the attributes that go
/// with them, whichever kernel is chosen; nothing when they are as docs/operators.md says.
/// `refusal` and `workspace_bytes` may only be asked about problems without a mistake.
std::optional<std::string> operand_mistake(const Problem& problem);

/// dtype, instruction set and `refuses` together; nothing when the kernel can do it.
std::optional<std::string> refusal(const KernelInfo& kernel, const Problem& problem);
/// `slower`, of a kernel that does not refuse the problem: an estimate, which measuring corrects.
std::optional<std::string> expected_slower(const KernelInfo& kernel, const Problem& problem);
/// Whether the kernel has a version for values of the type.
bool takes(const KernelInfo& kernel, DType dtype);
/// Whether the kernel reads an expression term by term, and runs the code that was made for it
/// (Problem::loop) where there is some.
bool reads_terms(const KernelInfo& kernel, const Problem& problem);
/// The filters (or units) of a block in which the kernel reads weights that were packed ahead
/// (kernels/packed_weights.hpp), whose problem then says `packed`; 0: it reads them as they are.
std::int64_t wanted_block(const KernelInfo& kernel, const Problem& problem);
std::string types_of(const KernelInfo& kernel);  ///< "f32, f64"
std::int64_t workspace_bytes(const KernelInfo& kernel, const Problem& problem);
/// The problems of the members; the problem itself where it has none. It has no mistake.
std::vector<Problem> members_of(const Problem& problem);

/// The revision of the kernels: a digest of their sources, of BLIS and of the compiler. Times that
/// were measured with one revision say nothing certain of another.
std::string_view revision();

using dtnn::name_of;
using dtnn::parse_name;
Isa host_isa();  ///< the best that this processor and operating system support

}  // namespace dtnn::kernels
