"""Games as PettingZoo environments: AEC where players take turns, Parallel where all move at once.

An observation is a dictionary: `observation`, the agent's information set as a one-hot vector (zeros when it is not its turn), and
`action_mask`. The information set's prompt, in chat messages, its key and the words of the legal actions stand in the agent's `info`. A
reward is what a finished round or hand paid. Illegal actions are errors. Needs the extra `sepo-games[pettingzoo]`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sepo_games.coins import draw
from sepo_games.types import Game

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
except ImportError as missing:
    raise ImportError(
        "sepo_games.adapters.pettingzoo needs PettingZoo: pip install 'sepo-games[pettingzoo]'"
    ) from missing

Observation = dict[str, npt.NDArray[Any]]


def pettingzoo_env(game: Game) -> "TurnEnv | SimultaneousEnv":
    """The environment of a game: `TurnEnv`, or `SimultaneousEnv` if its first decision is everybody's."""
    table = _Table(game, None)
    return SimultaneousEnv(game) if table.state.is_simultaneous_node() else TurnEnv(game)


class _Table:
    """An episode in progress: chance is played, hands follow each other, ledger lines become rewards."""

    def __init__(self, game: Game, seed: int | None) -> None:
        self.game, self.rng = game, np.random.default_rng(seed)
        self.segment, self.state = 0, game.new_initial_state()
        self.over = False
        self._advance()

    @property
    def seats(self) -> list[int]:
        """Tree seat of each agent in the current hand."""
        return [self.game.seat_of_segment(agent, self.segment) for agent in range(self.game.num_players())]

    def to_move(self) -> list[int]:
        """Agents that decide now."""
        if self.over:
            return []
        if self.state.is_simultaneous_node():
            return list(range(self.game.num_players()))
        return [self.seats.index(self.state.current_player())]

    def play(self, actions: Mapping[int, int]) -> npt.NDArray[np.float64]:
        """Plays the actions of the agents to move; returns what was paid to each agent."""
        for agent, action in actions.items():
            legal = self.view(agent).legal
            if action not in legal:
                raise ValueError(
                    f"{self.game.name}: action {action!r} of agent {agent} is not legal here: choose from {list(legal)}, as in action_mask"
                )
        if self.state.is_simultaneous_node():
            by_seat = dict(zip(self.seats, (int(actions[agent]) for agent in range(len(actions))), strict=True))
            child = self.state.child(tuple(by_seat[seat] for seat in range(len(by_seat))))
        else:
            (action,) = actions.values()
            child = self.state.child(int(action))
        paid, self.state = self._paid(child), child
        return paid + self._advance()

    def _advance(self) -> npt.NDArray[np.float64]:
        paid = np.zeros(self.game.num_players())
        while True:
            if self.state.is_terminal():
                if self.segment == self.game.segments - 1:
                    self.over = True
                    return paid
                self.segment += 1
                self.state = self.game.new_initial_state()
            elif self.state.is_chance_node():
                outcomes = self.state.chance_outcomes()
                child = self.state.child(outcomes[draw([p for _, p in outcomes], self.rng.random())][0])
                paid += self._paid(child)
                self.state = child
            else:
                return paid

    def _paid(self, child: Any) -> npt.NDArray[np.float64]:
        paid = np.zeros(self.game.num_players())
        for entry in child.entries[len(self.state.entries) :]:
            paid += np.array([entry.payoffs[seat] for seat in self.seats])
        return paid

    def view(self, agent: int) -> Any:
        """What an agent that decides now sees."""
        return self.game.view(self.state, self.seats[agent])


