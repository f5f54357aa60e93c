"""A newly proposed measure beside the established ones: everything that applies, verdicts, and a report."""
