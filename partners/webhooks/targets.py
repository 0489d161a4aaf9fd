"""Which URLs and addresses messages may be sent to: public ones, so that no partner can reach our own network.

The URL is checked when it is stored, the addresses of its host before each attempt: names can point elsewhere by then.
"""

import ipaddress
import re
import socket
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass
from threading import Lock, Thread
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

PORTS = (443, 8443)
RESOLVING_SECONDS = 3.0
# The characters of RFC 3986, without the brackets of IPv6 addresses.
_URL = re.compile(r"([A-Za-z0-9._~:/?#@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+", re.ASCII)
_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+", re.ASCII)
_MAX_NAME_LENGTH = 253
_GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")
# Global by their prefix, and yet they lead elsewhere: 6to4 to the IPv4 address inside, its relays, documentation.
_NOT_HOSTS = ("2002::/16", "3fff::/20", "192.88.99.0/24", "192.0.0.0/24")
# Global, and answered within a cloud, where they tell its machines secrets or take them for its own: Azure's metadata,
# IBM Cloud's services, and Google's APIs by private access.
_OF_CLOUDS = (
    *("168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14", "199.36.153.4/30", "199.36.153.8/30"),
    *("2600:2d00:2:1000::/56", "2600:2d00:2:2000::/56"),
)
_ELSEWHERE = [ipaddress.ip_network(block) for block in (*_NOT_HOSTS, *_OF_CLOUDS)]

_Lookup = Future[list[str]]
_lookups: dict[str, _Lookup] = {}  # under way, by host
_changing_lookups = Lock()


class UnresolvedError(Exception):
    """The host has no address, or its name servers did not answer in time."""


class ForbiddenAddressError(Exception):
    """The host has an address that is not public."""


@dataclass(frozen=True)
class WebhookTarget:
    """A URL, taken apart."""

    scheme: str
    host: str
    port: int
    path: str  # with the query


def target_of(url: str) -> WebhookTarget:
    """Take a URL apart; raises ``ValueError``, with a sentence for the partner, if messages can't be sent to it."""
    if not _URL.fullmatch(url):
        raise ValueError("A URL consists of the characters that RFC 3986 names.")
    try:
        parts = urlsplit(url)
        port = _default_port(parts) if parts.port is None else parts.port
    except ValueError:
        raise ValueError("This is not a URL.") from None
    if "@" in parts.netloc or "#" in url or "\\" in url:
        raise ValueError("The URL may have no user name, password, fragment or backslash.")
    target = WebhookTarget(parts.scheme, parts.hostname or "", port, _path(parts))
    if not settings.WEBHOOK_ALLOW_PRIVATE:
        _require_public(target)
    elif target.scheme not in ("http", "https") or not target.host:
        raise ValueError("Use http or https.")
    return target


def _default_port(parts: SplitResult) -> int:
    return 80 if parts.scheme == "http" else 443


def _path(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _require_public(target: WebhookTarget) -> None:
    if target.scheme != "https":
        raise ValueError("Use https.")
    if target.port not in PORTS:
        raise ValueError(f"Use port {' or '.join(map(str, PORTS))}.")
    labels = target.host.split(".")
    # A last label of digits makes it an IPv4 address in one of many notations.
    is_name = len(target.host) <= _MAX_NAME_LENGTH and _NAME.fullmatch(target.host) is not None
    if not is_name or labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise ValueError("The host must be a public DNS name.")
    if labels[-1] in ("localhost", "local", "internal", "lan", "home", "corp", "test", "invalid", "onion"):
        raise ValueError("The host must be a public DNS name.")


def addresses_of(target: WebhookTarget) -> list[str]:
    """Return the addresses of a host, all of them public; raises ``UnresolvedError`` and ``ForbiddenAddressError``."""
    try:
        addresses = lookup_of(target.host).result(timeout=RESOLVING_SECONDS)
    except (OSError, UnicodeError, TooLate) as error:
        raise UnresolvedError(target.host) from error
    if not settings.WEBHOOK_ALLOW_PRIVATE and not all(map(is_public, addresses)):
        raise ForbiddenAddressError(target.host)
    return addresses


def lookup_of(host: str) -> _Lookup:
    """Return the lookup of a host that is under way, or begin one.

    If its name servers don't answer, a lookup takes longer than anyone waits for it, and more of them would be of no
    use. So a host has one at a time, and none waits for those of other hosts.
    """
    with _changing_lookups:
        lookup = _lookups.get(host)
        if lookup is None:
            lookup = _Lookup()
            # A daemon, so that the end of the process waits for no name server.
            Thread(target=_look_up, args=(host, lookup), name="resolver", daemon=True).start()
            _lookups[host] = lookup
        return lookup


def _look_up(host: str, lookup: _Lookup) -> None:
    try:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        finally:
            with _changing_lookups:
                del _lookups[host]
        lookup.set_result(list(dict.fromkeys(str(address[0]) for *_, address in found)))
    except (OSError, UnicodeError) as error:
        lookup.set_exception(error)


def is_public(text: str) -> bool:
    """Return whether an address is one of the public internet, and of a single host there."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:  # such as one with a zone
        return False
    if address.version == _GLOBAL_IPV6.version and address not in _GLOBAL_IPV6:
        return False
    leads_elsewhere = any(address.version == block.version and address in block for block in _ELSEWHERE)
    return address.is_global and not address.is_multicast and not address.is_reserved and not leads_elsewhere
