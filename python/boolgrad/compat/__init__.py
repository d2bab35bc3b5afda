"""Modules with the constructors of other packages: change an import, keep the model.

`boolgrad.compat.difflogic` and `boolgrad.compat.torchlogix` need PyTorch.
"""
