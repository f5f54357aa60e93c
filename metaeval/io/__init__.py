"""Reading and writing files: score matrices, and gold with runs; one module per format."""

import lazy_loader

# Names are imported when they are first used (see __init__.pyi), so that the list of formats needs no other package.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
