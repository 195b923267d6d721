"""Results as pages: a report about a blanket, and a planner for studies; one HTML file each, no network."""

from blankets.report._content import report_content
from blankets.report._latent import latent_report
from blankets.report._page import report
from blankets.report._planner import planner

__all__ = ["latent_report", "planner", "report", "report_content"]
