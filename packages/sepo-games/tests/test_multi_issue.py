"""The negotiation over three items against hand-made rounds, closed forms, and the published players' known score."""

from itertools import product

import numpy as np
import pytest
from sepo_games.arrays import to_arrays
from sepo_games.multi_issue import MultiIssue
from sepo_games.multi_issue_state import ACCEPT, MultiIssueView
from sepo_games.multi_issue_values import POOLS, VALUES, bundle_of, code, demands_within, nash_payoff, worth
from sepo_games.play import MatchUp, play
from sepo_games.policies import ScriptedPolicy
from sepo_games.testing import check_declarations, check_game, check_play, check_strategies, check_tree
from sepo_games.types import Parsed, Rejected, Reply
from sepo_games.vector import play_scripted

GAME = MultiIssue()
PAPER = MultiIssue(preset="paper")
TURNS = MultiIssue(protocol="alternating")
POOL, VALUE = (3, 2, 4), (2, 5, 3)
"""Worth 2 * 3 + 5 * 2 + 3 * 4 = 28 together."""


def test_alternating_offers_keep_every_promise():
    check_game(MultiIssue(protocol="alternating", rounds=2), episodes=60)


@pytest.mark.parametrize("game", [PAPER, MultiIssue(preset="paper", protocol="alternating", rounds=1)])
def test_redrawn_values_keep_the_promises_of_tree_and_play(game):
    for check in (check_declarations, check_strategies):
        check(game)
    for check in (check_tree, check_play):
        check(game, 60, 0)


def view(own=(), other=(), game=GAME, seat=0, pool=POOL, values=VALUE, taste=None):
    legal = game.legal(pool, game.alternating and len(other) > 0)
    return MultiIssueView(seat, pool, values, taste or values, tuple(own), tuple(other), legal)


def test_bundles_are_numbers_of_base_five():
    assert [code(bundle_of(number)) for number in range(125)] == list(range(125))
    assert bundle_of(55) == (2, 1, 0)
    assert len(demands_within(POOL)) == 4 * 3 * 5
    assert {bundle_of(number) for number in demands_within((1, 1, 1))} == set(product((0, 1), repeat=3))


def test_values_are_the_multinomial_draw_with_zeros_raised():
    chance = dict(VALUES)
    assert len(chance) == 36
    assert all(sum(values) == 10 and min(values) >= 1 for values in chance)
    assert sum(chance.values()) == pytest.approx(1)
    # Ways out of 3^10 = 59049: 10! / (4! 3! 3!); those of 8 1 1, 9 1 0, 9 0 1, 10 0 0; those of 4 5 1, 5 5 0, 4 6 0; of 5 4 1, 6 4 0.
    ways = {(4, 3, 3): 4200, (8, 1, 1): 90 + 10 + 10 + 1, (4, 5, 1): 1260 + 252 + 210, (5, 4, 1): 1260 + 210}
    for values, n in ways.items():
        assert chance[values] == pytest.approx(n / 59049)
    state = GAME.new_initial_state()
    assert state.chance_outcomes() == [(i, 1 / 64) for i in range(64)]
    assert state.child(0).chance_outcomes() == [(i, p) for i, (_, p) in enumerate(VALUES)]


def drawn_values(rng):
    values = rng.multinomial(10, [1 / 3] * 3)
    for item in range(3):
        if values[item] == 0:
            values[item] = 1
            values[values.argmax()] -= 1
    return values


def test_the_reference_is_the_mean_nash_bargaining_payoff_of_draws_made_by_other_means():
    rng = np.random.default_rng(0)
    paid = []
    for _ in range(1500):
        pool, mine, theirs = rng.integers(1, 5, size=3), drawn_values(rng), drawn_values(rng)
        bundles = np.array(list(product(*(range(n + 1) for n in pool))))
        own, other = bundles @ mine, (pool - bundles) @ theirs
        best = own * other == (own * other).max()
        paid.append((own[best].mean(), other[best].mean()))
    error = np.std(paid, axis=0) / np.sqrt(len(paid))
    assert (abs(np.mean(paid, axis=0) - nash_payoff()) < 5 * error).all()
    assert GAME.references == PAPER.references == (nash_payoff(), nash_payoff())
    # Half of everything is worth 5/2 * 3 * 10/3 / 2 = 12.5 on average: knowing both sides' values is worth more.
    assert nash_payoff() > 12.5
    assert TURNS.references[0] == nash_payoff() / 4


