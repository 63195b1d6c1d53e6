"""Somebody at the pages of the application, without a server or a browser between."""

from __future__ import annotations

from starlette.testclient import TestClient

from shoal.app.desk import Desk
from shoal.app.runs import Runs
from shoal.app.security import Keys, Place
from shoal.app.server import application
from shoal.app.workspace import Workspace

PLACE = Place("127.0.0.1", 8000)
BASE = "http://127.0.0.1:8000"


class Visitor:
    """Somebody with the cookie, at a page of the application."""

    def __init__(self, folder, password=None, **desk):
        self.workspace = Workspace(folder)
        self.desk = Desk(self.workspace, Runs(self.workspace), **desk)
        self.keys = Keys() if password is None else Keys.with_password(password)
        self.app = application(self.desk, self.keys, PLACE)
        self.client = TestClient(self.app, base_url=BASE, headers={"Origin": BASE}, follow_redirects=False)
        self.client.cookies.set(PLACE.cookie, self.keys.session)
        self.client.__enter__()  # one loop for all requests, instead of one for each

    def get(self, address, **more):
        return self.client.get(address, **more)

    def post(self, address, data=None, **more):
        return self.client.post(address, data=data or {}, **more)

    def stranger(self, **headers):
        """Somebody without a cookie."""
        return TestClient(self.app, base_url=BASE, headers=headers, follow_redirects=False)

    def close(self):
        self.client.__exit__(None, None, None)
        self.desk.runs.close()
        self.workspace.close()
