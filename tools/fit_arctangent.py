#!/usr/bin/env python3
"""Prints boolgrad/backend/cpu/tensor/arctangent_coefficients.h: atan(x) / x on [0, 1] as a polynomial in 2 x^2 - 1.

The function is smooth in x^2 and its nearest singularity is at -1, so the terms of its Chebyshev expansion shrink by
a factor of 5.8. They are computed with 60 digits and converted to powers, which are rounded once.
"""
from decimal import Decimal, getcontext

getcontext().prec = 60
TERMS = 22
NODES = 64
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def series(x, first, ratio):
    """first + first ratio(1) + first ratio(1) ratio(2) + ... until convergence."""
    total, term, n = first, first, 0
    while abs(term) > abs(total) * Decimal(10) ** -58:
        n += 1
        term *= ratio(n)
        total += term
    return total


def cosine(x):
    return series(x, Decimal(1), lambda n: -x * x / ((2 * n - 1) * (2 * n)))


def arctangent_over_x(x):
    """Euler's series: sum of (2n)!! / (2n+1)!! x^2n / (1 + x^2)^(n+1)."""
    square = x * x / (1 + x * x)
    return series(x, 1 / (1 + x * x), lambda n: square * (2 * n) / (2 * n + 1))


def chebyshev_terms():
    angles = [PI * (2 * j + 1) / (2 * NODES) for j in range(NODES)]
    values = [arctangent_over_x(((cosine(angle) + 1) / 2).sqrt()) for angle in angles]
    terms = [2 * sum(v * cosine(k * a) for v, a in zip(values, angles)) / NODES for k in range(TERMS)]
    terms[0] /= 2
    return terms


def powers(terms):
    """Coefficients of the powers of s, from the lowest up."""
    result = [Decimal(0)] * TERMS
    before, current = [Decimal(1)], [Decimal(0), Decimal(1)]
    for k, term in enumerate(terms):
        polynomial = before if k == 0 else current
        for i, c in enumerate(polynomial):
            result[i] += term * c
        if k > 0:
            following = [Decimal(0)] + [2 * c for c in current]
            for i, c in enumerate(before):
                following[i] -= c
            before, current = current, following
    return result


def main():
    print("// Written by tools/fit_arctangent.py.")
    print("#pragma once\n\nnamespace boolgrad::cpu {\n")
    print("/// atan(x) / x on [0, 1] as a polynomial in 2 x^2 - 1, from the highest power down.")
    print("inline constexpr double arctangent_double[] = {")
    for value in reversed(powers(chebyshev_terms())):
        print(f"    {float(value)!r},")
    print("};\n\n}  // namespace boolgrad::cpu")


if __name__ == "__main__":
    main()
