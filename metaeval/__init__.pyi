from . import analyses as analyses
from . import datasets as datasets
from . import errors as errors
from . import io as io
from . import measures as measures
from . import report as report
from . import stats as stats
from .analyses.baseline_preference import BaselinePreference as BaselinePreference
from .analyses.baseline_preference import baseline_preference as baseline_preference
from .datasets import load_dataset as load_dataset
from .errors import DataError as DataError
from .errors import MeasureError as MeasureError
from .errors import MetaevalError as MetaevalError
from .errors import MetaevalWarning as MetaevalWarning
from .measures.base import Measure as Measure
from .measures.registry import classification_measure as classification_measure
from .measures.registry import measure as measure
from .measures.registry import quantification_measure as quantification_measure
from .report.tables import Table as Table
from .runs import ClassificationRuns as ClassificationRuns
from .runs import QuantificationRuns as QuantificationRuns
from .scores import Scores as Scores
from .scoring import score as score
from .signature import Signature as Signature
from .signature import sign as sign
from .store import ScoreStore as ScoreStore

__version__: str
