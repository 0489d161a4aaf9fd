"""The sweep endpoints: translate, make one call into the domain, translate back."""
