"""The metrics task of WMT 2023: 32 metrics compared with what people say, and what can be seen without people."""
