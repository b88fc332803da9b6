"""A class of submissions as they really come in, made from the release: for the demo and for the tests."""
