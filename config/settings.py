"""All settings of the project, in one file, read from the environment.

Public facts of the chains are in ``chains.toml`` and ``clusters.toml``; secrets come only from the environment.
"""

import logging
import math
from pathlib import Path
from typing import Any

import environ
import structlog
from django.core.exceptions import ImproperlyConfigured

from config.json_lines import json_line
from config.openapi import SPECTACULAR

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

# --- Process kind -----------------------------------------------------------------------------------------------------
DEBUG = env.bool("DEBUG", default=False)
# Secrets are blank where a process does not need them; ``sweepapi.startup`` looks at what is needed and given.
SECRET_KEY = env.str("SECRET_KEY", default="")
SILENCED_SYSTEM_CHECKS = [
    "security.W009",  # Django's own look at it, at every command
    # The pages of the admin, and what they need, are those of the console's process alone.
    *("admin.E408", "admin.E409", "admin.E410", "security.W003"),
]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
# Plain HTTP is for local development only; the local world sets this.
INSECURE_HTTP = env.bool("INSECURE_HTTP", default=False)

# --- The product ------------------------------------------------------------------------------------------------------
EVM_BUILD_MODE = env.str("SERVICE_EVM_BUILD_MODE", default="v5_partner_fees")
EVM_BUILD_MODES = {  # of single chains, by their names
    name.removeprefix("SERVICE_EVM_BUILD_MODE_").lower(): env.str(name)
    for name in env.ENVIRON
    if name.startswith("SERVICE_EVM_BUILD_MODE_")
}
CHANGES_FILE = Path(env.str("CHANGES_FILE", default=str(BASE_DIR / "config" / "changes.json")))
CHAINS_FILE = Path(env.str("CHAINS_FILE", default=str(BASE_DIR / "config" / "chains.toml")))
RPC_URLS = {
    name.removeprefix("RPC_URLS_").lower(): env.list(name) for name in env.ENVIRON if name.startswith("RPC_URLS_")
}
# Of nodes that the service may control, by the names of sandbox chains.
SANDBOX_RPC_URLS = {
    name.removeprefix("SANDBOX_RPC_URL_").lower(): env.str(name)
    for name in env.ENVIRON
    if name.startswith("SANDBOX_RPC_URL_")
}
# Services that know which tokens a wallet has, by the names of chains; the URLs may contain keys.
ALCHEMY_URLS = {
    name.removeprefix("ALCHEMY_URL_").lower(): url
    for name, url in env.ENVIRON.items()
    if name.startswith("ALCHEMY_URL_") and url
}
BLOCKSCOUT_URLS = {
    name.removeprefix("BLOCKSCOUT_URL_").lower(): url
    for name, url in env.ENVIRON.items()
    if name.startswith("BLOCKSCOUT_URL_") and url
}
BLOCKSCOUT_KEY = env.str("BLOCKSCOUT_KEY", default="")
CLUSTERS_FILE = Path(env.str("CLUSTERS_FILE", default=str(BASE_DIR / "config" / "clusters.toml")))
SOLANA_FEE_WALLET = env.str("SOLANA_FEE_WALLET", default="")
SWAP_API_URL = env.str("SWAP_API_URL", default="")
SWAP_API_KEY = env.str("SWAP_API_KEY", default="")
SWAP_API_REQUESTS_PER_MINUTE = env.int("SWAP_API_REQUESTS_PER_MINUTE", default=60)
# Where the fee signer's key is; which of the others are needed depends on it.
FEE_SIGNER = env.str("FEE_SIGNER", default="local")
FEE_SIGNER_KEY = env.str("FEE_SIGNER_KEY", default="")
FEE_SIGNER_KEYSTORE = env.str("FEE_SIGNER_KEYSTORE", default="")
FEE_SIGNER_PASSWORD_FILE = env.str("FEE_SIGNER_PASSWORD_FILE", default="")
FEE_SIGNER_KMS_KEY_ID = env.str("FEE_SIGNER_KMS_KEY_ID", default="")
FEE_SIGNER_WEB3SIGNER_URL = env.str("FEE_SIGNER_WEB3SIGNER_URL", default="")
FEE_SIGNER_ADDRESS = env.str("FEE_SIGNER_ADDRESS", default="")
API_KEY_PEPPER = env.str("API_KEY_PEPPER", default="")

# Webhook secrets are encrypted under the first and can be read under all of them.
WEBHOOK_KEYS = env.list("WEBHOOK_KEYS", default=[])
# Send webhooks to any host and port, without TLS too: local development only.
WEBHOOK_ALLOW_PRIVATE = env.bool("WEBHOOK_ALLOW_PRIVATE", default=False)

