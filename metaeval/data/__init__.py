"""What is held: runs with their gold, scores, stores of scores, and the policies for what is missing or invalid."""
