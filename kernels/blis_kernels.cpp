#include "kernels/blis_kernels.hpp"

#include <blis.h>

namespace dtnn::kernels {
namespace {

cntx_t* context_of([[maybe_unused]] int vector_bytes) {
    cntx_t* usual = bli_gks_query_cntx();  // makes the contexts of all architectures
#if defined(DTNN_BLIS_CONTEXTS)            // else the library keeps them to itself
    const arch_t arch = vector_bytes == 64 ? BLIS_ARCH_SKX : BLIS_ARCH_HASWELL;
    cntx_t** of_set = vector_bytes < 32 ? nullptr : bli_gks_lookup_id(arch);
    if (of_set != nullptr && of_set[BLIS_NAT] != nullptr) return of_set[BLIS_NAT];
#endif
    return usual;
}

}  // namespace

BlisKernels blis_kernels(int vector_bytes, bool in_double) {
    const num_t type = in_double ? BLIS_DOUBLE : BLIS_FLOAT;
    cntx_t* context = context_of(vector_bytes);
    return {context,
            bli_cntx_get_l3_nat_ukr_dt(type, BLIS_GEMM_UKR, context),
            bli_cntx_get_blksz_def_dt(type, BLIS_MR, context),
            bli_cntx_get_blksz_def_dt(type, BLIS_NR, context),
            bli_cntx_get_blksz_def_dt(type, BLIS_KC, context),
            bli_cntx_get_blksz_def_dt(type, BLIS_MC, context),
            bli_cntx_l3_nat_ukr_prefers_rows_dt(type, BLIS_GEMM_UKR, context)};
}

}  // namespace dtnn::kernels
