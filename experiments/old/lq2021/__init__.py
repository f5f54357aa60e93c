"""Sakai, A Closer Look at Evaluation Measures for Ordinal Quantification, LQ 2021."""
