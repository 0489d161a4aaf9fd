"""The process that delivers, one round at a time in the test's own thread and transaction."""

from concurrent.futures import ThreadPoolExecutor

from partners.webhooks.deliverer import PAUSE_SECONDS, Deliverer


class StepwiseDeliverer(Deliverer):
    def deliver_due(self) -> int:
        """Attempt everything that is due now once, and return how many attempts that took."""
        self._record()
        count = 0
        with ThreadPoolExecutor(self.threads) as executor:
            while self._start(executor) or self._under_way:
                count += self._collect(PAUSE_SECONDS)
                self._record()
        return count
