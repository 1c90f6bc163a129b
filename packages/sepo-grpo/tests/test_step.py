"""Plans, merging and sampling of one training step."""

from collections import Counter

import numpy as np
import pytest
import torch
from sepo_games import Request, ScriptedPolicy, get_game, play, read_policy, to_arrays
from sepo_grpo.adapters import ATTENTION, adapter_off, add_lora, fingerprint, merge
from sepo_grpo.chain import prompt_texts
from sepo_grpo.config import make_config
from sepo_grpo.credit import credited_rewards
from sepo_grpo.exact import exploit
from sepo_grpo.nano import nano_model
from sepo_grpo.plan import plan_step, pool_weights, pools
from sepo_grpo.policy import LmPolicy
from sepo_grpo.rows import distinct_prompts, merge_rows
from sepo_grpo.sft import sft_data, train_sft
from sepo_grpo.step import play_step
from sepo_grpo.update import ReferenceScores, update
from sepo_penalties import EpisodeBatch, SepoReward, Weights, group_advantages

NAMES = ["kuhn-v1", "ipd-v1", "auction-v1"]


@pytest.fixture(scope="module")
def lm():
    return nano_model(prompt_texts([get_game(name) for name in NAMES]), seed=0)


@pytest.mark.parametrize("name", NAMES)
def test_both_seats_play_equally_often_in_every_pool_and_pools_count_alike(name):
    game = get_game(name)
    opponents = pools(game, "sepo", "best_response", game.strategies["uniform"])
    assert set(opponents) == ({"train", "exploiter", "collusive"} if game.outsiders else {"train", "exploiter"})
    plan = plan_step(game, opponents, groups=5, group_size=3)
    seats = Counter((m.pool, m.opponent_name, m.seat) for m in plan)
    assert all(seats[pool, name, 0] == seats[pool, name, 1] for pool, name, _ in seats)
    groups = Counter(m.group for m in plan)
    assert set(groups.values()) == {3}
    weights = pool_weights([m.pool for m in plan])
    share = {pool: weights[[m.pool == pool for m in plan]].sum() for pool in opponents}
    assert all(s == pytest.approx(len(plan) / len(opponents)) for s in share.values())


def test_the_best_response_is_an_opponent_that_wins_its_value():
    game = get_game("kuhn-v1")
    uniform = game.strategies["uniform"]
    found = exploit(game, [strategy_table(game, seat, uniform) for seat in (0, 1)])
    assert found.exploitability == pytest.approx(11 / 24)
    plan = plan_step(game, {"exploiter": {"b": found.strategy}}, 400, 1)
    won = to_arrays(play(plan, ScriptedPolicy(game, uniform), 0))["payoffs"][..., 1].sum(axis=1) / 6
    assert abs(won.mean() - 11 / 24) < 5 * won.std() / np.sqrt(len(won))


def strategy_table(game, seat, strategy):
    from sepo_games import strategy_policy

    return strategy_policy(game, seat, strategy)


def test_sampled_replies_do_not_depend_on_the_company(lm):
    game = get_game("kuhn-v1")
    requests = [Request(game.render(i.view), (1, n, k)) for n, i in enumerate(game.infosets(0)) for k in range(4)]
    together = LmPolicy(lm, 1.0, 6).replies(requests)
    alone = [LmPolicy(lm, 1.0, 6).replies([request])[0] for request in requests]
    assert together == alone
    assert all(reply.truncated == (reply.tokens[-1] not in lm.stop) for reply in together)
    assert all(len(reply.tokens) <= 6 for reply in together)


def test_sampling_follows_the_scored_distribution(lm):
    game = get_game("kuhn-v1")
    messages = game.render(game.infosets(0)[0].view)
    policy = LmPolicy(lm, 0.2, 1)
    first = Counter(r.tokens[0] for r in policy.replies([Request(messages, (2, k)) for k in range(3000)]))
    logits = lm.cache().next_logits([lm.prompt_ids(messages)])[0] / 0.2
    for token, p in sorted(enumerate(logits.softmax(-1).tolist()), key=lambda pair: -pair[1])[:5]:
        assert abs(first[token] / 3000 - p) < 5 * np.sqrt(p * (1 - p) / 3000)


def test_scores_are_the_models_own_log_probabilities(lm):
    game = get_game("ipd-v1")
    pairs = [(game.render(i.view), tuple(game.reply(i.view, a) for a in (0, 1))) for i in game.infosets(0)[:5]]
    scores = LmPolicy(lm, 0.7, 8).score(pairs)
    with torch.no_grad():
        for (messages, replies), row in zip(pairs, scores, strict=True):
            rows = [(lm.prompt_ids(messages), lm.reply_ids(text)) for text in replies]
            assert row == pytest.approx([x.sum().item() for x in lm.logprobs(rows, 0.7)], abs=1e-3)


