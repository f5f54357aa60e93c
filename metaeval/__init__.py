"""metaeval: meta-evaluation of evaluation measures."""

import lazy_loader

# Names are imported when they are first used (see __init__.pyi), so that `metaeval --help` is quick.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "1.0.0rc1"
