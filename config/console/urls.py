"""Maps URL paths of the console to views: logins, and the pages of the admin."""

from allauth.account import views as accounts
from allauth.account.decorators import secure_admin_login
from allauth.socialaccount import views as identities
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from console.figures import figures
from console.logins.views import no_signup
from console.providers import providers
from console.runbook import runbook
from console.search import search

admin.autodiscover()
admin.site.index_title = "Home"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # the one page of logins

urlpatterns = [
    path("login/", accounts.login, name="account_login"),
    path("logout/", accounts.logout, name="account_logout"),
    path("signup/", no_signup, name="account_signup"),  # the library links it
    path("signup/identity/", no_signup, name="socialaccount_signup"),
    path("inactive/", accounts.account_inactive, name="account_inactive"),
    path("reauthenticate/", accounts.reauthenticate, name="account_reauthenticate"),
    path("password_change/", RedirectView.as_view(pattern_name="account_change_password")),  # the look links it
    path("password/", accounts.password_change, name="account_change_password"),
    path("factors/", include("allauth.mfa.urls")),
    path("identity/", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("identity/cancelled/", identities.login_cancelled, name="socialaccount_login_cancelled"),
    path("identity/error/", identities.login_error, name="socialaccount_login_error"),
    path("search/", search),  # in place of the library's own
    path("providers/", providers, name="providers"),
    path("figures/", figures, name="figures"),
    path("runbook/", runbook, name="runbook"),
    re_path(r"^runbook/(?P<name>[a-z][a-z0-9-]*)/$", runbook, name="runbook_page"),
    path("", admin.site.urls),
]

handler400 = "console.failures.bad_request"
handler403 = "console.failures.forbidden"
handler404 = "console.failures.not_found"
handler500 = "console.failures.server_error"
