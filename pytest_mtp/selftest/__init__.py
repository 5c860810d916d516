"""Known faults and the proof that the gate sees them."""
