import os
import sys

if sys.path[0] == os.getcwd():  # where `python -m` looks first, and where submissions may lie
    del sys.path[0]

from keras_attention.cli import main

main()
