"""Lets real packages under `google` live beside this stand-in."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
