"""Solana in plain Python; knows neither sweeps nor Django.

- The network: ``clusters`` (its configuration), ``providers`` (its pool), ``reads`` and ``history`` (the JSON-RPC
  calls), ``responses`` (their decoders).
- What the cluster holds: ``accounts``, ``mints``, ``extensions``, ``metadata``, ``tokens``, ``lookup_tables``,
  ``addresses``.
- A sweep's transactions: ``swap_api`` quotes; ``inspection`` and ``jupiter`` refuse instructions; ``packing`` composes,
  with a ``guard`` and a ``compute_budget``; ``simulation`` runs; ``effects`` compares the ``changes`` with the terms.
- What it costs and leaves: ``worth``, with SOL at what the swap API last quoted it at.
- What happened to them: ``sightings`` is the entry. ``searching`` finds transactions by their reference keys
  (``progress`` is the state of one search, ``agreement`` moves its cursor), and ``tracking`` follows accepted ones to
  finality. They ask several providers through ``opinions``, and read a ``landed`` transaction with
  ``landed_reads``.
- The fee wallet: ``account_scan`` lists the transactions of its accounts, ``payments`` checks what partners were paid.
"""
