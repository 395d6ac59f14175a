"""Every option of the catalog's lists against a plain filter of the same records in Python.

The records are the upstream's, as recorded (`FORETELL_RECORDED_DATA`, by default `../shared/data`), and a few made ones for options
that the recorded ones do not vary. Without the recorded ones the made ones are compared alone.
"""

import json
import os
import subprocess
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import pytest

from exchange import operate

DATA = os.environ.get("FORETELL_RECORDED_DATA") or Path(__file__).resolve().parents[3] / "shared/data"
RECORDED = Path(DATA) / "gamma"
CATALOG = os.environ["EXCHANGE_CATALOG"]
MADE = [
    {
        "id": str(880_000 + n), "slug": f"made-{n}", "title": f"A made event {n}", "active": True,
        "closed": n % 2 == 0, "archived": n % 4 == 0, "featured": n % 3 == 0, "cyom": n % 3 == 1,
        "startDate": f"2027-0{n + 1}-01T00:00:00Z", "endDate": f"2028-0{n + 1}-01T00:00:00Z", "volume": 10 * n,
        "volume24hr": 9 - n, "liquidity": 5 * (n % 4), "competitive": n / 10, "gameId": 7_000 + n,
        "tags": [{"id": str(870_000 + t), "slug": f"made-tag-{t}", "label": f"Made tag {t}"} for t in {n % 2, 2 + n % 3}],
        "series": [{"id": str(860_000 + n % 3), "slug": f"made-series-{n % 3}", "title": f"Made series {n % 3}",
                    "recurrence": ("daily", "weekly", "monthly")[n % 3], "closed": n % 3 == 2,
                    "categories": [{"id": str(n % 3), "label": f"Category {n % 3}"}]}],
        "chats": [{"id": str(n)}], "templates": [{"id": str(n)}],
        "markets": [{
            "id": str(890_000 + 10 * n + m), "slug": f"made-{n}-{m}", "question": f"Made {n} {m}?", "conditionId": "",
            "active": True, "closed": m == 1, "featured": m == 1, "cyom": (n + m) % 2 == 0, "volume": str(n * 10 + m),
            "volume24hr": m, "liquidity": str(n), "questionID": f"0x{n:064X}", "marketMakerAddress": f"0x{m:040X}",
            "gameId": str(7_100 + n), "sportsMarketType": ("moneyline", "totals")[m], "rewardsMinSize": 10 * n,
            "umaResolutionStatus": ("proposed", "resolved")[m], "startDate": f"2027-0{n + 1}-02T00:00:00Z",
        } for m in (0, 1)],
    }
    for n in range(8)
]  # fmt: skip


def recorded(name):
    """Records of a recorded file: several JSON arrays may be glued together."""
    path = RECORDED / name
    if not path.exists():
        print("skipped: no recorded data")
        return []
    text = path.read_text() if path.suffix == ".json" else subprocess.check_output(["zstd", "-dc", path], text=True)
    decoder, at, rows = json.JSONDecoder(), 0, []
    while at < len(text):
        page, end = decoder.raw_decode(text, at)
        rows += page
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return rows


def newest(rows, parts=()):
    """The newest of the records of each id; of equally old ones the last. An event within a market is a part:
    what it lacks or leaves empty stays as an earlier record has it."""
    kept = {}
    for row, is_part in [(row, False) for row in rows] + [(row, True) for row in parts]:
        known = kept.get(row["id"], {})
        if row.get("updatedAt", "") >= known.get("updatedAt", ""):
            given = {name: value for name, value in row.items() if value not in (None, "", [], {})}
            kept[row["id"]] = known | given if is_part else row
    return kept


def number(value):
    return None if value in (None, "") else float(value)


def instant(text):
    if not text:
        return None
    parsed = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """Events and markets by id, imported; a market has its event under `event`."""
    groups = recorded("events-20-202503.json.zst") + MADE
    alone = recorded("markets-600-20260208.json.zst")
    path = Path(os.environ["EXCHANGE_DATA"]) / "options.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in groups + alone))
    operate("catalog", "import", "--catalog-only", str(path))
    events = newest(groups, [market["events"][0] for market in alone if market.get("events")])
    markets = {}
    for group in groups:
        markets |= {market["id"]: {**market, "event": events[group["id"]]} for market in group["markets"]}
    for market in newest(alone).values():
        of = market.get("events")
        markets[market["id"]] = {**market, "event": events[of[0]["id"]] if of else {}}
    return {"events": events, "markets": markets}


