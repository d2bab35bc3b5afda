#!/usr/bin/env python3
"""Copies the libraries that a wheel needs into it.

    build/python/bin/python tools/repair_wheel.py WHEEL FOLDER

Runs auditwheel with a shorter list of libraries that a system is expected to have: those of the C library and of the
compiler. auditwheel's own list has libraries of X11 too, which cairo needs and servers lack. Needs auditwheel 6 and
patchelf.
"""

import json
import pathlib
import re
import sys
import tempfile

from auditwheel import policy
from auditwheel.libc import Libc
from auditwheel.main import main

OF_THE_SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|util|resolv|nsl|anl|gcc_s|stdc\+\+|atomic))\.so")


def shortened(policies):
    for one in policies:
        one["lib_whitelist"] = [name for name in one["lib_whitelist"] if OF_THE_SYSTEM.match(name)]
    return policies


if __name__ == "__main__":
    wheel, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "policy.json"
        path.write_text(json.dumps(shortened(json.loads(policy._POLICY_JSON_MAP[Libc.GLIBC].read_text()))))
        policy._POLICY_JSON_MAP[Libc.GLIBC] = path
        sys.argv = ["auditwheel", "repair", "--wheel-dir", folder, wheel]
        sys.exit(main())
