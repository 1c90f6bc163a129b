"""From a checkpoint to a policy: the model, then what SFT changed, then what SEPO-GRPO changed, each merged before the next."""

from pathlib import Path

from sepo_games import Game, get_game
from torch import nn

from sepo_grpo.adapters import ATTENTION, ATTENTION_AND_MLP, add_lora, load_lora, merge
from sepo_grpo.checkpoints import load_weights
from sepo_grpo.config import RunConfig, game_weights, make_config
from sepo_grpo.errors import UserError
from sepo_grpo.language_model import LanguageModel
from sepo_grpo.models import NANO, load_model, load_pretrained
from sepo_grpo.starts import CONFIG, run_and_checkpoint


def games_of(config: RunConfig) -> list[Game]:
    """The games that the settings name.

    Raises:
        UserError: If a game does not exist with these options.
    """
    full = {"history": config.history} if config.history != "last" else {}
    try:
        games = [get_game(name, config.preset, **full) for name in game_weights(config.games)]
    except ValueError as error:
        raise UserError(str(error)) from error
    for game in games:
        if game.num_players() != 2:
            raise UserError(f"{game.name} with {game.num_players()} players cannot be trained: two-player games can")
    return games


def prompt_texts(games: list[Game]) -> list[str]:
    """Every prompt and canonical reply of some games, in a fixed order; a projection of them where there are too many to list."""
    texts = []
    for game in games:
        for seat in range(game.num_players()):
            for infoset in game.infosets(seat):
                texts += [message["content"] for message in game.render(infoset.view)]
                texts += [game.reply(infoset.view, action) for action in infoset.legal]
    return texts


def base_policy(config: RunConfig) -> LanguageModel:
    """What a run begins with: the checkpoint that it starts from, or its model."""
    if config.start is None:
        return load_model(config, prompt_texts(games_of(config)))
    run, checkpoint = run_and_checkpoint(Path(config.start))
    earlier = make_config({"device": config.device, "dtype": config.dtype, "thinking": config.thinking}, run / CONFIG)
    sft = run / "checkpoints" / "sft"
    if trains_whole(earlier) and sft.exists():
        lm = load_pretrained(earlier.model, str(sft), earlier)
    else:
        lm = base_policy(earlier)
        if sft.exists():
            lm = with_adapter(lm, earlier, sft, ATTENTION_AND_MLP)
    if checkpoint == sft:
        return lm
    if earlier.tune == "full":
        load_weights(lm.model, checkpoint)
        return lm
    return with_adapter(lm, earlier, checkpoint, ATTENTION)


def trains_whole(config: RunConfig) -> bool:
    """Whether SFT changes the whole model: with full fine-tuning, and the nano model, which begins as noise."""
    return config.tune == "full" or config.model == NANO


def with_adapter(lm: LanguageModel, config: RunConfig, folder: Path, targets: str) -> LanguageModel:
    """The policy with a saved adapter merged in."""
    adapted = add_lora(lm.model, config.rank, config.seed, targets)
    load_lora(adapted, folder)
    merged: nn.Module = merge(adapted)
    return lm.with_model(merged)
