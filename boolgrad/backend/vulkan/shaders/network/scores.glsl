// The buffer of group sums: first the parts of all groups, then the scores of soft outputs, then
// the sums of hard ones.

int part_at(int g, int part, int number) {
  return (g * push.group_parts + part) * push.vectors * 4 + number;
}

int score_at(int g, int number) { return part_at(push.groups, 0, number) + g * push.vectors * 4; }
