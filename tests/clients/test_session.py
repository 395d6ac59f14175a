"""Connecting: health, keys, and what a wrong credential gives away."""

import time

import pytest
from py_clob_client_v2.client import ClobClient
from py_clob_client_v2.clob_types import ApiCreds
from py_clob_client_v2.exceptions import PolyApiException

from exchange import CAROL, CHAIN, DAVE, HEIDI, TRADING, connect, is_uuid, refused


def l1_client(key):
    return ClobClient(TRADING, CHAIN, key=key)


def test_health_time_and_version(public):
    assert public.get_ok() == "OK"
    assert isinstance(public.get_server_time(), int)
    assert abs(public.get_server_time() - time.time()) < 60
    assert public.get_version() == 2


def test_creating_and_deriving_give_the_same_trio():
    client = l1_client(CAROL)
    created = client.create_api_key()
    assert is_uuid(created.api_key)
    assert len(created.api_secret) == 44 and created.api_secret.endswith("=")
    assert len(created.api_passphrase) == 64 and int(created.api_passphrase, 16) >= 0
    assert client.create_api_key() == created
    assert client.derive_api_key() == created
    assert client.create_or_derive_api_key() == created
    assert l1_client(DAVE).create_api_key().api_key != created.api_key


def test_a_nonce_is_a_key_of_its_own():
    client = l1_client(CAROL)
    first, second = client.create_api_key(), client.create_api_key(nonce=1)
    assert first.api_key != second.api_key
    client.set_api_creds(second)
    keys = client.get_api_keys()["apiKeys"]
    assert {first.api_key, second.api_key} <= set(keys)


def test_a_key_that_was_never_made_cannot_be_derived():
    refused(lambda: l1_client(CAROL).derive_api_key(nonce=424242), 404)


def test_a_revoked_key_is_dead_for_ever():
    client = l1_client(CAROL)
    client.set_api_creds(client.create_api_key(nonce=7))
    assert client.delete_api_key() == {"revoked": True}
    refused(client.get_api_keys, 401)
    refused(
        lambda: client.create_api_key(nonce=7), 400, "Could not create api key: nonce revoked"
    )
    with pytest.raises(PolyApiException):
        client.create_or_derive_api_key(nonce=7)


def test_read_only_keys():
    client = connect(CAROL)
    key = client.create_readonly_api_key()["apiKey"]
    assert is_uuid(key)
    assert key in client.get_readonly_api_keys()
    assert client.delete_readonly_api_key(key) == {"deleted": True}
    assert key not in client.get_readonly_api_keys()


def test_closed_only_mode():
    assert connect(CAROL).get_closed_only_mode() == {"closed_only": False, "closedOnly": False}


def test_wrong_credentials_all_give_one_answer():
    good = connect(CAROL)
    creds, other = good.creds, connect(DAVE).creds
    wrong = [
        ApiCreds("11111111-2222-4333-8444-555555555555", creds.api_secret, creds.api_passphrase),
        ApiCreds(creds.api_key, other.api_secret, creds.api_passphrase),
        ApiCreds(creds.api_key, creds.api_secret, other.api_passphrase),
        other,  # the key of another address
    ]
    answers = set()
    for guess in wrong:
        client = ClobClient(TRADING, CHAIN, key=CAROL, creds=guess)
        answers.add(refused(client.get_api_keys, 401))
        answers.add(refused(client.cancel_all, 401))
    assert len(answers) == 1, answers


def test_a_clock_that_is_asked_for():
    client = ClobClient(TRADING, CHAIN, key=CAROL, use_server_time=True)
    client.set_api_creds(client.create_or_derive_api_key())
    assert client.get_open_orders() == []


def test_what_has_no_content_yet():
    client = connect(CAROL)
    assert client.get_notifications() == []
    assert client.drop_notifications() == "OK"
    assert client.get_pre_migration_orders() == []


def test_heartbeats_chain():
    client = connect(HEIDI)
    first = client.post_heartbeat()["heartbeat_id"]
    second = client.post_heartbeat(first)["heartbeat_id"]
    with pytest.raises(PolyApiException) as caught:
        client.post_heartbeat("11111111-2222-4333-8444-555555555555")
    assert caught.value.status_code == 400
    assert caught.value.error_msg["heartbeat_id"] == second
