"""How things look: tables, figures, their style and their signature. Knows no analysis."""
