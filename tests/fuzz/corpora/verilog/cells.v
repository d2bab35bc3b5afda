module top(input a, input b, input c, output y, output [1:0] z);
  wire n;
  \$_AND_  g0 (.A(a), .B(b), .Y(n));
  nand g1 (y, n, c);
  \$lut #(.LUT(8'h96), .WIDTH(32'd3)) g2 (.A({c, b, a}), .Y(z[0]));
  assign z[1] = |{a, b} && (c == 1'b0) || !n;
endmodule
