// gates
module top(a, b, y);
  input [1:0] a;
  input b;
  output [2:0] y;
  wire _0_;
  assign _0_ = a[0] & ~a[1];
  assign y[0] = _0_ ^ b;
  assign y[1] = b ? a[0] : 1'h1;
  assign y[2] = 4'h6 >> { a[1], a[0] };
endmodule
