"""The model fields keep values of chains exact and in one form, in Python and in PostgreSQL."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, Sum

from ledger.models import Posting
from partners.models import Partner
from sweepapi.fields import (
    UINT256_MAX,
    AccountAddressField,
    AddressField,
    BadChecksumError,
    Hash32Field,
    NetworkField,
    SignedAmountField,
    TransactionHashField,
    Uint256Field,
    checksum_address,
)
from tests.factories.ledger import book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepTransactionFactory

CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # the first example of EIP-55
HASH = "0x" + "ab" * 32
SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
SOLANA_SYSTEM = "1" * 32  # the shortest of Solana's addresses
SIGNATURE = "5" * 87

pytestmark = pytest.mark.django_db


class Reading(models.Model):
    """A table for these tests, since no table of the lower apps has a uint256."""

    amount = Uint256Field()

    class Meta:
        app_label = "sweepapi"
        managed = False


@pytest.fixture
def readings() -> models.Manager[Reading]:
    with connection.schema_editor(atomic=False) as editor:
        editor.create_model(Reading)
    return Reading._default_manager  # noqa: SLF001 the documented way to a model's manager


@pytest.mark.parametrize("casing", [CHECKSUMMED, CHECKSUMMED.lower(), "0x" + CHECKSUMMED[2:].upper()])
def test_an_address_of_any_valid_casing_becomes_its_checksummed_form(casing: str) -> None:
    assert checksum_address(casing) == CHECKSUMMED


def test_a_mixed_case_address_with_a_wrong_checksum_is_refused() -> None:
    with pytest.raises(BadChecksumError):
        checksum_address(CHECKSUMMED.replace("aA", "Aa"))


@pytest.mark.parametrize(
    "text", ["", "0x", CHECKSUMMED[2:], CHECKSUMMED + "0", "0X" + CHECKSUMMED[2:], CHECKSUMMED + "\n"]
)
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="40 hex digits"):
        checksum_address(text)


def test_an_address_is_canonical_on_the_instance_in_the_row_and_in_filters() -> None:
    partner = PartnerFactory.create(payout_wallet=CHECKSUMMED.lower())
    assert partner.payout_wallet == CHECKSUMMED
    assert Partner.objects.get(payout_wallet=CHECKSUMMED.lower()).payout_wallet == CHECKSUMMED


def test_postgres_refuses_text_that_is_not_an_address(partner: Partner) -> None:
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute("UPDATE partners_partner SET payout_wallet = 'nonsense' WHERE id = %s", [partner.pk])


def test_a_hash_is_stored_in_lower_case() -> None:
    tx = SweepTransactionFactory.create(tx_hash="0x" + "AB" * 32)
    assert tx.tx_hash == "0x" + "ab" * 32


CANONICAL = [
    (NetworkField(), "eip155:8453", "eip155:8453"),
    (NetworkField(), "eip155:" + "9" * 32, "eip155:" + "9" * 32),
    (NetworkField(), SOLANA, SOLANA),
    (AccountAddressField(), CHECKSUMMED.lower(), CHECKSUMMED),
    (AccountAddressField(), SOLANA_USDC, SOLANA_USDC),
    (AccountAddressField(), SOLANA_SYSTEM, SOLANA_SYSTEM),
    (TransactionHashField(), "0x" + HASH[2:].upper(), HASH),
    (TransactionHashField(), SIGNATURE, SIGNATURE),
]
INVALID = [
    (NetworkField(), ["8453", "eip155:", "eip155:08453", "eip155:0", "eip155:-1", "eip155:8453 ", "EIP155:8453"]),
    (NetworkField(), ["eip155:" + "9" * 33, SOLANA + "1", SOLANA[:-1], "solana:" + "0" * 32, "cosmos:hub", "base"]),
    (AccountAddressField(), [CHECKSUMMED[:-1], CHECKSUMMED + "0", CHECKSUMMED[2:], "0X" + CHECKSUMMED[2:]]),
    (AccountAddressField(), ["1" * 31, "1" * 45, "l" * 40, "O" * 40, SOLANA_USDC + "\n", "\u0661" * 40]),
    (TransactionHashField(), [HASH[:-1], HASH + "0", "0" * 64, "0X" + HASH[2:], HASH + "\n"]),
    (TransactionHashField(), ["5" * 63, "5" * 89, "I" * 70, SIGNATURE + "\n"]),
]
EACH_INVALID = [(field, text) for field, texts in INVALID for text in texts]


def postgres_accepts(field: "models.Field[str, str]", text: str) -> bool:
    """Evaluate the check constraint of the field's column."""
    field.column = "value"
    check = field.db_check(connection)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {check} FROM (SELECT %s AS value) AS one_row", [text])  # noqa: S608
        [accepted] = cursor.fetchone()
    return bool(accepted)


@pytest.mark.parametrize(("field", "text", "canonical"), CANONICAL)
def test_text_of_any_family_takes_its_canonical_form(
    field: "models.Field[str, str]", text: str, canonical: str
) -> None:
    assert field.clean(text, None) == field.get_prep_value(text) == canonical
    assert postgres_accepts(field, canonical)


