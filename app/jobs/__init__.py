"""Certification runs that belong to the process: each in a thread that fills a job, which pages only read."""

from app.jobs.accounts import Account, Accounts
from app.jobs.board import FORGOTTEN_AFTER, JobBoard, TooManyJobs
from app.jobs.job import Job
from app.jobs.progress import Progress
from app.jobs.saved import SavedRun, SavedRuns
from app.jobs.views import LIVE, BoxView, CellStatus, CellView, Count, JobView, Request, Status

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
