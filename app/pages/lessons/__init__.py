"""Six lessons for a class, each on one screen: something to drag, a formula with live values, one question."""
