// Scores of classes: sums over their outputs, first in parts, and after the parts of all classes as
// they are.

int part_at(int c, int part, int number) {
  return (c * push.class_parts + part) * push.vectors * 4 + number;
}

int score_at(int c, int number) { return part_at(push.classes, 0, number) + c * push.vectors * 4; }