# Signs receipts and statements; the public keys that did before stay published.
PROOF_KEY = env.str("PROOF_KEY", default="")
PROOF_RETIRED_KEYS = env.list("PROOF_RETIRED_KEYS", default=[])

TOTAL_FEE_BPS = env.int("TOTAL_FEE_BPS", default=75)
ROUTER_LEG_SLIPPAGE_BPS = env.int("ROUTER_LEG_SLIPPAGE_BPS", default=50)
PRICE_IMPACT_WARNING_BPS = env.int("PRICE_IMPACT_WARNING_BPS", default=300)
PRICE_IMPACT_REFUSAL_BPS = env.int("PRICE_IMPACT_REFUSAL_BPS", default=1500)
WALLET_CODE_GAS = env.int("WALLET_CODE_GAS", default=20_000)
MAX_TOKENS = env.int("MAX_TOKENS", default=30)
DISCOVER_LOG_BLOCKS = env.int("DISCOVER_LOG_BLOCKS", default=1_000)
AUTHORIZATION_TTL_SECONDS = env.int("AUTHORIZATION_TTL_SECONDS", default=900)

# Wallets may put a newer blockhash into a transaction that they sign late.
SOLANA_BURN_VALUE_LIMIT = env.int("SOLANA_BURN_VALUE_LIMIT", default=10_000)
SOLANA_EXPIRY_GRACE_SECONDS = env.int("SOLANA_EXPIRY_GRACE_SECONDS", default=120)

# The deadline of one read of the chain: a build may use several, the inline confirm has a bound of its own.
RPC_TIMEOUT_SECONDS = env.float("RPC_TIMEOUT_SECONDS", default=5.0)
CONFIRM_TIMEOUT_SECONDS = env.float("CONFIRM_TIMEOUT_SECONDS", default=2.5)

# An execution that only one provider shows counts after ten seconds if it brought at most so many times its quote.
ONE_WORD_MAX_QUOTES = env.int("ONE_WORD_MAX_QUOTES", default=2)

FIRST_CHECK_SECONDS = env.int("FIRST_CHECK_SECONDS", default=2)
CHECK_BACKOFF_FACTOR = env.int("CHECK_BACKOFF_FACTOR", default=2)
MAX_CHECK_DELAY_SECONDS = env.int("MAX_CHECK_DELAY_SECONDS", default=300)

# What a cancellation that the service sends may pay for a unit of gas.
MAX_FEE_PER_GAS_GWEI = env.int("MAX_FEE_PER_GAS_GWEI", default=300)

# Cancellations on chain of one partner's sweeps within 24 hours; the service pays for them.
ONCHAIN_CANCELLATIONS_PER_DAY = env.int("ONCHAIN_CANCELLATIONS_PER_DAY", default=20)

