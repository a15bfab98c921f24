# Writes OUTPUT, the source of dtnn::kernels::revision(): a digest of TEXT and of the contents of FILES.
set(all "${TEXT}")
foreach(file ${FILES})
    file(SHA256 ${file} digest)
    string(APPEND all " ${digest}")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#include \"kernels/catalogue.hpp\"

namespace dtnn::kernels {

std::string_view revision() {
    return \"${digest}\";
}

}  // namespace dtnn::kernels
")