def entry(mine, theirs, values=((2, 5, 3), (4, 1, 5))):
    return GAME.demands_entry(POOL, values, (code(mine), code(theirs)))


def test_a_deal_pays_each_its_demand_at_its_own_values_and_a_breakdown_nothing():
    assert entry((1, 2, 0), (2, 0, 4)).payoffs == (12, 28)
    assert entry((1, 2, 0), (2, 1, 4)).payoffs == (0, 0)
    assert entry((0, 0, 0), (3, 2, 4)).payoffs == (0, 34)


@pytest.mark.parametrize(
    ("mine", "theirs", "harm"),
    [
        ((1, 2, 0), (2, 0, 4), (0, 0)),
        ((1, 1, 0), (2, 0, 4), (5, 1)),  # a hat is left, worth 5 to one and 1 to the other
        ((1, 2, 0), (2, 1, 4), (2 + 5 + 4 * 2 + 1 + 5 * 4, 0)),  # one of two hats is no more than half of them
        ((3, 2, 4), (3, 2, 4), (34, 28)),
        ((2, 1, 2), (2, 1, 2), (2 + 5 + 6 + 8 + 1 + 10, 4 + 1 + 10 + 4 + 5 + 6)),  # both want two of three books
        ((1, 1, 2), (2, 2, 2), (0, 4 * 2 + 1 + 5 * 2 + 2 + 5 + 6)),
    ],
)
def test_harm_is_what_a_demand_takes_from_everybody_unless_it_only_defends_a_half(mine, theirs, harm):
    line = entry(mine, theirs)
    assert tuple(sum(h.players) - sum(line.payoffs) for h in line.harmless) == harm


def test_every_breakdown_is_somebodys_and_no_deal_is_improved_by_taking_less():
    rng = np.random.default_rng(1)
    for _ in range(2000):
        pool = POOLS[rng.integers(64)]
        values = tuple(VALUES[i][0] for i in rng.integers(36, size=2))
        moves = tuple(rng.choice(demands_within(pool), size=2).tolist())
        line = GAME.demands_entry(pool, values, moves)
        harm = [sum(h.players) - sum(line.payoffs) for h in line.harmless]
        assert min(harm) >= 0
        if any(a + b > n for a, b, n in zip(*map(bundle_of, moves), pool, strict=True)):
            assert line.payoffs == (0, 0)
            assert max(harm) > 0


def drawn(game, pool=POOL, first=VALUE, *others):
    """The state after these draws."""
    numbers = {values: number for number, (values, _) in enumerate(VALUES)}
    state = game.new_initial_state().child(POOLS.index(pool))
    for values in (first, *others):
        state = state.child(numbers[values])
    return state


def test_an_acceptance_needs_an_open_offer_of_the_other_side():
    state = drawn(TURNS, POOL, (2, 5, 3), (4, 1, 5))
    assert state.current_player() == 0
    assert ACCEPT not in state.legal_actions(0)
    assert state.legal_actions(1) == []
    with pytest.raises(ValueError, match="not allowed"):
        state.child(ACCEPT)
    first = TURNS.view(state, 0)
    assert TURNS.parse("ACTION: ACCEPT", first).kind == "illegal"
    state = state.child(code((1, 2, 0)))
    assert state.current_player() == 1
    assert ACCEPT in state.legal_actions(1)
    assert TURNS.parse("accept", TURNS.view(state, 1)) == Parsed(ACCEPT)
    ended = state.child(ACCEPT)
    assert ended.is_terminal()
    assert ended.returns() == [2 * 1 + 5 * 2, 4 * 2 + 5 * 4]
    countered = state.child(code((2, 0, 4))).child(ACCEPT)
    assert countered.returns() == [2 * 1 + 5 * 2, 4 * 2 + 5 * 4]
    with pytest.raises(ValueError, match="over"):
        ended.child(0)


