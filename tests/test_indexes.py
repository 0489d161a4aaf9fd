"""The indexes of the whole schema: none is a prefix of another, which would be written and never needed."""

import pytest
from django.db import connection

from lab.bench.scale.indexes import prefixes


@pytest.mark.django_db
def test_no_index_is_a_prefix_of_another() -> None:
    assert [f"{one.name} of {other.name}" for one, other in prefixes()] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("definition", "is_prefix"),
    [
        ("(sweep_id)", True),
        ("(sweep_id) WHERE kind = 'closed'", True),
        ("(sweep_id, sequence DESC)", False),
        ("(sweep_id DESC, sequence DESC)", True),
        ("(sequence)", False),
        ("USING hash (sweep_id)", False),
    ],
)
def test_an_index_counts_as_a_prefix_only_if_the_other_serves_its_queries(definition: str, is_prefix: bool) -> None:  # noqa: FBT001 - of a case
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE INDEX tried ON sweeps_sweepevent {definition}")
    assert [one.name for one, _ in prefixes()] == ["tried"] * is_prefix
