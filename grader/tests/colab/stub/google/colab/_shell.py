"""The shell class by whose module a notebook can tell that it runs in Colab."""

from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.interactiveshell import InteractiveShellABC


class Shell(ZMQInteractiveShell):
    pass


InteractiveShellABC.register(Shell)