def test_who_always_accepts_is_heard_in_the_second_seat_and_refused_before_there_is_an_offer():
    class Accepting:
        def replies(self, requests):
            return [Reply("ACTION: ACCEPT") for _ in requests]

    fair = TURNS.strategies["fair"]
    match_ups = [MatchUp(TURNS, seat, "fair", fair, "train", 0, seat) for seat in (1, 0)]
    second, first = play(match_ups, Accepting(), 0)
    assert [step.valid for step in second.steps] == [True]
    assert not first.steps[0].valid
    assert first.steps[0].action == code((1, 1, 1))


def test_offers_that_nobody_accepts_pay_nothing_and_harm_by_the_refused_offer():
    game = MultiIssue(protocol="alternating", rounds=2)
    state = drawn(game, POOL, (2, 5, 3), (4, 1, 5))
    for offer in ((1, 2, 0), (3, 1, 4), (1, 1, 2), POOL):
        assert not state.is_terminal()
        state = state.child(code(offer))
    assert state.is_terminal()
    assert state.returns() == [0, 0]
    (line,) = state.entries
    # Seat 0 answered 3 1 4 with half of everything or less; seat 1 answered 1 1 2 with everything.
    assert line.harmless[0].players == (0, 0)
    assert line.harmless[1].players == (2 + 5 + 6, 4 * 2 + 1 + 5 * 2)


def test_openspiel_pays_the_same_for_the_same_offers():
    pyspiel = pytest.importorskip("pyspiel")
    rng = np.random.default_rng(2)
    theirs = pyspiel.load_game("bargaining", {"max_turns": 2 * TURNS.rounds})
    agreed = 0
    for _ in range(60):
        state = theirs.new_initial_state()
        state.apply_action(int(rng.choice([outcome for outcome, _ in state.chance_outcomes()])))
        instance = state.instance()
        pool, values = tuple(instance.pool), tuple(map(tuple, instance.values))
        if max(pool) > 4:
            continue
        offers = []
        while not state.is_terminal():
            action = int(rng.choice(state.legal_actions()))
            if rng.random() < 0.1 and offers:
                action = state.agree_action()
            state.apply_action(action)
            if state.is_terminal() and len(state.offers()) == len(offers):
                break
            offers.append(tuple(state.offers()[-1].quantities))
        accepted = state.returns() != [0, 0] or len(offers) < 2 * TURNS.rounds
        agreed += accepted
        line = TURNS.offers_entry(pool, values, tuple(map(code, offers)), accepted)
        assert list(line.payoffs) == state.returns()
    assert 0 < agreed < 60


@pytest.mark.parametrize("game", [GAME, PAPER, TURNS])
@pytest.mark.parametrize(
    ("own", "other"), [("proportional", "greedy"), ("uniform", "uniform"), ("boulware", "adaptive")]
)
def test_play_in_both_seats_pays_demands_at_own_values_and_never_more_than_there_is(game, own, other):
    match_ups = [MatchUp(game, g % 2, other, game.strategies[other], "train", g, 0) for g in range(60)]
    for episode in play(match_ups, ScriptedPolicy(game, game.strategies[own]), 4):
        seat = episode.match_up.seat
        assert len(episode.entries) == (1 if game.alternating else 4)
        later = [*episode.steps[1:], None]
        for step, after in zip(episode.steps, later, strict=True):
            if game.alternating or after is None:
                continue
            mine, theirs = after.view.own[-1], after.view.other[-1]
            assert mine == bundle_of(step.action)
            (line,) = step.entries
            deal = all(a + b <= n for a, b, n in zip(mine, theirs, step.view.pool, strict=True))
            assert line.payoffs[seat] == (worth(step.view.values, mine) if deal else 0)
            assert (line.payoffs[1 - seat] > 0) == (deal and any(theirs))
            assert after.view.pool == step.view.pool
        most = max(worth(VALUES[i][0], episode.steps[0].view.pool) for i in range(36))
        assert all(0 <= paid <= most for line in episode.entries for paid in line.payoffs)


@pytest.mark.parametrize("game", [GAME, PAPER, TURNS])
def test_vectorised_play_is_the_same_play(game):
    e, own, other = np.arange(20), game.strategies["proportional"], game.strategies["uniform"]
    fast = play_scripted(game, own, other, e % 2, e, 0 * e, 3)
    match_ups = [MatchUp(game, g % 2, "uniform", other, "train", g, 0) for g in e.tolist()]
    slow = to_arrays(play(match_ups, ScriptedPolicy(game, own), 3))
    for name in ("payoffs", "harmless_payoffs", "mask"):
        np.testing.assert_allclose(fast[name], slow[name], err_msg=name)


