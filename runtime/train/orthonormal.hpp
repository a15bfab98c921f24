#pragma once
/// Orthonormal vectors from vectors, for initialisation.

#include <cstdint>
#include <vector>

namespace dtnn::kernels {
class ThreadTeam;
}

namespace dtnn::runtime {

/// Makes `count` vectors of `length` >= count numbers, one after another, orthonormal: the Q of the
/// QR decomposition whose R has a positive diagonal, by the modified Gram-Schmidt process in
/// double. A vector of which less than a tenth is left is projected a second time ("twice is
/// enough": Giraud, Langou and Rozloznik, 2005). From normal numbers the result is uniform over
/// all such matrices (Mezzadri, 2007). The same bits for any number of threads.
void make_orthonormal(std::vector<double>& vectors, std::int64_t count, std::int64_t length,
                      kernels::ThreadTeam& team);

}  // namespace dtnn::runtime
