// Outputs of the hardened circuit.

layout(std430, binding = 17) readonly buffer Words { uint words[]; };

uint hard_bit(int output_number, int number) {
  const int word_count = (push.samples + 31) / 32;
  const int row = push.out_row + output_number;
  return words[2 * push.all_tables + row * word_count + number / 32] >> (number & 31) & 1u;
}
