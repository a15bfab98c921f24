"""Debian's packages, made of the build by cpack: what each has, and that it works where it is unpacked."""

import os
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from commands import BIN, CommandTest, run

BUILD = os.path.dirname(BIN)
# A file of each package that is made wherever dtnn is built.
FILES = {
    "dtnn": "bin/dtnn-run",
    "libdtnn1": "libdtnn.so.1",
    "libdtnn-dev": "include/dtnn.h",
}


class Packages(CommandTest):
    def test_packages_have_their_parts_and_work_unpacked(self):
        needed = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file", "strip") if shutil.which(tool) is None]
        if needed:
            self.skipTest(f"without {', '.join(needed)}")
        if not os.path.exists(os.path.join(BUILD, "CPackConfig.cmake")):
            self.skipTest("not run from a build tree")
        self.expect(run("cpack", "-G", "DEB", "-B", self.folder, "-D", "CPACK_COMPONENTS_ALL=runtime;library;development",
                        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=BUILD, timeout=300), 0)
        files = [file for file in os.listdir(self.folder) if file.endswith(".deb")]
        packages = {file.split("_")[0]: self.path(file) for file in files}
        self.assertEqual(sorted(packages), sorted(FILES))
        for package, wanted in FILES.items():
            listed = run("dpkg-deb", "-c", packages[package]).stdout
            self.assertIn(wanted, listed)
            self.assertIn(f"usr/share/doc/{package}/copyright", listed)
            self.assertIn(f"usr/share/doc/{package}/changelog.Debian.gz", listed)
            self.expect(run("dpkg-deb", "-x", packages[package], self.path("tree")), 0)
        fields = run("dpkg-deb", "-f", packages["dtnn"]).stdout
        self.assertRegex(fields, r"(?m)^Depends: .*libyaml-cpp")
        self.assertRegex(fields, r"(?m)^Description: \S.*\n Jobs are")
        self.assertTrue(os.path.exists(self.path("tree/usr/share/man/man1/dtnnc-compile.1.gz")))
        # Nothing is known of the folder that they were built in.
        dtnnc, dtnn_run = self.path("tree/usr/bin/dtnnc"), self.path("tree/usr/bin/dtnn-run")
        self.expect(run(dtnnc, "compile", "digits_simplecnn", "--set", "dataset.train_samples=256", "--set", "training.epochs=1",
                        "-o", "plan.json", cwd=self.folder), 0)
        self.expect(run(dtnn_run, "plan.json", "-o", "run", cwd=self.folder), 0)
        done = run(dtnnc, "data", "digits", cwd=self.folder)  # by a library that dtnnc opens
        self.expect(done, 0)
        self.assertTrue(re.search("10,?000", done.stdout), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
