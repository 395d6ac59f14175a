"""The tests run a real exchange: set FORETELL_BIN, or install the wheel that has the program."""

pytest_plugins = ["pytester"]
