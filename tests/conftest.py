"""All kernels are compiled, also those that such small data are not worth: they are what is tested."""

from blankets.compiling import compile_all

compile_all()
