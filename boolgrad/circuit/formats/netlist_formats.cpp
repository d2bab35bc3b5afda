// The export members of `Netlist`.
#include "boolgrad/circuit/formats/aiger.h"
#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/dot.h"
#include "boolgrad/circuit/formats/html.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

std::string Netlist::to_verilog() const { return circuit::to_verilog(*this).design; }
std::string Netlist::to_c() const { return circuit::to_c(*this); }
std::string Netlist::to_blif() const { return circuit::to_blif(*this); }
std::string Netlist::to_aiger() const { return circuit::to_aiger(*this, AigerFormat::binary); }
std::string Netlist::to_text() const { return circuit::to_text(*this); }
std::string Netlist::to_dot() const { return circuit::to_dot(*this); }
std::string Netlist::to_html() const { return circuit::to_html(*this); }

}  // namespace boolgrad::circuit
