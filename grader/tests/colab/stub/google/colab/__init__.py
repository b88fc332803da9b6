"""A stand-in for google.colab: enough to be found, and to download a file into a folder."""

from google.colab import _message, _shell, drive, files, userdata  # noqa: F401
