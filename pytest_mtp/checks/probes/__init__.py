"""Probes: experiments that need no golden answer, since they hold a server against itself or against its protocol."""