class _Eyes:
    """What agents observe, and the spaces of it."""

    def __init__(self, game: Game) -> None:
        self.game = game
        keys = dict.fromkeys(infoset.key for seat in range(game.num_players()) for infoset in game.infosets(seat))
        self.number = {key: i for i, key in enumerate(keys)}

    @cached_property
    def spaces(self) -> list[tuple[Any, Any]]:
        """Observation and action space of each agent."""
        n, actions = len(self.number), self.game.num_actions
        return [
            (
                spaces.Dict(
                    {
                        "observation": spaces.Box(0, 1, (n,), np.float32),
                        "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                    }
                ),
                spaces.Discrete(actions),
            )
            for _ in range(self.game.num_players())
        ]

    def observation(self, table: _Table, agent: int) -> Observation:
        """The information set and the legal actions, zeros out of turn."""
        seen = np.zeros(len(self.number), dtype=np.float32)
        mask = np.zeros(self.game.num_actions, dtype=np.int8)
        if agent in table.to_move():
            view = table.view(agent)
            seen[self.number[self.game.key(view)]] = 1
            mask[list(view.legal)] = 1
        return {"observation": seen, "action_mask": mask}

    def info(self, table: _Table, agent: int) -> dict[str, Any]:
        """Prompt, key and words of a decision; empty out of turn."""
        if agent not in table.to_move():
            return {}
        view = table.view(agent)
        return {
            "messages": [dict(message) for message in self.game.render(view)],
            "key": self.game.key(view),
            "legal": {action: self.game.label(view, action) for action in view.legal},
        }


class TurnEnv(AECEnv):  # type: ignore[misc]
    """A game in which players take turns; agents are `player_0`, `player_1`, ..., the seats of the first hand."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game, self._eyes = game, _Eyes(game)
        self.metadata = {"name": game.name, "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = "ansi"
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players())]
        self.observation_spaces = {a: s[0] for a, s in zip(self.possible_agents, self._eyes.spaces, strict=True)}
        self.action_spaces = {a: s[1] for a, s in zip(self.possible_agents, self._eyes.spaces, strict=True)}

    def observation_space(self, agent: str) -> Any:
        """The same object for an agent each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same object for an agent each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new episode; the same seed deals the same."""
        self._table = _Table(self.game, seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._look()

    def _look(self) -> None:
        self.infos = {a: self._eyes.info(self._table, i) for i, a in enumerate(self.possible_agents)}
        if not self._table.over:
            self.agent_selection = self.possible_agents[self._table.to_move()[0]]

    def observe(self, agent: str) -> Observation:
        """See the module's text."""
        return self._eyes.observation(self._table, self.possible_agents.index(agent))

    def step(self, action: int | None) -> None:
        """Plays the selected agent's action; a finished agent takes `None`."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is not finished: an action from its action_mask is needed, not None")
        self._cumulative_rewards[agent] = 0.0
        paid = self._table.play({self.possible_agents.index(agent): int(action)})
        self.rewards = dict(zip(self.possible_agents, paid.tolist(), strict=True))
        self._accumulate_rewards()
        self._look()
        if self._table.over:
            self.terminations = dict.fromkeys(self.agents, True)

    def render(self) -> str:
        """The prompt of the agent to move."""
        return _shown(self.infos[self.agent_selection])

    def close(self) -> None:
        """Nothing is held open."""


class SimultaneousEnv(ParallelEnv):  # type: ignore[misc]
    """A game in which all players move at once; agents are `player_0`, `player_1`, ..., the seats."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game, self._eyes = game, _Eyes(game)
        self.metadata = {"name": game.name, "render_modes": ["ansi"]}
        self.render_mode = "ansi"
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players())]
        self.observation_spaces = {a: s[0] for a, s in zip(self.possible_agents, self._eyes.spaces, strict=True)}
        self.action_spaces = {a: s[1] for a, s in zip(self.possible_agents, self._eyes.spaces, strict=True)}
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> Any:
        """The same object for an agent each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same object for an agent each time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """A new episode; the same seed draws the same."""
        self._table = _Table(self.game, seed)
        self.agents = list(self.possible_agents)
        return self._seen(self.agents)

    def _seen(self, agents: Sequence[str]) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        numbers = {agent: self.possible_agents.index(agent) for agent in agents}
        return (
            {agent: self._eyes.observation(self._table, i) for agent, i in numbers.items()},
            {agent: self._eyes.info(self._table, i) for agent, i in numbers.items()},
        )

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Plays one action of every agent."""
        if set(actions) != set(self.agents) or not self.agents:
            raise ValueError(f"actions of {sorted(actions)} were given, but the agents {self.agents} move now")
        present = self.agents
        paid = self._table.play({self.possible_agents.index(agent): int(actions[agent]) for agent in present})
        seen, infos = self._seen(present)
        over = self._table.over
        self.agents = [] if over else present
        rewards = dict(zip(self.possible_agents, paid.tolist(), strict=True))
        return seen, rewards, dict.fromkeys(present, over), dict.fromkeys(present, False), infos

    def render(self) -> str:
        """The prompt of the first agent."""
        return _shown(self._eyes.info(self._table, 0))

    def close(self) -> None:
        """Nothing is held open."""


def _shown(info: Mapping[str, Any]) -> str:
    return "\n".join(message["content"] for message in info.get("messages", [])) or "The episode is over."
