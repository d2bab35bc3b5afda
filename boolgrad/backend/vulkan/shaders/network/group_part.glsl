// The range of outputs in a part of a group.

struct GroupPart {
  int first, end;
};

GroupPart group_part(int number) {
  const int size = push.gates / push.groups;
  const int first = number / push.group_parts * size;
  const int gates = (size + push.group_parts - 1) / push.group_parts;
  const int part = number % push.group_parts;
  return GroupPart(first + part * gates, first + min(size, (part + 1) * gates));
}
