-- A modulefile for Lmod: share it as dtnn/VERSION.lua, with the folder that `cmake --install --prefix` made.
local root = "/opt/dtnn/0.2.0"
whatis("dtnn: declarative compiler and runtime for training neural networks on clusters")
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("LD_LIBRARY_PATH", pathJoin(root, "lib"))
prepend_path("LIBRARY_PATH", pathJoin(root, "lib"))
prepend_path("CPATH", pathJoin(root, "include"))
prepend_path("CMAKE_PREFIX_PATH", root)
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib", "pkgconfig"))
prepend_path("MANPATH", pathJoin(root, "share", "man"))
