"""The local world keeps its promises: it starts, it watches, it leaves nothing behind."""
