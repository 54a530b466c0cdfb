"""Background work that belongs to the process: done by the engine's workers, read by pages.

Certificates: `board().submit(visitor, request)`, then `job.view()`. Everything else: `board().start(...)`, then
`task.view()`; JobBoard.start says how.
"""

from app.server.jobs.accounts import Account, Accounts
from app.server.jobs.admission import TooManyJobs
from app.server.jobs.board import FORGOTTEN_AFTER, RESTS_AFTER, Activity, JobBoard
from app.server.jobs.job import Job
from app.server.jobs.progress import Progress
from app.server.jobs.saved import SavedRun, SavedRuns
from app.server.jobs.task import Ledgered, Task, TaskView
from app.server.jobs.views import LIVE, BoxView, CellStatus, CellView, Count, JobView, Request, Status

__all__ = [
    "FORGOTTEN_AFTER",
    "LIVE",
    "RESTS_AFTER",
    "Account",
    "Accounts",
    "Activity",
    "BoxView",
    "CellStatus",
    "CellView",
    "Count",
    "Job",
    "JobBoard",
    "JobView",
    "Ledgered",
    "Progress",
    "Request",
    "SavedRun",
    "SavedRuns",
    "Status",
    "Task",
    "TaskView",
    "TooManyJobs",
]
