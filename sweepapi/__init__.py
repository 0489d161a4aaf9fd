"""What every app of the service shares: API conventions, field types and the reading of chains. It owns no tables."""
