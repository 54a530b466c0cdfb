"""A run to take away: one HTML file with its verdict, its figures in 3D and its certificate, for any browser."""

from app.export.run_report import run_report

__all__ = ["run_report"]
