"""The version, of this package and of the program it drives. It is here only: ecosort/CMakeLists.txt, pyproject.toml and
packaging/ read this line.
"""

__version__ = "0.2.0"
