// Functions whose precision Vulkan does not specify, accurate to the last bits of a float.

float exact_exp(float x) {
  if (is_nan(x)) return x;
  x = clamp(x, -104.0, 88.5);
  const float n = round(x * 1.44269504);
  precise float r = fma(n, -0.693145752, x);
  r = fma(n, -1.42860677e-6, r);
  precise float p = fma(r, 1.98412698e-4, 1.38888889e-3);
  p = fma(p, r, 8.33333333e-3);
  p = fma(p, r, 4.16666667e-2);
  p = fma(p, r, 1.66666667e-1);
  p = fma(p, r, 0.5);
  p = fma(p, r, 1.0);
  p = fma(p, r, 1.0);
  // In two steps, because 2^n alone may underflow.
  const int half_n = int(n) / 2;
  return ldexp(ldexp(p, half_n), int(n) - half_n);
}

/// log((1 + s) / (1 - s)), for |s| <= 0.172.
float twice_atanh(float s) {
  const float z = s * s;
  float p = fma(z, 1.0 / 9.0, 1.0 / 7.0);
  p = fma(p, z, 1.0 / 5.0);
  p = fma(p, z, 1.0 / 3.0);
  return 2.0 * fma(p * z, s, s);
}

/// For positive normal numbers.
float exact_log(float x) {
  const uint bits = floatBitsToUint(x);
  int exponent = int(bits >> 23) - 127;
  float m = uintBitsToFloat((bits & 0x7fffffu) | 0x3f800000u);
  if (m > 1.41421356) {
    m *= 0.5;
    exponent += 1;
  }
  const float log_m = twice_atanh((m - 1.0) / (m + 1.0));
  return fma(float(exponent), 0.693145752, fma(float(exponent), 1.42860677e-6, log_m));
}

/// cos(2 pi u), for u from 0 to 1.
float cos_of_turns(float u) {
  const float t = 6.28318531 * (abs(u - 0.5) - 0.25);  // cos(2 pi u) = sin(t)
  const float z = t * t;
  float p = fma(z, -2.50521084e-8, 2.75573192e-6);
  p = fma(p, z, -1.98412698e-4);
  p = fma(p, z, 8.33333333e-3);
  p = fma(p, z, -1.66666667e-1);
  return fma(p * z, t, t);
}
