"""Tables and figures: what a result looks like in a terminal, a paper or a page."""
