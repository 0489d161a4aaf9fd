"""The laboratory: proofs that take too long for every change, and measurements. Nothing imports it but tests.

``docs/laboratory.md`` says what each part proves, how long it takes, and where its output goes.
"""