def test_values_stay_for_the_episode_except_the_published_second_seats():
    for game, seat, stays in ((GAME, 0, True), (GAME, 1, True), (PAPER, 0, True), (PAPER, 1, False)):
        fair = game.strategies["fair"]
        match_ups = [MatchUp(game, seat, "fair", fair, "train", g, 0) for g in range(20)]
        episodes = play(match_ups, ScriptedPolicy(game, fair), 0)
        assert all(len({step.view.values for step in e.steps}) == 1 for e in episodes) is stays
        assert all(len({step.view.taste for step in e.steps}) == 1 for e in episodes)


def test_prompts_show_what_the_seat_knows_and_never_the_others_values():
    state = (
        drawn(GAME, POOL, (2, 5, 3), (1, 1, 8)).child((code((1, 1, 2)), code((2, 1, 2)))).child((0, code((3, 1, 2))))
    )
    system, user = GAME.render(GAME.view(state, 1))
    assert user["content"] == (
        "There are 3 books, 2 hats, 4 balls; demand at most so many. Your value of one: books 1, hats 1, balls 8. "
        "The partner's values are hidden. Round 1: you 2 1 2, they 1 1 2, DEAL. Round 2: you 3 1 2, they 0 0 0, DEAL. Now round 3 of 4."
    )
    assert "may change" not in system["content"]
    assert "may change" in PAPER.render(view(game=PAPER))[0]["content"]
    other = drawn(GAME, POOL, (8, 1, 1), (1, 1, 8))
    assert GAME.render(GAME.view(other, 1)) == GAME.render(GAME.view(drawn(GAME, POOL, (2, 5, 3), (1, 1, 8)), 1))
    text = TURNS.render(view([(2, 1, 2)] * 3, [(1, 2, 2)] * 4, game=TURNS, seat=1))[1]["content"]
    assert "Offers: they want 1 2 2; you want 2 1 2;" in text
    assert text.endswith("ACCEPT gives you 2 0 2. Your turn 4 of 4. Nobody can accept an offer of yours now.")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ACTION: 4 1 0", "illegal"),
        ("ACTION: 3 2 5", "unparsed"),
        ("ACTION: 1 1", "unparsed"),
        ("ACTION: -1 1 1", "unparsed"),
        ("ACTION: 1.5 1 1", "unparsed"),
        ("ACTION: 2 1 0\nACTION: 1 1 0", "ambiguous"),
        ("ACTION: ACCEPT", "unparsed"),
        ("I will not take 2 1 0", "unparsed"),
    ],
)
def test_demands_are_read_strictly_and_never_cut_to_the_pool(text, kind):
    got = GAME.parse(text, view())
    assert isinstance(got, Rejected)
    assert got.kind == kind
    assert GAME.parse("**Action:** 2, 1, 0.", view()) == Parsed(55)


def test_information_states_hide_the_other_side():
    a, b = (drawn(GAME, POOL, values, (1, 1, 8)) for values in ((2, 5, 3), (8, 1, 1)))
    assert a.information_state_string(1) == b.information_state_string(1) == "324 118"
    assert a.information_state_string(0) != b.information_state_string(0)
    after = a.child((code((1, 1, 2)), code((2, 1, 1))))
    assert after.information_state_string(0) == "324 253 >112 <211"
    assert after.information_state_string(1) == "324 118 <112 >211"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "demand"}, "unknown protocol 'demand'.*'demands'"),
        ({"rounds": 0}, "rounds = 0"),
        ({"redraw": 1}, "redraw = 1"),
        ({"preset": "papre"}, "unknown preset"),
    ],
)
def test_impossible_rules_are_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        MultiIssue(**options)


@pytest.mark.parametrize("action", [0, (0,), (0, 0, 0), (code((4, 0, 0)), 0), (0, ACCEPT), (0, None)])
def test_actions_that_are_not_allowed_never_become_a_history(action):
    with pytest.raises(ValueError, match="not allowed"):
        drawn(GAME, POOL, (2, 5, 3), (4, 1, 5)).child(action)
    with pytest.raises(ValueError, match="chance cannot draw"):
        GAME.new_initial_state().child(64)
