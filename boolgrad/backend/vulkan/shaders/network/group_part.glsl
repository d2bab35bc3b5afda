// The range of outputs in a part of a group.

struct GroupPart {
  int first, end;
};

GroupPart group_part(int number) {
  const int first = number / push.group_parts * push.gates_per_row;
  const int gates = (push.gates_per_row + push.group_parts - 1) / push.group_parts;
  const int part = number % push.group_parts;
  return GroupPart(first + part * gates, first + min(push.gates_per_row, (part + 1) * gates));
}