def get(path, **query):
    """An answer; values of a list are repeated."""
    with urllib.request.urlopen(f"{CATALOG}{path}?{urllib.parse.urlencode(query, doseq=True)}", timeout=60) as answer:
        return json.load(answer)


def listed(kind, known, **query):
    """Ids of a list in its order, all pages, as far as the test made them."""
    ids, offset = [], 0
    while rows := get(f"/{kind}", limit=500, offset=offset, **query):
        ids += [row["id"] for row in rows if row["id"] in known]
        offset += 500
    return ids


def tags(event):
    return {tag["id"] for tag in event.get("tags", [])}


def recurrences(event):
    return {series.get("recurrence") for series in event.get("series", [])}


def between(field, low=None, high=None, read=number):
    def holds(row):
        value = read(row.get(field))
        return value is not None and (low is None or value >= low) and (high is None or value <= high)

    return holds


DAY, LATER = instant("2026-01-01T00:00:00Z"), instant("2027-04-01T23:59:59.999999Z")
COMMON = [
    ({"featured": "true"}, lambda row: row.get("featured", False)),
    ({"featured": "false"}, lambda row: not row.get("featured", False)),
    ({"cyom": "true"}, lambda row: row.get("cyom", False)),
    ({"closed": "true"}, lambda row: row.get("closed", False)),
    ({"start_date_min": DAY.isoformat()}, between("startDate", DAY, read=instant)),
    ({"start_date_max": "2027-04-01"}, between("startDate", None, LATER, instant)),
    ({"end_date_min": "2026-01-01"}, between("endDate", DAY, read=instant)),
    ({"end_date_max": "2027-04-01"}, between("endDate", None, LATER, instant)),
    ({"volume_min": "1000"}, between("volume", 1000)),
    ({"volume_num_max": "1000"}, between("volume", None, 1000)),
    ({"liquidity_num_min": "15"}, between("liquidity", 15)),
    ({"liquidity_max": "15"}, between("liquidity", None, 15)),
]  # fmt: skip
OF_EVENTS = [
    ({"tag_id": "870000"}, lambda row: "870000" in tags(row)),
    ({"tag_id": ["870000", "870002"]}, lambda row: tags(row) & {"870000", "870002"}),
    ({"tag_id": "870000,870002", "tag_match": "all"}, lambda row: tags(row) >= {"870000", "870002"}),
    ({"exclude_tag_id": ["1", "870001"]}, lambda row: not tags(row) & {"1", "870001"}),
    ({"recurrence": "weekly"}, lambda row: "weekly" in recurrences(row)),
    ({"series_id": "860001"}, lambda row: any(one["id"] == "860001" for one in row.get("series", []))),
]  # fmt: skip
EVENTS = [
    *COMMON, *OF_EVENTS,
    ({"id": ["880001", "12483"]}, lambda row: row["id"] in ("880001", "12483")),
    ({"id": "880001,880002"}, lambda row: row["id"] in ("880001", "880002")),
    ({"slug": ["made-1", "made-2"]}, lambda row: row["slug"] in ("made-1", "made-2")),
    ({"game_id": "7003,19203"}, lambda row: str(row.get("gameId")) in ("7003", "19203")),
]  # fmt: skip
MARKETS = [
    *COMMON,
    *[(query, lambda row, holds=holds: holds(row["event"])) for query, holds in OF_EVENTS],
    ({"slug": "made-1-0,made-2-1"}, lambda row: row["slug"] in ("made-1-0", "made-2-1")),
    ({"question_ids": f"0x{3:064x}"}, lambda row: row.get("questionID", "").lower() == f"0x{3:064x}"),
    ({"market_maker_address": f"0x{1:040x}"}, lambda row: row.get("marketMakerAddress", "").lower() == f"0x{1:040x}"),
    ({"game_id": ["7103", "19203"]},
     lambda row: {str(row.get("gameId")), str(row["event"].get("gameId"))} & {"7103", "19203"}),
    ({"sports_market_types": "moneyline,spreads"}, lambda row: row.get("sportsMarketType") in ("moneyline", "spreads")),
    ({"uma_resolution_status": "proposed"}, lambda row: row.get("umaResolutionStatus") == "proposed"),
    ({"rewards_min_size": "50"}, between("rewardsMinSize", 50)),
]  # fmt: skip
ORDERS = [
    ("volume24hr", "volume24hr", number), ("volume_24hr", "volume24hr", number), ("volumeNum", "volume", number),
    ("liquidity_num", "liquidity", number), ("startDate", "startDate", instant), ("end_date", "endDate", instant),
    ("competitive", "competitive", number),
]  # fmt: skip


