"""nmt.corpora.select: in-domain pairs are kept, others are not, and nothing else is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpora.select import keep_best
from tests.conftest import SmallDisk
from tests.corpora.selection import LAW, NEWS, Case, Pairs, last_line, make_case, sentences, source_words

ALL = ["audit.csv", "examples.tsv", "ratings.csv", "train.en", "train.fr"]


@pytest.fixture
def case(tmp_path: Path, lmplz: Path) -> Case:
    return make_case(tmp_path, lmplz)


def news(case: Case) -> Pairs:
    return [pair for pair in case.corpora["web"] if pair[0].split()[0] in NEWS]


def test_in_domain_pairs_are_kept_in_the_order_of_the_text(case: Case) -> None:
    case.prepare()
    budget = source_words(news(case))
    assert case.select(words=budget) == 0
    assert case.kept() == news(case)
    rows = case.audit()
    assert list(rows) == ["web", "acts", "total"]
    assert rows["total"]["pairs"] == "500"
    assert rows["web"]["pairs_kept"] == rows["total"]["pairs_kept"] == "150"
    assert rows["total"]["source_words_kept"] == rows["total"]["target_words_kept"] == str(budget)
    assert rows["acts"]["pairs_kept"] == "0"
    ratings = [float(rows[name]["mean_rating"]) for name in ("web", "total", "acts")]
    assert ratings == sorted(ratings)
    assert case.files() == ALL


def test_either_side_can_rule_a_pair_out(case: Case) -> None:
    good, bad = sentences(NEWS, 200, 6), sentences(LAW, 200, 7)
    crossed = [(source, target) for (source, _), (_, target) in zip(good[:100], bad, strict=False)]
    case.corpora = {"web": good[100:] + crossed + bad}
    case.prepare()
    assert case.select(words=source_words(good[100:])) == 0
    assert case.kept() == good[100:]


def test_shards_change_nothing(case: Case) -> None:
    case.corpora["acts"][100:120] = case.corpora["web"][:20]
    outcomes = []
    for shards in (1, 3, 5):
        case.shards = shards
        case.prepare()
        assert case.select(words=700) == 0
        outcomes.append([(case.folder / "out" / name).read_bytes() for name in ALL])
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert source_words(case.kept()) <= 700 < source_words(case.kept()) + 10


def test_what_is_dropped_before_the_ranking_is_counted(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora = {
        "first": [("a b", "x y z"), ("", "x"), ("c", " "), ("held", "h"), ("h2", "retenu"), ("\u2028", "z")],
        "second": [("a b", "x y z"), ("a b", "x z"), ("held", "h"), ("retenu", "held"), ("", "")],
    }
    case.held_out = [("held", "retenu"), ("", "")]
    case.prepare()
    assert case.select(words=0) == 0
    assert case.kept() == [("a b", "x y z"), ("\u2028", "z"), ("a b", "x z"), ("retenu", "held")]
    rows = case.audit()
    columns = ["pairs", "source_words", "target_words", "duplicates", "held_out", "empty"]
    columns += ["pairs_kept", "source_words_kept", "target_words_kept"]
    assert [rows["first"][column] for column in columns] == ["6", "6", "7", "0", "2", "2", "2", "3", "4"]
    assert [rows["second"][column] for column in columns] == ["5", "6", "7", "1", "1", "1", "2", "3", "3"]
    assert [rows["total"][column] for column in columns] == ["11", "12", "14", "1", "3", "3", "4", "6", "7"]
    assert "all 6 words of the clean text are kept" in capsys.readouterr().err


def test_a_budget_beyond_the_text_keeps_all_and_warns(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.prepare()
    assert case.select(words=10**9) == 0
    assert case.kept() == case.corpora["web"] + case.corpora["acts"]
    assert "of the clean text are kept" in capsys.readouterr().err
    assert {row["cut"] for row in case.table("ratings.csv")} == {""}


def test_all_keeps_every_clean_pair_without_ratings(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.corpora["acts"][5] = case.corpora["web"][5]
    case.held_out = [case.corpora["web"][7]]
    assert case.clean() == 0
    assert case.select(rule="all") == 0
    web, acts = case.corpora["web"], case.corpora["acts"]
    assert case.kept() == web[:7] + web[8:] + acts[:5] + acts[6:]
    assert {row["mean_rating"] for row in case.audit().values()} == {""}
    assert case.audit()["total"]["pairs_kept"] == "498"
    assert case.files() == ["audit.csv", "train.en", "train.fr"]
    assert "warning" not in capsys.readouterr().err


def test_duplicates_may_be_kept(case: Case) -> None:
    case.corpora["acts"][5] = case.corpora["web"][5]
    assert case.clean() == 0
    assert case.select(rule="all", drop_duplicates=False) == 0
    assert case.kept() == case.corpora["web"] + case.corpora["acts"]
    assert (case.audit()["acts"]["pairs_kept"], case.audit()["acts"]["duplicates"]) == ("200", "0")


def test_shares_are_those_of_each_corpus(case: Case) -> None:
    case.corpora["whole"] = sentences(LAW, 20, 9)
    case.prepare()
    assert case.select(rule="shares", shares={"web": 0.25, "acts": 0}) == 0
    rows = case.audit()
    words = source_words(case.corpora["web"])
    assert words // 4 - 10 < int(rows["web"]["source_words_kept"]) <= words // 4
    assert (rows["acts"]["pairs_kept"], rows["whole"]["pairs_kept"]) == ("0", "20")
    kept = [pair for pair in case.kept() if pair in case.corpora["web"]]
    assert set(kept) <= set(news(case))
    cuts = {row["corpus"]: row["cut"] for row in case.table("ratings.csv")}
    assert [name for name, cut in cuts.items() if cut] == ["web"]


def test_random_draws_of_everything_alike(case: Case) -> None:
    case.prepare()
    total = source_words(case.corpora["web"] + case.corpora["acts"])
    assert case.select(rule="random", words=total // 2) == 0
    kept = case.kept()
    assert total // 2 - 10 < source_words(kept) <= total // 2
    order = {pair: number for number, pair in enumerate(case.corpora["web"] + case.corpora["acts"])}
    assert [order[pair] for pair in kept] == sorted(order[pair] for pair in kept)
    laws = sum(pair[0].split()[0] in LAW for pair in kept)
    assert 0.6 < laws / len(kept) < 0.8  # 350 of the 500
    assert case.select(seed=2, rule="random", words=total // 2) == 0
    assert case.kept() != kept


def test_the_distribution_counts_every_clean_pair(case: Case) -> None:
    case.prepare()
    assert case.select(words=700) == 0
    table = case.table("ratings.csv")
    rows = case.audit()
    for corpus in ("web", "acts"):
        bins = [row for row in table if row["corpus"] == corpus]
        assert sum(int(row["pairs"]) for row in bins) == int(rows[corpus]["pairs"])
        assert sum(int(row["pairs_kept"]) for row in bins) == int(rows[corpus]["pairs_kept"])
        cut = float(bins[0]["cut"])
        for row in bins:
            assert (row["pairs"] == row["pairs_kept"]) or float(row["rating_to"] or "inf") > cut
            assert row["pairs_kept"] == "0" or float(row["rating_from"] or "-inf") <= cut


def test_the_best_and_worst_pairs_are_shown(case: Case) -> None:
    case.prepare()
    assert case.select(words=700) == 0
    rows = case.table("examples.tsv")
    assert [row["corpus"] for row in rows].count("web") == [row["corpus"] for row in rows].count("acts") == 20
    ratings = [float(row["rating"]) for row in rows]
    assert ratings == sorted(ratings)
    every = np.concatenate([np.load(case.folder / f"{name}.1-of-1.ratings.npy") for name in case.corpora])
    assert ratings[:10] == pytest.approx(np.sort(every)[:10], abs=1e-4)
    assert ratings[-10:] == pytest.approx(np.sort(every)[-10:], abs=1e-4)
    for row in rows:
        assert case.corpora[row["corpus"]][int(row["line"]) - 1] == (row["source"], row["target"])
    assert {(row["kept"], row["source"] in {source for source, _ in case.kept()}) for row in rows} == {
        ("yes", True),
        ("no", False),
    }


def test_odd_characters_are_kept(case: Case) -> None:
    odd = [("minister\u2028said \x0c the \x85 \x00 new", "ministere\u2028\x00"), ("<s> </s> <unk>", "<unknown> <s>")]
    long = " ".join(["vote"] * 100_000)
    case.corpora["web"] += [*odd, (long, long)]
    case.in_domain += odd * 2
    case.prepare()
    assert case.select(words=source_words(case.corpora["web"] + case.corpora["acts"]) - 20) == 0
    assert (long, long) in case.kept()


def test_ties_go_by_the_text_and_the_budget_is_not_exceeded() -> None:
    ratings = np.array([1, 0, 1, 1, -9], np.float32)
    words = np.array([2, 2, 2, 2, 50], np.uint32)
    clean = np.array([True, True, True, True, False])
    assert keep_best(ratings, words, clean, 5).tolist() == [True, True, False, False, False]
    assert keep_best(ratings, words, clean, 6).tolist() == [True, True, True, False, False]
    assert keep_best(ratings, words, clean, 1).tolist() == [False] * 5
    assert keep_best(ratings, words, clean, 100).tolist() == clean.tolist()


PAIR = st.tuples(
    st.sampled_from([-3.5, -1.0, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0]) | st.floats(-50, 50, width=32),
    st.integers(1, 9),
    st.booleans(),
)


@given(st.lists(PAIR, max_size=30), st.integers(0, 200))
def test_the_search_keeps_what_sorting_would(pairs: list[tuple[float, int, bool]], budget: int) -> None:
    ratings = np.array([rating for rating, _, _ in pairs], np.float32)
    words = np.array([count for _, count, _ in pairs], np.uint32)
    clean = np.array([one for _, _, one in pairs], np.bool_)
    expected = [False] * len(pairs)
    left = budget
    for index in sorted(np.flatnonzero(clean), key=lambda index: (ratings[index], index)):
        left -= pairs[index][1]
        if left < 0:
            break
        expected[index] = True
    assert keep_best(ratings, words, clean, budget).tolist() == expected


# ---- bad input


def refused(case: Case, capsys: pytest.CaptureFixture[str], seed: int = 1, **settings: object) -> str:
    assert case.select(seed, **settings) == 1
    assert not (case.folder / "out").exists() or case.files() == []
    line = last_line(capsys)
    assert line.startswith("nmt select: ")
    return line


def test_settings_out_of_range(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.prepare()
    assert "select.words 1: " in refused(case, capsys, words=1)
    assert "words: expected a whole number, 0 or more, not -1" in refused(case, capsys, words=-1)
    assert "--seed -1: must not be negative" in refused(case, capsys, seed=-1)
    for share in (1.5, "x", None, -0.1, float("nan")):
        message = refused(case, capsys, rule="shares", shares={"web": share})
        assert "shares: expected a number from 0 to 1 for each" in message
    message = refused(case, capsys, rule="shares", shares={"wib": 0.5})
    assert "select.shares: unknown training corpus wib; the nearest is web" in message


def test_ratings_of_another_text(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.prepare()
    np.save(case.folder / "acts.1-of-1.ratings.npy", np.zeros(7, np.float32))
    said = "acts.1-of-1.ratings.npy: 7 ratings for 200 pairs; name the parts in the order of --names, or run the step "
    assert said in refused(case, capsys, words=700)


def test_a_full_disk_is_one_line_and_freeing_space_fixes_it(
    case: Case, small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    case.corpora = {"web": [(f"{source} {n}", target) for n in range(20) for source, target in case.corpora["web"]]}
    case.prepare()
    (case.folder / "out").symlink_to(small_disk.folder)
    small_disk.limit(65536)
    line = refused(case, capsys, words=30000)
    assert line.endswith("no space left; free some and repeat")
    assert list(small_disk.folder.iterdir()) == []
    small_disk.free()
    assert case.select(words=30000) == 0
    assert case.files() == ALL


def test_ratings_that_are_no_numbers_are_refused(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    case.prepare()
    ratings = np.load(case.folder / "web.1-of-1.ratings.npy")
    ratings[[3, 7]] = np.nan
    np.save(case.folder / "web.1-of-1.ratings.npy", ratings)
    assert case.select(words=700) == 1
    assert "2 of 500 ratings are no numbers; run the steps train_lm and score_pairs again" in last_line(capsys)
