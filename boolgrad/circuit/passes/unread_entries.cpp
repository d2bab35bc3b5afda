#include "boolgrad/circuit/passes/unread_entries.h"

namespace boolgrad::circuit {

TableGate without_unread(TableGate table, Truth read) {
  for (std::size_t j = 0; j < table.inputs.size(); ++j) {
    const Truth both = cofactor(read, j, false) & cofactor(read, j, true);
    if (((table.truth ^ flipped(table.truth, j)) & both) != 0) continue;
    // The read entries of either cofactor define both.
    const Truth on = table.truth & read;
    table.truth = cofactor(on, j, false) | cofactor(on, j, true);
    read = cofactor(read, j, false) | cofactor(read, j, true);
  }
  return table;
}

}  // namespace boolgrad::circuit
