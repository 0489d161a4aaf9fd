"""What the views take and what only they answer, as OpenAPI describes it. Owns no tables."""
