"""Sakai, LQ 2021."""
