"""One server: attach to it, launch it, learn what it is, read its counters, stop it.

`attach.attach` for a running server, `launch.launch` for one of ours, `server.connect` to bind to it again in another
process, `lease.FileLease` for who may talk to it when.
"""
