"""What the right answer is, computed without metaeval: csv, json, pandas and the definitions written out."""
