// How often outputs count in the sums of a head, then the largest sum of each group.

layout(std430, binding = 21) readonly buffer OutputWeights { float output_weights[]; };

float largest_sum(int g) { return output_weights[push.gates + g]; }
