"""The pages of people: who may use the console, in which role; and of failed logins."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget

from console.models import FailedLogins
from console.roles import BEYOND_VIEWING
from sweepapi.admin.pages import AdminPages
from sweepapi.admin.read_only import ReadOnly

# People have pages of their own kind below, and roles are a table; the rest is between a person and the library.
for model in (User, Group, EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)


class RoleForm(UserChangeForm):
    """A person with exactly one role."""

    role = forms.ModelChoiceField(
        Group.objects.filter(name__in=BEYOND_VIEWING), widget=UnfoldAdminSelectWidget, required=True
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 Django's signature
        super().__init__(*args, **kwargs)
        if self.instance.pk and "role" in self.fields:
            self.fields["role"].initial = self.instance.groups.first()


class NewPersonForm(UserCreationForm):
    """A new person with a role and a first password."""

    role = forms.ModelChoiceField(Group.objects.filter(name__in=BEYOND_VIEWING), widget=UnfoldAdminSelectWidget)


@admin.register(User)
class PersonAdmin(UserAdmin, AdminPages):  # type: ignore[type-arg,misc]  # generic in the stubs only
    """People and their roles. Superusers are made by `manage.py createsuperuser`, and only they change each other."""

    form = RoleForm
    add_form = NewPersonForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "show_role", "is_active", "last_login"]
    list_filter = ["is_active", "groups"]
    fieldsets = [
        (None, {"fields": ["username", "password", "role", "is_active"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("Times", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "role", "usable_password", "password1", "password2"]})]
    readonly_fields = ["last_login", "date_joined"]
    filter_horizontal = []

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        people: QuerySet[User] = super().get_queryset(request)
        return people.prefetch_related("groups")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Keep people from changing themselves, and superusers from being changed by others."""
        if obj is not None and (obj == request.user or (obj.is_superuser and not request.user.is_superuser)):
            return False
        return bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, _request: HttpRequest, _obj: User | None = None) -> bool:
        return False  # what they did stays theirs; one who left is not active

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Give exactly the role that was chosen."""
        super().save_related(request, form, formsets, change)
        form.instance.groups.set([form.cleaned_data["role"]])

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: ANN401, FBT001
        """Let everyone in the table use the console."""
        obj.is_staff = True
        super().save_model(request, obj, form, change)

    @display(description="Role")
    def show_role(self, person: User) -> str:
        return "superuser" if person.is_superuser else ", ".join(group.name for group in person.groups.all())


@admin.register(FailedLogins)
class FailedLoginsAdmin(ReadOnly, AdminPages):
    list_display = ["minute", "account", "address", "count"]
    search_fields = ["account", "address"]
    date_hierarchy = "minute"
    ordering = ["-minute"]
