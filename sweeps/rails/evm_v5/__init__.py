"""The rail of ``ServiceBatchV5PartnerFees``: the contract pays the partner, under an authorization that we sign."""
