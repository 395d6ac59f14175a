"""The steps of a walk with more than one operator: people, roles, withdrawals of two persons."""

import time

from exchange import Token


class People:
    """Operators that the first admin adds: a cashier, a resolver, and the one of the oracle's adapter."""

    def __init__(self, walk):
        self.walk, self.operator, self.admin = walk, walk.operator, walk.bearer
        self.cashier, self.resolver = self.add("ann", "cashier"), self.add("ben", "resolver")
        self.add("oracle", "resolver")

    def add(self, name, role):
        """The token of a new operator, which only this answer shows."""
        return Token(self.walk.command("/operators", {"name": name, "role": role})["token"])

    def command(self, token, path, body, status=200):
        return self.operator.post(path, body, status, auth=token)

    def all(self):
        self.roles()
        self.withdrawals()
        self.acts()

    def roles(self):
        """What a role includes, and a person who leaves."""
        operator = self.operator
        me = operator.get("/me", auth=self.cashier)
        assert me["name"] == "ann" and "/accounts/withdraw" in me["may"] and "/system/mode" not in me["may"], me
        assert "/operators" in operator.get("/me", auth=self.admin)["may"]
        operator.get("/me", 401)
        self.command(self.cashier, "/system/mode", {"mode": "running"}, 403)
        self.walk.command("/operators", {"name": "ann", "role": "markets"}, 409)
        self.walk.command("/operators", {"name": "Ann", "role": "markets"}, 400)
        leaving = self.add("cleo", "read-only")
        assert not self.walk.command("/operators/revoke", {"name": "cleo", "reason": "left"})["duplicate"]
        operator.get("/me", 401, auth=leaving)
        self.walk.command("/operators/revoke", {"name": "admin"}, 409)
        self.walk.command("/operators/revoke", {"name": "nobody"}, 404)
        people = operator.get("/operators", auth=self.cashier)["operators"]
        assert [person["name"] for person in people] == ["admin", "sync", "ann", "ben", "oracle", "cleo"]
        assert "revoked" in people[-1]

    def withdrawals(self):
        """One is paid by the second person, another is given up."""
        self.walk.command("/system/payments", {"withdrawal_limit": "100", "rebates_daily": True})
        now, wallet = time.time_ns(), self.walk.bob.address
        small, paid, given_up = (
            {"wallet": wallet, "amount": amount, "reference": f"{name} {now}"}
            for name, amount in (("small", "100"), ("paid", "150"), ("given up", "150"))
        )
        assert not self.command(self.cashier, "/accounts/withdraw", small).get("waits")
        paid, given_up = (self.command(self.cashier, "/accounts/withdraw", wanted) for wanted in (paid, given_up))
        assert paid["waits"] and given_up["waits"], (paid, given_up)
        waiting = self.operator.get("/withdrawals", auth=self.cashier)["withdrawals"]
        assert [row["asked_by"] for row in waiting] == ["ann", "ann"], waiting
        payment = {"withdrawal": paid["sequence"], "payment": f"wire {now}"}
        self.command(self.cashier, "/withdrawals/pay", payment, 409)
        self.walk.command("/withdrawals/pay", payment)
        self.command(self.cashier, "/withdrawals/fail", {"withdrawal": given_up["sequence"]})
        self.walk.command("/withdrawals/fail", {"withdrawal": given_up["sequence"]}, 409)
        assert self.operator.get("/withdrawals", auth=self.cashier)["withdrawals"] == []
        self.walk.command("/system/payments", {"withdrawal_limit": "0", "rebates_daily": False})

    def acts(self):
        acts = lambda **query: self.operator.get("/acts", auth=self.resolver, query=query)["acts"]
        newest = acts()
        assert newest[0]["command"] == "/system/payments" and newest[0]["name"] == "admin", newest[0]
        assert any(act["reason"] == "left" for act in newest)
        asked = acts(operator="ann", command="/accounts/withdraw")
        assert len(asked) == 3 and {act["name"] for act in asked} == {"ann"}, asked
        condition = self.walk.market["condition_id"]
        on_one = acts(condition_id=condition, limit=1)
        assert on_one[0]["condition_id"] == condition and on_one[0]["subject"], on_one
        pages, before = [], None
        while len(pages) < 5:
            page = self.operator.get("/acts", auth=self.resolver, query={"limit": 1, **({"before": before} if before else {})})
            pages += page["acts"]
            before = page["next"]
        assert pages == acts(limit=5), pages
        self.operator.get("/acts", 404, auth=self.admin, query={"condition_id": "0x" + 64 * "1"})
        self.operator.get("/acts", 400, auth=self.admin, query={"limit": "0"})
