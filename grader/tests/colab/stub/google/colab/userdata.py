"""There are no secrets here."""


class SecretNotFoundError(Exception):
    pass


def get(key):
    raise SecretNotFoundError(f"Secret {key} does not exist.")
