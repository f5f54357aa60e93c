"""Sakai, ACL 2021."""
