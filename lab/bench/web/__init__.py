"""How soon readers see the documentation, and how much they fetch and scroll: ``make lab-web``."""
