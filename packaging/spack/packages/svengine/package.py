# SPDX-License-Identifier: Apache-2.0
"""spack repo add packaging/spack; spack install svengine"""

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Svengine(CMakePackage):
    """Runs and trains neural networks from ONNX files on the vector units of
    processors with SVE (A64FX, Graviton, Grace) and of x86-64."""

    # The recipe is of the clone in which it lies.
    homepage = Path(__file__).resolve().parents[4].as_uri()
    git = homepage

    license("Apache-2.0")

    version("main", branch="main")

    variant("shared", default=True, description="Build the shared library, too")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("eigen@3", type="build")
    depends_on("fmt@9:10", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("xxhash", type="build")
    depends_on("protobuf@3.21 ~shared")
    depends_on("re2 ~shared +pic")
    depends_on("zlib +pic")
    depends_on("numactl")

    conflicts("%gcc@:11", msg="C++20 and SVE intrinsics need GCC 12")

    # The schema alone: Spack's package of ONNX does not install it.
    resource(
        name="onnx",
        url="https://github.com/onnx/onnx/archive/refs/tags/v1.12.0.tar.gz",
        sha256="052ad3d5dad358a33606e0fc89483f8150bb0655c99b12a43aa58b5b7f0cc507",
        placement="external/onnx",
    )
    resource(
        name="stb",
        git="https://github.com/nothings/stb.git",
        commit="8b5f1f37b5b75829fc72d38e7b5d4bcbf8a26d55",
        placement="external/stb",
    )

    def cmake_args(self):
        external = Path(self.stage.source_path, "external")
        return [
            self.define("SVENGINE_TESTS", False),
            self.define("SVENGINE_BENCHMARKS", False),
            self.define("SVENGINE_PIC_ARCHIVES", True),
            self.define("ONNX_PROTO", str(external / "onnx/onnx/onnx.proto")),
            self.define("STB_INCLUDE_DIR", str(external)),
            self.define_from_variant("SVENGINE_SHARED", "shared"),
        ]
