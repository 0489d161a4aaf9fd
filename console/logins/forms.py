"""The forms beside the login in which something can be guessed: a code, and the password of who is logged in."""

from allauth.account.adapter import get_adapter
from allauth.account.forms import ChangePasswordForm
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


class LimitedChangePasswordForm(ChangePasswordForm):
    """Compares the current password as a login does, so that a stolen session guesses no faster."""

    def clean_oldpassword(self) -> str:
        """Return it; raises ``ValidationError`` for a wrong one, or after too many wrong ones."""
        password: str = self.cleaned_data["oldpassword"]
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password
