"""The bill of materials names the libraries that the program links, with versions and licences."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The libraries of docs/install.md that every build has, by the start of their packages' names.
EXPECTED = ["libcadical", "libcairo2", "libcli11", "libfmt", "libgif", "libhwy", "libopenblas", "libpng", "libtbb",
            "libtomlplusplus", "nlohmann-json", "zlib1g"]


def main():
    if shutil.which("dpkg-query") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "boolgrad.cdx.json"
        subprocess.run([sys.executable, ROOT / "tools/sbom.py", sys.argv[1], "-o", path], check=True)
        bill = json.loads(path.read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "boolgrad"), bill["metadata"]
    packages = {component["name"]: component for component in bill["components"]}
    for start in EXPECTED:
        found = [package for name, package in packages.items() if name.startswith(start)]
        assert found, f"{start} is missing; listed are {', '.join(packages)}"
        assert all(package["version"] and package["purl"] for package in found), found
    assert packages["zlib1g"]["licenses"], packages["zlib1g"]
    refused = subprocess.run([sys.executable, ROOT / "tools/sbom.py", "/nowhere"], capture_output=True, text=True, check=False)
    assert refused.returncode == 1 and refused.stderr == "sbom.py: /nowhere does not exist: run make build first\n", refused


if __name__ == "__main__":
    main()
