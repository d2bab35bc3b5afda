// Must match `Parametrisation`.
const int SOFTMAX16 = 0, SIGMOID = 1, WALSH = 2;
