// The outputs of a part of a class.

struct ClassPart {
  int first, end;
};

ClassPart class_part(int number) {
  const int first = number / push.class_parts * push.gates_a_row;
  const int gates = (push.gates_a_row + push.class_parts - 1) / push.class_parts;
  const int part = number % push.class_parts;
  return ClassPart(first + part * gates, first + min(push.gates_a_row, (part + 1) * gates));
}
