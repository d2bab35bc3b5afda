// Arguments of AdamW, clipping and noise.
float beta1, beta2, rest1, rest2, scale, rate, keep, epsilon, clip_value, clip_norm, noise;
uint noise_seed_low, noise_seed_high, noise_step;
