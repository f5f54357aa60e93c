"""Retrieval measures on seven TREC collections, from published score matrices."""