@pytest.mark.parametrize(("field", "text"), EACH_INVALID)
def test_text_of_no_known_form_is_refused(field: "models.Field[str, str]", text: str) -> None:
    with pytest.raises(ValidationError, match=r"is 0x and|is a CAIP-2 identifier"):
        field.clean(text, None)
    with pytest.raises(ValidationError):
        field.get_prep_value(text)
    assert not postgres_accepts(field, text)


@pytest.mark.parametrize(
    ("field", "text"), [(AccountAddressField(), "1" * 33), (TransactionHashField(), "1" * 65)], ids=["key", "signature"]
)
def test_base58_of_another_number_of_bytes_is_refused(field: "models.Field[str, str]", text: str) -> None:
    with pytest.raises(ValidationError, match="bytes in base58"):
        field.clean(text, None)


def test_a_wrong_checksum_is_refused_in_every_field_of_addresses() -> None:
    for field in (AddressField(), AccountAddressField()):
        with pytest.raises(ValidationError, match="EIP-55"):
            field.clean(CHECKSUMMED.replace("aA", "Aa"), None)


def test_postgres_refuses_a_hash_in_upper_case() -> None:
    assert not postgres_accepts(TransactionHashField(), "0x" + HASH[2:].upper())


@pytest.mark.parametrize("amount", [0, 1, 2**64, 10**28 + 1, UINT256_MAX - 1, UINT256_MAX])
def test_a_uint256_comes_back_as_the_same_int(readings: models.Manager[Reading], amount: int) -> None:
    readings.create(amount=amount)
    [found] = readings.filter(amount=amount)
    assert found.amount == amount
    assert type(found.amount) is int


@pytest.mark.parametrize("amount", [-1, UINT256_MAX + 1])
def test_postgres_refuses_numbers_that_do_not_fit_a_uint256(readings: models.Manager[Reading], amount: int) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        readings.create(amount=amount)


def test_postgres_refuses_a_numeric_that_is_not_a_number(readings: models.Manager[Reading]) -> None:
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {readings.model._meta.db_table} (amount) VALUES ('NaN')")  # noqa: S608, SLF001


@pytest.mark.parametrize("value", [1.0, True, "1"])
def test_only_python_ints_are_saved(readings: models.Manager[Reading], value: object) -> None:
    with pytest.raises(TypeError, match="Python ints only"):
        readings.create(amount=value)


def test_the_two_largest_amounts_are_distinguished(readings: models.Manager[Reading]) -> None:
    readings.create(amount=UINT256_MAX)
    assert not readings.filter(amount=UINT256_MAX - 1).exists()
    assert readings.filter(amount__gt=UINT256_MAX - 1, amount__lte=UINT256_MAX).exists()


def test_sums_beyond_78_digits_are_exact_ints(readings: models.Manager[Reading]) -> None:
    for _ in range(10):
        readings.create(amount=UINT256_MAX)
    assert readings.aggregate(total=Sum("amount"))["total"] == 10 * UINT256_MAX


def test_arithmetic_in_the_database_is_exact(readings: models.Manager[Reading]) -> None:
    reading = readings.create(amount=UINT256_MAX - 1)
    readings.update(amount=F("amount") + 1)
    reading.refresh_from_db()
    assert reading.amount == UINT256_MAX
    assert readings.annotate(less=F("amount") - F("amount") - 5).values_list("less", flat=True).get() == -5


def test_signed_amounts_reach_both_bounds(partner: Partner) -> None:
    book_fee(partner, total_fee=UINT256_MAX, partner_fee=UINT256_MAX)
    assert sorted(Posting.objects.values_list("amount", flat=True)) == [-UINT256_MAX, UINT256_MAX]


@pytest.mark.parametrize("text", ["1.5", "1e3", "", "0x10", "9" * 79, "\u0663"])
def test_forms_accept_whole_numbers_only(text: str) -> None:
    with pytest.raises(ValidationError):
        Uint256Field().clean(text, None)


def test_forms_check_the_bounds() -> None:
    assert Uint256Field().clean(str(UINT256_MAX), None) == UINT256_MAX
    with pytest.raises(ValidationError):
        Uint256Field().clean(str(UINT256_MAX + 1), None)
    with pytest.raises(ValidationError):
        Uint256Field().clean("-1", None)
    assert SignedAmountField().clean("-1", None) == -1


@pytest.mark.parametrize(
    "field",
    [
        AddressField(),
        Hash32Field(null=True),
        NetworkField(),
        AccountAddressField(),
        TransactionHashField(unique=True),
        Uint256Field(default=5),
        SignedAmountField(),
    ],
)
def test_migrations_can_rebuild_the_field(field: models.Field) -> None:  # type: ignore[type-arg]
    _, path, args, kwargs = field.deconstruct()
    assert path == f"sweepapi.fields.{type(field).__name__}"
    assert "max_length" not in kwargs
    assert type(field)(*args, **kwargs).deconstruct() == field.deconstruct()
