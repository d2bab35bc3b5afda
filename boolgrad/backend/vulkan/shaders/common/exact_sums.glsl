// Compensated summation: terms may cancel to a hundredth of their size.

struct Sum {
  vec4 sum;
  vec4 rest;  // accumulated rounding error
};

Sum empty_sum() { return Sum(vec4(0), vec4(0)); }

/// Knuth's two-sum: only the compensation itself is rounded.
void add(inout Sum to, vec4 term) {
  precise const vec4 sum = to.sum + term;
  precise const vec4 added = sum - to.sum;
  precise const vec4 rest = to.rest + ((to.sum - (sum - added)) + (term - added));
  to.sum = sum;
  to.rest = rest;
}

void add(inout Sum to, Sum other) {
  add(to, other.sum);
  precise const vec4 rest = to.rest + other.rest;
  to.rest = rest;
}
