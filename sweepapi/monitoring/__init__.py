"""What others see of the running processes: metrics, and whether they are alive and ready. It knows no Django."""
