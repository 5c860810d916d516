"""Text as graders read it: normal forms, fences, markers, first differences."""
