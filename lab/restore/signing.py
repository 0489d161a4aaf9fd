"""Signs the statements of a month that is not over, as the task will once it is: ``python -m lab.restore.signing``.

The argument is the month, such as 2026-11. The rehearsal can not wait for its end, so this process takes it for over.
"""

import os
import sys
from datetime import timedelta
from unittest.mock import patch

import django

from ledger.statements.month import Month


def main(month: Month) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from ledger.proofs import checkpoints, signing  # noqa: PLC0415 - models exist after django.setup()

    with patch.object(checkpoints, "database_time", return_value=month.end + timedelta(days=1)):
        signing.sign_months()


if __name__ == "__main__":
    main(Month.parse(sys.argv[1]))
