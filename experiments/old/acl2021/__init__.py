"""Sakai, Evaluating Evaluation Measures for Ordinal Classification and Ordinal Quantification, ACL-IJCNLP 2021."""