# --- Django -----------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin.apps.SimpleAdminConfig",  # config.console.urls looks for the pages
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "pgtrigger",
    "allauth",
    "console.apps.AccountsConfig",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "drf_spectacular",
    "sweepapi",
    "partners",
    "ledger",
    "sweeps",
    "sweeps.rails.evm",
    "sweeps.rails.evm_v5",
    "sweeps.rails.solana_v1",
    "indexer",
    "console.apps.ConsoleConfig",
]
MIDDLEWARE = [
    "partners.client_address.ForwardedHeadersMiddleware",
    "sweepapi.api.requests.middleware.RequestIdMiddleware",
    "sweepapi.api.requests.request_log.RequestLogMiddleware",
    "sweepapi.api.requests.retirement.RetirementMiddleware",
    "partners.throttling.RateLimitFieldsMiddleware",
    "sweepapi.api.requests.middleware.ChunkedBodyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "console" / "templates"],  # in place of the accounts' library's own
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = "sweepapi.formats"
USE_TZ = True
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = INSECURE_HTTP
WHITENOISE_AUTOREFRESH = INSECURE_HTTP  # looked up when asked for, not at every start of the application

try:
    DATABASES = {"default": env.db("DATABASE_URL", default="postgres://", engine="sweepapi.postgres")}
except ValueError:  # not chained: the message may contain a part of the password
    raise ImproperlyConfigured("DATABASE_URL must be a URL, with the password percent-encoded.") from None
DATABASES["default"]["OPTIONS"] = {
    # How long the server may take for one answer. Commands may migrate large tables; config/gunicorn.py sets a short
    # one for web, and config/celery.py one for Celery's worker and beat.
    "deadline_seconds": env.float("DATABASE_DEADLINE_SECONDS", default=3600.0),
    # A host that vanished is noticed after seconds, by commands and idle connections too.
    "tcp_user_timeout": 2_000,  # milliseconds
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    **DATABASES["default"].get("OPTIONS", {}),
}
# Set by config/gunicorn.py, whose threads live on after a request, and for the worker by config/celery.py.
DATABASES["default"]["CONN_MAX_AGE"] = env.int("DATABASE_CONNECTION_MAX_AGE_SECONDS", default=0)
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True  # a connection that broke while idle is replaced, not used

# What runs beside this process, for the check that sums connections; gunicorn reads the first two as well.
WEB_PROCESSES = env.int("WEB_PROCESSES", default=2)
WEB_THREADS = env.int("WEB_THREADS", default=16)
WORKER_PROCESSES = env.int("WORKER_PROCESSES", default=4)

REDIS_URL = env.str("REDIS_URL", default="")

# What the default limits of requests are multiplied with; those that a partner's row sets are not.
RATE_LIMIT_FACTOR = env.float("RATE_LIMIT_FACTOR", default=1.0)

# Addresses and networks of the proxies in front of web, whose X-Forwarded-For says where a request comes from, and
# whose X-Forwarded-Proto says how.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])

SENTRY_DSN = env.str("SENTRY_DSN", default="")  # where unexpected errors are reported; blank: nowhere
# Where each of web, the loop, Celery's worker and beat serves /healthz, /readyz and /metrics; blank: nowhere.
HEALTH_BIND = env.str("HEALTH_BIND", default="")

SECURE_SSL_REDIRECT = not INSECURE_HTTP
SESSION_COOKIE_SECURE = not INSECURE_HTTP
CSRF_COOKIE_SECURE = not INSECURE_HTTP
SECURE_HSTS_SECONDS = 0 if INSECURE_HTTP else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = not INSECURE_HTTP
SECURE_HSTS_PRELOAD = not INSECURE_HTTP
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"

# --- The API ----------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["partners.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["sweepapi.api.requests.permissions.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["partners.throttling.KeyThrottle"],
    "DEFAULT_PARSER_CLASSES": ["sweepapi.api.input.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["sweepapi.api.requests.renderers.EnvelopeRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "sweepapi.api.requests.negotiation.AcceptNegotiation",
    "EXCEPTION_HANDLER": "sweepapi.api.errors.handlers.envelope_exception",
    "DEFAULT_METADATA_CLASS": None,
    "URL_FORMAT_OVERRIDE": None,  # the Accept header alone says in which format to answer
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = SPECTACULAR

# --- The worker -------------------------------------------------------------------------------------------------------
# How often the loop looks for what is due; ``indexer.jobs`` has the fixed periods.
DUE_SWEEP_SECONDS = env.float("DUE_SWEEP_SECONDS", default=2.0)
FOLLOW_SECONDS = env.float("FOLLOW_SECONDS", default=1.0)  # zero: not at all
# Celery brings forward what the loop would do seconds later.
CELERY_BROKER_URL = REDIS_URL
CELERY_IMPORTS = ["config.processes"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "sweeps"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker that starts waits for Redis; one that exits is started again
CELERY_DB_REUSE_MAX = math.inf  # CONN_MAX_AGE decides how long; Celery alone would open a connection for each task
# Countdowns of awaited receipts end at MAX_CHECK_DELAY_SECONDS; Redis hands a message out again only after this long.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    # Redis answers in milliseconds. Kombu drops a connection whose blocking read, of one second, is overdue by the
    # interval, and looks once in an interval.
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "health_check_interval": 0.5,
}
# What no worker took in a minute is not needed: the next message says the same.
CELERY_BEAT_SCHEDULE = {
    "check_due": {"task": "indexer.check_due", "schedule": DUE_SWEEP_SECONDS, "options": {"expires": 60.0}}
}

# --- Logs -------------------------------------------------------------------------------------------------------------
# What no line shows need not be found out for each, as the documentation of ``logging`` has it under "Optimization".
logging._srcfile = None  # noqa: SLF001
logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processor": structlog.processors.JSONRenderer(serializer=json_line),
            "foreign_pre_chain": [
                structlog.contextvars.merge_contextvars,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
            ],
        },
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    # At DEBUG these would log credentials, signed requests, and URLs that contain keys.
    "loggers": {name: {"level": "INFO"} for name in ("botocore", "urllib3")}
    # The line of the request says it, and anyone can send as many as they like.
    | {"django.security.DisallowedHost": {"level": "CRITICAL"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
}
