"""sepo-penalties."""
