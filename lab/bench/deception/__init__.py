"""How many imitations of listed symbols the detector of deceiving names finds, and how many real tokens it suspects."""
