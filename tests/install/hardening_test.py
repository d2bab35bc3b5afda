"""A release build is hardened: the program is position-independent, the dynamic linker's tables are read-only, the stack
cannot be executed, and the stack and the bounds of C functions are checked.

Usage: hardening_test.py PROGRAM [LIBRARY...]
"""

import re
import shutil
import subprocess
import sys
import tempfile


def readelf(path, *options):
    return subprocess.run(["readelf", "--wide", *options, path], capture_output=True, text=True, check=True).stdout


def segment_flags(segments, name):
    """The flags of a segment such as `RW`, or None if there is none."""
    found = re.search(rf"^ +{name} +(?:0x\S+ +){{5}}([RWE ]+?) +0x", segments, re.MULTILINE)
    return found and found[1].replace(" ", "")


def check_linking(path):
    segments = readelf(path, "--segments")
    assert segment_flags(segments, "GNU_RELRO") == "R", f"{path}: tables are not read-only\n{segments}"
    assert segment_flags(segments, "GNU_STACK") == "RW", f"{path}: the stack can be executed\n{segments}"
    dynamic = readelf(path, "--dynamic")
    assert re.search(r"BIND_NOW|FLAGS_1.* NOW", dynamic), f"{path}: symbols are bound late\n{dynamic}"


def check_program(path):
    header = readelf(path, "--file-header")
    assert re.search(r"Type: +DYN", header), f"{path}: not position-independent\n{header}"
    assert re.search(r"FLAGS_1.* PIE", readelf(path, "--dynamic")), f"{path}: not a position-independent program"
    symbols = readelf(path, "--dyn-syms")
    assert "__stack_chk_fail" in symbols, f"{path}: the stack is not checked"
    assert re.search(r"__(mem|str|read|snprintf|fprintf|vsnprintf|fread|realpath|pread)\w*_chk", symbols), \
        f"{path}: bounds are not checked"


def refuses_a_plain_program():
    """The checks find what is missing: a program without any of it fails each of them."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/plain"
        subprocess.run(["cc", "-x", "c", "-", "-o", program, "-no-pie", "-fno-stack-protector", "-U_FORTIFY_SOURCE",
                        "-Wl,-z,norelro,-z,lazy,-z,execstack"],
                       input="#include <stdio.h>\nint main(void) { puts(\"\"); }\n", text=True, check=True)
        for check in (check_program, check_linking):
            try:
                check(program)
            except AssertionError:
                continue
            sys.exit(f"{check.__name__} accepts a program that is not hardened")


def main():
    if shutil.which("readelf") is None:
        print("readelf is missing: the package binutils has it")
        sys.exit(77)
    check_program(sys.argv[1])
    for path in sys.argv[1:]:
        check_linking(path)
    refuses_a_plain_program()


if __name__ == "__main__":
    main()
