"""How many rows of a table a cutoff admits, known without asking the table."""

from datetime import date

import numpy as np
import pyarrow as pa

from indexes.predicates import Admission

_EPOCH = date(1970, 1, 1)


class Days:
    """The days of a table's rows, to know how many a cutoff admits without asking the table: 4 bytes a row.

    Counting by LanceDB took as long as the search itself.
    """

    COLUMNS = ("submitted_latest", "is_withdrawn")

    def __init__(self, rows: pa.Table) -> None:
        days = rows["submitted_latest"].cast("int32").to_numpy()
        withdrawn = rows["is_withdrawn"].to_numpy(zero_copy_only=False)
        self._kept, self._withdrawn = np.sort(days[~withdrawn]), np.sort(days[withdrawn])

    def __len__(self) -> int:
        return len(self._kept) + len(self._withdrawn)

    def admitted(self, admission: Admission) -> int:
        """Rows admitted by day and withdrawal; papers named by id are not looked at."""
        last = (admission.cutoff - _EPOCH).days
        count = int(np.searchsorted(self._kept, last, side="right"))
        if admission.with_withdrawn:
            count += int(np.searchsorted(self._withdrawn, last, side="right"))
        return count

    def cutoff(self, share: float) -> date:
        """The day up to which about this share of the rows lies, withdrawn ones left out."""
        return date.fromordinal(_EPOCH.toordinal() + int(np.quantile(self._kept, share)))

    def withdrawn_to_leave_out(self, admission: Admission) -> int | None:
        """How many rows are left out for being withdrawn, where no row is for its day; None where some are."""
        last = (admission.cutoff - _EPOCH).days
        if any(len(days) and days[-1] > last for days in (self._kept, self._withdrawn)):
            return None
        return 0 if admission.with_withdrawn else len(self._withdrawn)
