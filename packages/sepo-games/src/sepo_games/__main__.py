"""`python -m sepo_games`."""

from sepo_games.cli import main

main()
