// Of hardening; `share` is that of all tables.
float share, logit_scale, noise_scale;
uint hard_seed_low, hard_seed_high, hard_stream, hard_step;
uint gate_below_high, gate_below_low;  // a draw of 53 bits below makes a gate hard
