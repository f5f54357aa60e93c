from . import (
    analyses as analyses,
    datasets as datasets,
    errors as errors,
    io as io,
    measures as measures,
    show as show,
    stats as stats,
)
from .analyses.agreement import Agreement as Agreement, agreement as agreement
from .analyses.alternative_annotator_test import (
    AlternativeAnnotatorTest as AlternativeAnnotatorTest,
    alternative_annotator_test as alternative_annotator_test,
)
from .analyses.baseline_preference import (
    BaselinePreference as BaselinePreference,
    baseline_preference as baseline_preference,
)
from .analyses.boards import BoardRanks as BoardRanks, board_ranks as board_ranks
from .analyses.calibration import TestCalibration as TestCalibration, calibrate_tests as calibrate_tests
from .analyses.citation import cite as cite
from .analyses.corrected_scores import CorrectedScores as CorrectedScores, corrected_scores as corrected_scores
from .analyses.coverage import Coverage as Coverage, coverage as coverage
from .analyses.power import (
    DiscriminativePower as DiscriminativePower,
    PooledDiscriminativePower as PooledDiscriminativePower,
    discriminative_power as discriminative_power,
    pooled_discriminative_power as pooled_discriminative_power,
)
from .analyses.power_pairs import (
    SignificanceContradictions as SignificanceContradictions,
    SignificanceOverlap as SignificanceOverlap,
    significance_contradictions as significance_contradictions,
    significance_overlap as significance_overlap,
)
from .analyses.properties import Properties as Properties, properties as properties
from .analyses.qrels import QrelsComparison as QrelsComparison, compare_qrels as compare_qrels
from .analyses.ranking_similarity import (
    RankingSimilarity as RankingSimilarity,
    ranking_similarity as ranking_similarity,
)
from .analyses.ranks import RunRanks as RunRanks, run_ranks as run_ranks
from .analyses.robustness import Robustness as Robustness, robustness as robustness
from .analyses.sample_size import SampleSize as SampleSize, sample_size as sample_size
from .analyses.split_half_consistency import (
    SplitHalfConsistency as SplitHalfConsistency,
    split_half_consistency as split_half_consistency,
)
from .analyses.topic_set_size import TopicSetSize as TopicSetSize, topic_set_size as topic_set_size
from .analyses.variance_components import (
    VarianceComponents as VarianceComponents,
    variance_components as variance_components,
)
from .comparison.new_measure import Comparison as Comparison, compare as compare
from .data.annotations import Annotations as Annotations
from .data.judged import JudgedRuns as JudgedRuns
from .data.ratings import Ratings as Ratings
from .data.runs import ClassificationRuns as ClassificationRuns, QuantificationRuns as QuantificationRuns
from .data.scores import Scores as Scores, score as score
from .data.store import ScoreStore as ScoreStore
from .datasets import load_dataset as load_dataset
from .datasets.open import open_scores as open_scores
from .errors import (
    DataError as DataError,
    MeasureError as MeasureError,
    MetaevalError as MetaevalError,
    MetaevalWarning as MetaevalWarning,
)
from .measures.base import Measure as Measure
from .measures.conformance import conformance as conformance
from .measures.registry import register_measure as register_measure
from .measures.resolve import measure as measure
from .show.signature import Signature as Signature, sign as sign
from .show.table import Table as Table

__version__: str
