"""The ways in which sweeps are built, by the names that the environment and the API give them."""

V5_PARTNER_FEES = "v5_partner_fees"
V4_FALLBACK = "v4_fallback"  # known, and answered with build_disabled until the rollback path is offered
BUILD_MODES = (V5_PARTNER_FEES, V4_FALLBACK)
