"""A workspace with its server, and somebody who may use it."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the extra app is not installed")
pytest.importorskip("httpx2", reason="the requests of the tests need httpx2")

from visitors import Visitor

from shoal.app.pages import open_example


@pytest.fixture
def visitor(tmp_path):
    found = Visitor(tmp_path / "workspace")
    yield found
    found.close()


@pytest.fixture
def with_example(visitor):
    open_example(visitor.desk)
    return visitor
