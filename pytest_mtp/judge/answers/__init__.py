"""One grader an answer kind."""
