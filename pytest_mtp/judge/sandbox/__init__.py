"""Where programs of a model run. The one part of judging that is not pure: it is lent to a judge through its GradeContext."""
