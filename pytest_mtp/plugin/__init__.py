"""pytest meets the gate. The only room that imports pytest."""
