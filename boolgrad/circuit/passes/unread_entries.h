// Tables of which not all entries are read.
#pragma once

#include "boolgrad/circuit/table.h"

namespace boolgrad::circuit {

/// Removes the dependence on inputs that matters only for entries outside of `read`.
TableGate without_unread(TableGate table, Truth read);

}  // namespace boolgrad::circuit
