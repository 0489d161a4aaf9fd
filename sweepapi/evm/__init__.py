"""The EVM chain library, in plain Python without Django or Celery.

- The network: ``chains`` (its configuration, read by ``chains_file``), ``providers``, and reads by ``multicall`` with
  decoders in ``responses``; ``abi`` encodes and decodes, ``eip712`` is for typed data.
- Tokens and accounts: ``erc20``, ``accounts``, ``holdings`` of a wallet, names that are a ``deception``; ``approvals``,
  ``token_permits`` and ``permit2`` let a contract take tokens.
- The contracts: what ``batch`` says of both, ``v4`` and ``v5``; ``venues`` has the addresses of pools.
- What a build reads: ``market`` is the entry. ``lasting`` remembers, ``probe`` and ``transfers`` show what arrives,
  ``routes`` quotes and plans; ``worth`` and ``economics`` value that, ``left_out`` names what a sweep can't take.
- Trying a sweep: ``trying`` is the entry. It makes ``attempts`` by ``simulation`` or by ``trial_call``, and
  ``trial_result`` says what they showed; ``sweep_gas`` and ``call_gas`` are about limits.
- What happened: ``sightings``, ``payments``, ``reverts``, and searches of logs.
- What we sign and send: ``nonces``, ``signers``, ``sending``, ``deployment``.
"""
