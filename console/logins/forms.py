"""The form of the second factor's code: it is six digits, so its tries are limited as those of a password are."""

from allauth.account.adapter import get_adapter
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm

from console.logins.attempts import LoginAttempt
from partners.client_address import client_address


class _Limited:
    """Goes first among the bases of a form that takes a code."""

    def clean_code(self) -> str:
        """Return the code; raises ``ValidationError`` for a wrong one, or after too many wrong ones of this person."""
        person = self.user.get_username()  # type: ignore[attr-defined]  # of the form
        attempt = LoginAttempt.of(f"code of {person}", client_address(context.request))
        if not attempt.admitted():
            raise get_adapter().validation_error("too_many_login_attempts")
        code: str = super().clean_code()  # type: ignore[misc]  # of the form
        attempt.uncount()
        return code


class CodeForm(_Limited, AuthenticateForm):
    """At a login."""


class RepeatedCodeForm(_Limited, ReauthenticateForm):
    """Before something that takes a fresh login."""
