"""The classifiers need scikit-learn; where it is not installed their examples are left out, as their tests are skipped."""

import importlib.util

collect_ignore = [] if importlib.util.find_spec("sklearn") else ["estimators.py", "repetitions.py"]
