// The random numbers of core/random.h, at the same addresses.

/// 128 random bits at an address: Philox4x32-10. 64-bit numbers have the low word first.
uvec4 random_bits(uvec2 seed, uint stream, uint step, uvec2 index) {
  uvec4 c = uvec4(index, step, stream);
  uvec2 key = seed;
  for (int round = 0; round < 10; ++round) {
    uint high0, low0, high2, low2;
    umulExtended(0xD2511F53u, c.x, high0, low0);
    umulExtended(0xCD9E8D57u, c.z, high2, low2);
    c = uvec4(high2 ^ c.y ^ key.x, low2, high0 ^ c.w ^ key.y, low0);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

/// a b + c
uvec2 product_plus(uint a, uint b, uint c) {
  uint high, low, carry;
  umulExtended(a, b, high, low);
  low = uaddCarry(low, c, carry);
  return uvec2(low, high + carry);
}

uvec2 shifted_right(uvec2 value, int bits) {
  return uvec2(value.x >> bits | value.y << (32 - bits), value.y >> bits);
}

/// Whether the event occurs for element `index`. Four elements share 128 random bits.
bool is_sampled(uvec2 seed, uint stream, uint step, uvec2 index, uint always, uint below) {
  if (always != 0) return true;
  return random_bits(seed, stream, step, shifted_right(index, 2))[index.x & 3u] < below;
}
