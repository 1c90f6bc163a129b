"""sepo-games."""
