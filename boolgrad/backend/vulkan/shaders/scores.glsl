// Where the score of a class lies: after the parts of all.

int score_at(int c, int number) {
  return (push.classes * push.class_parts + c) * push.vectors * 4 + number;
}
