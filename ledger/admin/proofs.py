"""What was signed for partners: the state of each tree at the end of each month, and the eras that name the trees."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from ledger.models import Checkpoint, StatementEra
from sweepapi.admin.explorer import shortened
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnly, AdminPages):
    list_display = ["month", "partner", "mode", "era", "size", "show_short_root", "show_signed"]
    list_filter = ["partner", "mode"]
    search_fields = ["month", "note"]  # the note has the partner's id, the era, and the root in base64
    ordering = ["-month", "partner", "mode"]
    fields = readonly_fields = ["partner", "mode", "era", "month", "size", "show_root", "show_signed", "show_note"]

    def get_queryset(self, _request: HttpRequest) -> QuerySet[Checkpoint]:
        return Checkpoint.objects.select_related("partner").defer("totals")

    @display(description="Root")
    def show_short_root(self, checkpoint: Checkpoint) -> SafeString:
        return shortened(bytes(checkpoint.root).hex())

    @display(description="Root")
    def show_root(self, checkpoint: Checkpoint) -> str:
        """Show it as the API does."""
        return bytes(checkpoint.root).hex()

    @display(description="Signed", ordering="issued_at")
    def show_signed(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.issued_at:%Y-%m-%d %H:%M:%S} UTC"

    @display(description="Note")
    def show_note(self, checkpoint: Checkpoint) -> SafeString:
        """Show what was signed, line by line, with the signature."""
        return format_html("<pre>{}</pre>", checkpoint.note)


@admin.register(StatementEra)
class StatementEraAdmin(ReadOnly, AdminPages):
    list_display = ["name", "show_begun", "reason"]
    ordering = ["-id"]
    fields = readonly_fields = ["name", "show_begun", "reason"]

    @display(description="Begun", ordering="begun_at")
    def show_begun(self, era: StatementEra) -> str:
        return f"{era.begun_at:%Y-%m-%d %H:%M:%S} UTC"