def compared(records, kind, query, *filters):
    known = records[kind]
    wanted = {id for id, row in known.items() if all(holds(row) for holds in filters)}
    assert set(listed(kind, known, **query)) == wanted, query
    return wanted


@pytest.mark.parametrize(("kind", "options"), [("events", EVENTS), ("markets", MARKETS)])
def test_options_filter_like_python(records, kind, options):
    for query, holds in options:
        wanted = compared(records, kind, query, holds)
        # The made records alone do not vary every option.
        if RECORDED.exists():
            assert 0 < len(wanted) < len(records[kind]), f"{query} shows nothing"
    for (one, first), (other, second) in zip(options, options[5:], strict=False):
        if not one.keys() & other.keys():
            compared(records, kind, one | other, first, second)


@pytest.mark.parametrize("kind", ["events", "markets"])
@pytest.mark.parametrize(("order", "field", "read"), ORDERS)
def test_orders_sort_like_python(records, kind, order, field, read):
    known = records[kind]
    for ascending in (True, False):

        def key(id):
            value = read(known[id].get(field))
            return (value is not None, 0 if value is None else value, int(id))

        wanted = sorted(known, key=key, reverse=not ascending)
        assert listed(kind, known, order=order, ascending=str(ascending).lower()) == wanted, order


def test_series_and_tags(records):
    def series(**query):
        return {row["id"] for row in get("/series", limit=500, **query) if row["id"].startswith("8600")}

    assert series(recurrence="weekly") == {"860001"}
    assert series(closed="true") == {"860002"}
    assert series(slug="made-series-0,made-series-1") == {"860000", "860001"}
    assert series(categories_ids="2") == {"860002"}
    assert series(categories_labels=["Category 0", "Category 2"]) == {"860000", "860002"}
    titles = [row["title"] for row in get("/series", limit=500, order="title", ascending="true")]
    assert titles == sorted(titles)
    labels = [row["label"] for row in get("/tags", limit=500, order="label")]
    assert labels == sorted(labels, reverse=True)
    assert all(row["events"] == [] for row in get("/series", exclude_events="true"))


def test_what_belongs_to_a_record(records):
    assert {tag["id"] for tag in get("/events/880000/tags")} == tags(records["events"]["880000"])
    assert get("/markets/890000/tags") == get("/events/880000/tags")
    assert get("/series/860001")["recurrence"] == "weekly"
    assert get("/events/880003", include_chat="true")["chats"] == [{"id": "3"}]
    assert get("/markets", id="890000", include_tag="true")[0]["tags"] == get("/events/880000/tags")
    shared = {}
    for event in MADE:
        if "870000" in tags(event):
            for tag in tags(event) - {"870000"}:
                shared[tag] = shared.get(tag, 0) + 1
    wanted = sorted(shared, key=lambda tag: (-shared[tag], int(tag)))
    assert [str(row["relatedTagID"]) for row in get("/tags/870000/related-tags")] == wanted
    assert [row["id"] for row in get("/tags/slug/made-tag-0/related-tags/tags")] == wanted
    assert {"moneyline", "totals"} <= set(get("/sports/market-types")["marketTypes"])
    assert get("/teams") == get("/sports") == get("/comments") == []


def test_search_options(records):
    def found(**query):
        return [event["id"] for event in get("/public-search", q="a made event", limit_per_type=500, **query)["events"]]

    made = {event["id"]: event for event in MADE}
    assert set(found(events_status="active")) == {id for id, event in made.items() if not event["closed"]}
    assert set(found(events_tag="made-tag-0")) == {id for id, event in made.items() if "870000" in tags(event)}
    assert set(found(exclude_tag_id="870000")) == {id for id, event in made.items() if "870000" not in tags(event)}
    assert set(found(recurrence="daily")) == {id for id, event in made.items() if "daily" in recurrences(event)}
    assert found(sort="volume", ascending="true") == sorted(made, key=lambda id: made[id]["volume"])


def test_keyset_pages_are_the_list(records):
    whole, pages, cursor = [row["id"] for row in get("/markets", limit=500)], [], {}
    while len(pages) < len(whole):
        page = get("/markets/keyset", limit=7, **cursor)
        pages += [row["id"] for row in page["markets"]]
        if "next_cursor" not in page:
            break
        cursor = {"after_cursor": page["next_cursor"]}
    assert pages[: len(whole)] == whole
