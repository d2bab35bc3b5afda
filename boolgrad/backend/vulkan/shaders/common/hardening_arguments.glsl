// Arguments of hardening; `share` applies to all tables.
float share, logit_scale, noise_scale;
uint hard_seed_low, hard_seed_high, hard_stream, hard_step;
uint gate_below_high, gate_below_low;  // a gate is hard if its 53 random bits are less than this
