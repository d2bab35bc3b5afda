#!/usr/bin/env python3
"""Prints boolgrad/backend/cpu/tensor/normal_cdf_coefficients.h.

With t = 2 / (2 + z), Q(t) = erfc(z) exp(z^2) / t is smooth on (0, 1]. Its Chebyshev series in
s = 2 t - 1 is truncated where the next term falls below the precision of the type, then converted to
a polynomial in s. Needs mpmath.
"""
import mpmath as mp

mp.mp.dps = 40
NODES = 60


def scaled_erfc(s):
    t = (s + 1) / 2
    z = 2 / t - 2
    return mp.erfc(z) * mp.exp(z * z) / t


def chebyshev_series():
    angles = [mp.pi * (k + mp.mpf(1) / 2) / NODES for k in range(NODES)]
    values = [scaled_erfc(mp.cos(angle)) for angle in angles]
    series = [
        mp.mpf(2) / NODES * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles))
        for j in range(NODES)
    ]
    series[0] /= 2
    return series


def to_powers(series):
    """Coefficients of the same polynomial in powers of s, lowest first."""
    before, current = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    powers = [mp.mpf(0)] * len(series)
    for coefficient in series:
        for i, x in enumerate(before):
            powers[i] += coefficient * x
        following = [mp.mpf(0)] + [2 * x for x in current]
        for i, x in enumerate(before):
            following[i] -= x
        before, current = current, following
    return powers


def emit(name, kind, terms, digits, suffix):
    print(f"inline constexpr {kind} {name}[] = {{")
    for x in reversed(to_powers(chebyshev_series()[:terms])):
        print("    " + mp.nstr(x, digits, strip_zeros=False, min_fixed=-1, max_fixed=1) + suffix + ",")
    print("};")


print("// Made by tools/fit_normal_cdf.py: erfc(z) exp(z^2) / t as a polynomial in 2 t - 1, t = 2 / (2 + z),")
print("// coefficients from the highest power down.")
print("#pragma once\n\nnamespace boolgrad::cpu {\n")
emit("normal_cdf_double", "double", 27, 18, "")
print()
emit("normal_cdf_float", "float", 11, 10, "F")
print("\n}  // namespace boolgrad::cpu")
