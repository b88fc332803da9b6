"""Colab's kernel has a shell class of its own; so has this one."""

from ipykernel.ipkernel import IPythonKernel


class Kernel(IPythonKernel):
    def _shell_class_default(self):
        from google.colab._shell import Shell

        return Shell
