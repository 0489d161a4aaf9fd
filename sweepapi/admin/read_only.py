"""Admin pages that show rows and never write them."""

from django.db.models import Model
from django.http import HttpRequest


class ReadOnly:
    """Lets users with the view permission see rows, and no user change them, superusers included.

    Goes first among the bases of a ``ModelAdmin`` or an inline.
    """

    def has_add_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Model | None = None) -> bool:
        return False
