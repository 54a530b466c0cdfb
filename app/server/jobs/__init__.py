"""Certification runs that belong to the process: each in a thread that fills a job, which pages only read."""

from app.server.jobs.accounts import Account, Accounts
from app.server.jobs.board import FORGOTTEN_AFTER, JobBoard, TooManyJobs
from app.server.jobs.job import Job
from app.server.jobs.progress import Progress
from app.server.jobs.saved import SavedRun, SavedRuns
from app.server.jobs.views import LIVE, BoxView, CellStatus, CellView, Count, JobView, Request, Status

__all__ = [
    "FORGOTTEN_AFTER",
    "LIVE",
    "Account",
    "Accounts",
    "BoxView",
    "CellStatus",
    "CellView",
    "Count",
    "Job",
    "JobBoard",
    "JobView",
    "Progress",
    "Request",
    "SavedRun",
    "SavedRuns",
    "Status",
    "TooManyJobs",
]
