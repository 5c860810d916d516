"""Experiments: ask, judge, conclude. One file an experiment."""
