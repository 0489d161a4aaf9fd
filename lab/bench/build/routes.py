"""What the routes of random baskets give, compared with an exhaustive search over the same pools."""

from lab.bench.report import Section, Target
from lab.bench.service import Service
from lab.route_quality.measuring import BASKETS, TARGET_RATIO, TARGET_SHARE
from lab.route_quality.measuring import measure as measure_quality


def measure(_service: Service) -> Section:
    """Route the baskets in a model of the chain; the service is not used."""
    quality = measure_quality()
    target = Target(
        f"share of {BASKETS} baskets whose routes give {TARGET_RATIO:.1%} of the best",
        quality.share_reached,
        TARGET_SHARE,
        at_least=True,
    )
    return Section("Routes of random baskets", [quality.figures], [target])
