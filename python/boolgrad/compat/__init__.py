"""Other packages' interfaces on the kernels of boolgrad: change an import, keep the code."""
