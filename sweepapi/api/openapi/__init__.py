"""What is published about the API: the OpenAPI document, its pages, and the keys that sign proofs.

Enters: serializers, the error table, public keys. Leaves: documents.
"""