def test_merging_keeps_every_samples_advantage_and_charges_rejected_replies(lm):
    game = get_game("kuhn-v1")
    policy = LmPolicy(lm, 1.0, 4)
    opponents = {"train": {"uniform": game.strategies["uniform"]}}
    episodes = play(plan_step(game, opponents, 2, 4), policy, 0, retries=1)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, len(episodes))
    advantages = rng.normal(size=(len(episodes), 12))
    merged = merge_rows(lm, game, episodes, advantages, weights, make_config({"invalid_cost": 0.5}))
    accepted = sum(advantages[e, s.slot] for e, x in enumerate(episodes) for s in x.steps if s.valid)
    rejections = sum(weights[e] * len(s.rejections) for e, x in enumerate(episodes) for s in x.steps)
    assert (merged.positive + merged.negative).sum().item() == pytest.approx(accepted - 0.5 * rejections, rel=1e-5)
    replies = sum(weights[e] * len(s.replies) for e, x in enumerate(episodes) for s in x.steps)
    assert merged.count.sum().item() == pytest.approx(replies, rel=1e-5)
    assert len(set(merged.rows)) == len(merged.rows)
    assert len(merged.valid) == len(distinct_prompts(game)) == 12


def test_the_kl_is_zero_at_the_first_step_and_the_adapter_switched_off_is_the_sft_policy(lm):
    base = fingerprint(lm.model)
    config = make_config({"model": "nano", "groups": 2, "group_size": 2, "max_tokens": 2})
    adapted = lm.with_model(add_lora(lm.model, 4, 0, ATTENTION))
    optimiser = torch.optim.Adam([p for p in adapted.model.parameters() if p.requires_grad], lr=0.01)
    reference = ReferenceScores(adapted, 1.0)
    row = [(lm.prompt_ids(get_game("kuhn-v1").render(get_game("kuhn-v1").infosets(0)[0].view)), (5, 6))]
    before = adapted.logprobs(row, 1.0)[0].detach()
    first = update(adapted, optimiser, [play_step(adapted, get_game("kuhn-v1"), config, 0).rows], reference, config)
    assert first["kl"] == pytest.approx(0, abs=1e-6)
    second = update(adapted, optimiser, [play_step(adapted, get_game("kuhn-v1"), config, 1).rows], reference, config)
    assert second["kl"] > 1e-5
    with adapter_off(adapted.model), torch.no_grad():
        torch.testing.assert_close(adapted.logprobs(row, 1.0)[0], before, atol=1e-6, rtol=0)
    changed = merge(adapted.model)
    assert fingerprint(changed) != base


def test_the_auction_trains_with_a_collusion_weight():
    game = get_game("auction-v1", rounds=2)
    config = make_config(
        {"model": "nano", "groups": 2, "group_size": 4, "lambda_collusion": 2.0, "games": ("auction-v1",), "steps": 2}
    )
    lm = nano_model(prompt_texts([game]), seed=0)
    losses = []
    train_sft(lm, sft_data(lm, [game], "sepo", 600, 1.0, 0)[0], 30, 2e-3, lambda _, loss: losses.append(loss))
    assert losses[-1] < losses[0] / 5
    adapted = lm.with_model(add_lora(lm.model, 4, 0, ATTENTION))
    optimiser = torch.optim.Adam([p for p in adapted.model.parameters() if p.requires_grad], lr=1e-3)
    reference = ReferenceScores(adapted, 1.0)
    for step in range(2):
        played = play_step(adapted, game, config, step)
        assert {e.match_up.pool for e in played.episodes} == {"train", "exploiter", "collusive"}
        assert played.log["collusion"] >= 0
        log = update(adapted, optimiser, [played.rows], reference, config)
        assert np.isfinite(log["loss"])
    assert log["kl"] > 0


def test_reading_the_model_gives_a_policy_in_every_game(lm):
    for name in NAMES:
        game = get_game(name)
        for seat in (0, 1):
            read = read_policy(game, seat, LmPolicy(lm, 1.0, 12).score)
            assert read.probs.sum(axis=1) == pytest.approx(1)
            assert (read.mass >= 0).all()


@pytest.mark.parametrize("arm", ["shared", "auxiliary", "credited", "best_response"])
def test_a_shared_penalty_cancels_and_an_auxiliary_one_only_adds_noise_to_train_rollouts(lm, arm):
    game = get_game("ipd-v1")
    config = make_config({"model": "nano", "groups": 4, "group_size": 8, "arm": arm})
    uniform = game.strategies["uniform"]
    opponents = pools(game, "sepo", arm, game.strategies["always-defect"])
    episodes = play(plan_step(game, opponents, 4, 8), ScriptedPolicy(game, uniform), 0)
    batch = EpisodeBatch(**to_arrays(episodes))
    parts = SepoReward(Weights(exploitability=0.5), 3.0)(batch)
    plain = group_advantages(parts.total, batch.group, segments=batch.segment, mask=batch.mask)
    rewards, weights = credited_rewards(batch, parts, config.arm, 0.5)
    moved = group_advantages(rewards, batch.group, segments=batch.segment, mask=batch.mask)
    train = batch.pool == "train"
    assert weights.sum() == pytest.approx(len(weights) if arm in {"best_response", "credited"} else train.sum())
    assert (weights[~train] > 0).all() == (arm in {"best_response", "credited"})
    same = np.allclose(moved[train], plain[train])
    assert same == (arm != "auxiliary")
    if arm == "auxiliary":
        cost = 0.5 * parts.exploitability[~train].sum(axis=1)
        np.testing.assert_allclose(
            parts.total[train].sum(axis=1) - rewards[train].sum(axis=1), np.resize(cost, train.sum())
        )
