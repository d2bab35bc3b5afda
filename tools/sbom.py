"""Writes a software bill of materials of the program: CycloneDX 1.5, JSON.

Usage: sbom.py build/release/boolgrad [-o boolgrad.cdx.json]

Shared libraries are those that the dynamic linker loads. What is compiled into the program (header-only libraries,
CaDiCaL, and the CUDA runtime where CUDA is built in) is listed below. Versions and licences are those of Debian's
packages.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# Debian packages of what is compiled in.
COMPILED_IN = ["libhwy-dev", "libcli11-dev", "nlohmann-json3-dev", "libtomlplusplus-dev", "libcadical-dev",
               "libvulkan-dev"]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def shared_libraries(program):
    """The files that the dynamic linker loads."""
    return sorted({pathlib.Path(path).resolve() for path in re.findall(r"=> (/\S+)", output("ldd", str(program)))})


def package_of(path):
    """The Debian package of a file. Libraries may be recorded below / or below /usr."""
    for candidate in (path, pathlib.Path(str(path).removeprefix("/usr"))):
        found = subprocess.run(["dpkg", "-S", str(candidate)], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return None


def licences(package):
    """The licence names in a package's machine-readable copyright file."""
    path = pathlib.Path("/usr/share/doc") / package / "copyright"
    if not path.exists():
        return []
    names = re.findall(r"^License:[ \t]*(\S.*)$", path.read_text(errors="replace"), re.MULTILINE)
    return sorted({name.strip() for name in names})


def component(package):
    version = output("dpkg-query", "-W", "-f", "${Version}", package)
    entry = {"type": "library", "name": package, "version": version, "purl": f"pkg:deb/debian/{package}@{version}"}
    found = licences(package)
    if found:
        entry["licenses"] = [{"license": {"name": name}} for name in found]
    return entry


def bill_of(program):
    packages = {package_of(path) for path in shared_libraries(program)} - {None}
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *COMPILED_IN],
                               capture_output=True, text=True, check=False).stdout
    packages |= {line.split()[0] for line in installed.splitlines() if line.endswith(" installed")}
    version = output(str(program), "--version").splitlines()
    components = [component(package) for package in sorted(packages)]
    cuda = next((line.split(maxsplit=1)[1] for line in version if line.startswith("CUDA")), "")
    if cuda.startswith("built in"):
        components.append({"type": "library", "name": "CUDA runtime", "version": cuda,
                           "licenses": [{"license": {"name": "NVIDIA CUDA Toolkit EULA"}}]})
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "boolgrad", "version": version[0].split()[1],
                                       "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": components}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path)
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit(f"sbom.py: {options.program} does not exist: run make build first")
    text = json.dumps(bill_of(options.program), indent=2) + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
