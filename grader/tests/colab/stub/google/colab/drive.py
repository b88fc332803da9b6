"""Google Drive would wait for a person's consent."""


def mount(*args, **options):
    raise RuntimeError("drive.mount() waits for a person")
