// The buffer of group sums: first the parts of all groups, then the sums of soft outputs, then
// those of hard ones.

int part_at(int g, int part, int number) {
  return (g * push.group_parts + part) * push.vectors * 4 + number;
}

int sum_at(int g, int number) { return part_at(push.groups, 0, number) + g * push.vectors * 4; }

/// With weights of outputs, the gradients of the sums take the place of the parts.
int gradient_at(int g, int number) { return g * push.vectors * 4 + number; }
