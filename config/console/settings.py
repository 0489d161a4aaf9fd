"""The settings of the console's process: those of the project, with other URLs, cookies and middleware."""

from typing import Any

from config.settings import *  # noqa: F403 the project's settings, of which these replace some
from config.settings import INSECURE_HTTP, STATIC_URL, env

ROOT_URLCONF = "config.console.urls"
WSGI_APPLICATION = "config.console.wsgi.application"
SILENCED_SYSTEM_CHECKS = ["security.W009"]  # as for all processes; what the API silences beside it holds here
MIDDLEWARE = [
    "partners.client_address.ForwardedHeadersMiddleware",
    "sweepapi.api.requests.middleware.RequestIdMiddleware",
    "sweepapi.api.requests.request_log.RequestLogMiddleware",
    "console.policy.ContentSecurityPolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "console.logins.sessions.SignedInMiddleware",
]

# --- Sessions and cookies ---------------------------------------------------------------------------------------------
# A browser sends `__Host-` cookies to this host alone, and takes them by TLS only.
SESSION_COOKIE_NAME = "console" if INSECURE_HTTP else "__Host-console"
CSRF_COOKIE_NAME = "console_csrf" if INSECURE_HTTP else "__Host-console_csrf"
SESSION_COOKIE_AGE = 86_400  # seconds after the login, whatever is done meanwhile
SESSION_EXPIRE_AT_BROWSER_CLOSE = True

# --- Logins -----------------------------------------------------------------------------------------------------------
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "admin:index"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
ACCOUNT_ADAPTER = "console.logins.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 900
ACCOUNT_FORMS = {"change_password": "console.logins.forms.LimitedChangePasswordForm"}
ACCOUNT_RATE_LIMITS = False  # console.logins.attempts counts in the database, for all processes together
MFA_ADAPTER = "console.logins.adapters.FactorAdapter"
MFA_SUPPORTED_TYPES = ["webauthn", "totp", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "console.logins.forms.CodeForm",
    "reauthenticate": "console.logins.forms.RepeatedCodeForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = INSECURE_HTTP
MFA_TOTP_ISSUER = "SweepAPI console"
MFA_RATE_LIMITS = False  # there is nothing to guess about a passkey
SOCIALACCOUNT_ADAPTER = "console.logins.adapters.IdentityAdapter"
SOCIALACCOUNT_ONLY = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True  # to accounts that exist, by an address that the provider verified
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
OIDC_ISSUER = env.str("CONSOLE_OIDC_ISSUER", default="")
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "APPS": [
            {
                "provider_id": "staff",
                "name": env.str("CONSOLE_OIDC_NAME", default="your identity provider"),
                "client_id": env.str("CONSOLE_OIDC_CLIENT_ID", default=""),
                "secret": env.str("CONSOLE_OIDC_CLIENT_SECRET", default=""),
                "settings": {"server_url": OIDC_ISSUER},
            }
        ]
        if OIDC_ISSUER
        else []
    }
}

# --- Pages ------------------------------------------------------------------------------------------------------------
UNFOLD = {
    "SITE_TITLE": "SweepAPI",
    "SITE_HEADER": "SweepAPI",
    "SITE_SYMBOL": "swap_horiz",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"/{STATIC_URL}sweepapi/icon/favicon.svg"}],
    "ENVIRONMENT": "console.stops.label",
    "DASHBOARD_CALLBACK": "console.home.context",
    "SIDEBAR": {"navigation": "console.menu.navigation"},
    "STYLES": [f"/{STATIC_URL}sweepapi/admin.css"],
    "SCRIPTS": [f"/{STATIC_URL}console/copy.js"],
}
