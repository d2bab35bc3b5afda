"""`python -m boolgrad` is the command `boolgrad`."""

from boolgrad._program import main

main()
