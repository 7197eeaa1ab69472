"""The report: one HTML file with the graph, what it says, and why."""

from lmarvel.report.build import check_report, page_of, write_report
from lmarvel.report.page import render_page

__all__ = ["check_report", "page_of", "render_page", "write_report"]
