"""Addresses and hashes on the admin's pages: shortened in lists, and transactions linked to their chain's explorer."""

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from sweepapi import networks


def shortened(text: str) -> SafeString:
    """Show both ends of an address or a hash, and all of it under the pointer."""
    return format_html('<span class="whitespace-nowrap" title="{}">{}…{}</span>', text, text[:6], text[-4:])


def transaction_link(network: str, tx_hash: str, *, shown: SafeString | None = None) -> SafeString:
    """Show a hash, or what is ``shown`` for it, with a link if the network has an explorer."""
    text = conditional_escape(tx_hash) if shown is None else shown
    url = networks.current().explorer_url(network, tx_hash)
    if not url:
        return text
    return format_html('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>', url, text)
