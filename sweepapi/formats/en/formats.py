"""Times as logs and explorers have them: to the second, on 24 hours, with their time zone."""

DATETIME_FORMAT = "Y-m-d H:i:s e"
