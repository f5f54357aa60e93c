"""Tables and figures: formats, style and signature, independent of any analysis."""
