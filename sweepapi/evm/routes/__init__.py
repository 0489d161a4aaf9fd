"""Finds, quotes and plans the swaps of a sweep, and encodes those of routers.

- One token: ``finder`` finds pools and routes in all ``sources``, ``candidates`` are those worth quoting, ``detours``
  those for a token that arrives short.
- All tokens of a sweep: ``quoting`` reads, ``basket`` proposes and compares plans with the help of ``guessing`` and
  ``curves``, ``routing`` returns the best one, in the types of ``planning``. ``sales`` does this for each token alone.
- Figures: ``pricing`` (mid prices), ``leg_gas``, ``minimums`` and ``floors``.
"""
