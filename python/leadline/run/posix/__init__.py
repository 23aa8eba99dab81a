"""POSIX conformance of a directory: suites run case by case, in a folder of their own."""
