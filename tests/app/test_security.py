"""Who is let in, what is refused, and what pages and messages never have in them."""

from __future__ import annotations

import json

import polars as pl
import pytest
from visitors import BASE, PLACE, Visitor

import shoal
from shoal.app.asking import Asked
from shoal.app.pages import ROUTES
from shoal.app.runs import Runs
from shoal.app.security import CONTENT_POLICY, ENTRANCE, Keys, Place
from shoal.app.workspace import safe_name

GETS = [path for method, path, _ in ROUTES if method == "GET"]
POSTS = [path for method, path, _ in ROUTES if method == "POST"] + ["/open/upload"]
TRAVERSALS = [
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "....//etc",
    "%2e%2e",
    "..\\..\\x",
    "0001/../..",
]
READERS = ("field", "fields", "has", "whole", "number")
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def filled(path, number="0001", what="plan"):
    return path.replace("{number}", number).replace("{what}", what)


# who is let in


def test_nobody_without_the_cookie_sees_a_page(with_example):
    for path in ("/", "/open", "/static/app.js", *map(filled, GETS)):
        answer = with_example.stranger().get(path)
        assert answer.status_code == 401, path
        assert "example" not in answer.text


def test_nobody_without_the_cookie_changes_anything(with_example):
    before = with_example.workspace.settings()
    for path in map(filled, POSTS):
        answer = with_example.stranger(Origin=BASE).post(path, data={"column": "0", "role": "kept"})
        assert answer.status_code == 401, path
    assert with_example.workspace.settings() == before


def test_a_token_is_exchanged_for_a_strict_cookie_which_opens_all(with_example):
    stranger = with_example.stranger()
    answer = stranger.get(ENTRANCE, params={"token": with_example.keys.token})
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert with_example.keys.token not in answer.headers["location"] + cookie
    assert stranger.get("/open").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "é", None])
def test_a_wrong_token_opens_nothing(with_example, token):
    stranger = with_example.stranger()
    answer = stranger.get(ENTRANCE, params={} if token is None else {"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert stranger.get("/open").status_code == 401


@pytest.mark.parametrize("cookie", ["", "x", "é"])
def test_a_wrong_cookie_opens_nothing(with_example, cookie):
    raw = f"{PLACE.cookie}={cookie}".encode()
    assert with_example.stranger().get("/open", headers={b"cookie": raw}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", ""]
)
def test_a_wrong_host_is_refused_with_the_cookie_too(with_example, host):
    assert with_example.get("/open", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"])
def test_the_names_of_this_machine_are_its_hosts(with_example, host):
    assert with_example.get("/open", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://127.0.0.1:8001", "https://127.0.0.1:8000"]
)
def test_what_changes_something_must_come_from_a_page_of_this_server(with_example, origin):
    before = with_example.workspace.settings()
    for path in map(filled, POSTS):
        answer = with_example.post(path, {"column": "0", "role": "kept"}, headers={"Origin": origin})
        assert answer.status_code == 403, path
    assert with_example.workspace.settings() == before


def test_a_request_that_changes_something_without_an_origin_is_refused(with_example):
    stranger = with_example.stranger()
    stranger.cookies.set(PLACE.cookie, with_example.keys.session)
    assert stranger.post("/roles/role", data={"column": "0", "role": "kept"}).status_code == 403


def test_two_workspaces_do_not_see_each_other(tmp_path, with_example):
    other = Visitor(tmp_path / "other")
    try:
        assert other.keys.session != with_example.keys.session
        other.client.cookies.set(PLACE.cookie, with_example.keys.session)
        assert other.get("/open").status_code == 401
    finally:
        other.close()
    assert Place("127.0.0.1", 1).cookie != Place("127.0.0.1", 2).cookie, "browsers send cookies to every port"


def test_a_workspace_has_one_server(with_example):
    with pytest.raises(shoal.FileError, match="another `shoal app` works in"):
        Visitor(with_example.workspace.folder)


# a password, where others can reach it


def test_sharing_asks_for_a_password_and_opens_no_paths(tmp_path):
    visitor = Visitor(tmp_path / "workspace", password="herring", shared=True)
    try:
        stranger = visitor.stranger(Origin=BASE)
        assert stranger.get(ENTRANCE, params={"token": visitor.keys.token}).status_code == 200, "a form, and no cookie"
        assert stranger.get("/open").status_code == 401
        assert stranger.post(ENTRANCE, data={"password": "cod"}).status_code == 401
        assert stranger.post(ENTRANCE, data={"password": "herring"}).status_code == 303
        assert stranger.get("/open").status_code == 200
        assert stranger.post("/open/path", data={"path": "/etc/hostname"}).status_code == 400
        assert "/open/path" not in stranger.get("/open").text
    finally:
        visitor.close()


def test_after_five_wrong_passwords_none_is_looked_at_for_a_while():
    keys = Keys.with_password("herring")
    assert not any(keys.fits(password=wrong) for wrong in "abcde")
    assert not keys.fits(password="herring")


def test_sharing_without_a_password_is_refused(tmp_path):
    with pytest.raises(shoal.PlanError, match="password"):
        shoal.open_app(workspace=tmp_path / "w", share="0.0.0.0")
    with pytest.raises(shoal.PlanError, match="no effect without share"):
        shoal.open_app(workspace=tmp_path / "w", password="x")


# what pages may do


@pytest.mark.parametrize("path", ["/open", "/roles", "/protect", "/export", "/history", "/nothing", "/static/app.js"])
def test_every_answer_has_the_headers(with_example, path):
    answer = with_example.get(path)
    assert answer.headers["content-security-policy"] == CONTENT_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert "no-store" in answer.headers["cache-control"] or path.startswith("/static")


def test_the_policy_allows_no_inline_script_and_pages_have_none(with_example):
    assert "unsafe" not in CONTENT_POLICY
    for path in ("/open", "/roles", "/protect", "/export", "/history"):
        text = with_example.get(path).text
        assert "<script>" not in text
        assert " onclick=" not in text
        assert " style=" not in text, "the policy forbids styles in attributes"
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


# nothing outside the workspace


@pytest.mark.parametrize("attack", TRAVERSALS)
def test_no_parameter_of_an_address_leads_out_of_the_workspace(with_example, attack):
    for path in [path for path in [*GETS, *POSTS] if "{" in path]:
        ask = with_example.get if path in GETS else with_example.post
        answer = ask(filled(path, number=attack, what=attack))
        assert answer.status_code in (303, 404, 405), f"{path}: unknown, or another page"
        assert "root:" not in answer.text


def a_run(workspace):
    """A run that is there, so that what is asked of one is looked at."""
    folder = workspace / "runs" / "0001"
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps({"kind": "protect", "table": "t.csv", "path": "t.csv", "records": 9}))
    (folder / "plan.yaml").write_text("k: 5\nquasi_identifiers: [age]\n")
    return folder


def _no_run(*_, **__):
    raise shoal.FileError("no run is started here")


@pytest.fixture
def fields_read(monkeypatch):
    """The fields of a form that pages have looked at; no other can lead anywhere."""
    seen = {}

    def watched(reader):
        def read(self, name, *more, **named):
            seen[name] = True
            return reader(self, name, *more, **named)

        return read

    for name in READERS:
        monkeypatch.setattr(Asked, name, watched(getattr(Asked, name)))
    return seen


@pytest.mark.parametrize("attack", TRAVERSALS)
def test_no_field_of_a_form_leads_out_of_the_workspace(with_example, attack, tmp_path, monkeypatch, fields_read):
    monkeypatch.setattr(Runs, "start", _no_run)
    tried = {}
    example, reads = with_example.desk.opened().path, str(with_example.desk.opened().columns.index("region"))
    for path in POSTS:
        with_example.desk.open(example)  # which a page before may have closed
        with with_example.workspace.changed_settings() as settings:
            settings["hierarchies"] = {"region": {"flat": True}}
        a_run(with_example.workspace.folder)
        fields_read.clear()
        usual = {"column": reads, "role": "kept", "kind": "nominal", "set": "0"}
        sent, waiting = {}, [usual, {}]
        while waiting:
            answer = with_example.post(filled(path), waiting.pop())
            assert answer.status_code < 500, path
            assert "root:" not in answer.text
            location = answer.headers.get("location", "/")
            assert location.startswith("/")
            assert not location.startswith("//")
            for field in [name for name in fields_read if name not in sent]:
                sent[field] = attack
                waiting += [usual | {field: attack}, dict(sent)]
        tried |= sent
    assert {path.name for path in tmp_path.iterdir()} == {"workspace"}
    assert {"column", "path", "ending", "back", "file", "name", "text", "source", "node", "delimiter"} <= set(tried)


@pytest.mark.parametrize(
    "name", [*TRAVERSALS, "/etc/cron.d/x.csv", "..", ".", "", "a\x00b.csv", "C:\\x\\con.csv", "x" * 500]
)
def test_names_of_files_are_made_harmless(name):
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set('/\\\x00:<>"|?*')
    assert safe.strip(".")
    assert len(safe) < 100


@pytest.mark.parametrize("name", ["../../evil.csv", "..%2F..%2Fevil.csv", "/etc/evil.csv"])
def test_an_upload_stays_in_the_workspace(visitor, tmp_path, name):
    answer = visitor.client.post("/open/upload", content=b"a,b\n1,2\n3,4\n", headers={"X-File-Name": name})
    assert answer.json() == {"next": "/open"}
    stored = list(tmp_path.rglob("*evil*"))
    assert [path.parent.name for path in stored] == ["tables"]


# limits


def test_ten_gigabytes_announced_are_refused_before_anything_is_read(visitor):
    headers = {"X-File-Name": "large.csv", "Content-Length": str(10 * 2**30)}
    answer = visitor.client.post("/open/upload", content=b"a,b\n", headers=headers)
    assert answer.status_code == 413
    assert "at most" in answer.json()["error"] or "room for" in answer.json()["error"]
    assert list((visitor.workspace.folder / "tables").iterdir()) == []


def test_an_upload_that_announces_nothing_is_cut_at_the_limit(tmp_path):
    visitor = Visitor(tmp_path / "workspace", upload_limit=1000)
    try:
        pieces = (b"a,b\n" * 100 for _ in range(100))
        answer = visitor.client.post("/open/upload", content=pieces, headers={"X-File-Name": "large.csv"})
        assert answer.status_code == 413
        assert list((visitor.workspace.folder / "tables").iterdir()) == []
    finally:
        visitor.close()


@pytest.mark.parametrize("name", ["", "passwd", "run.exe", "page.html", "plan.yaml"])
def test_only_tables_are_taken(visitor, name):
    answer = visitor.client.post("/open/upload", content=b"x", headers={"X-File-Name": name})
    assert answer.status_code == 415


def test_a_form_that_is_too_large_is_refused(with_example):
    assert with_example.post("/protect", {"k": "5" * 3_000_000}).status_code == 413
    assert with_example.post("/protect", {f"x{i}": "1" for i in range(6000)}).status_code == 413


# values


def hostile_table(tmp_path):
    path = tmp_path / "hostile.csv"
    frame = pl.DataFrame({HOSTILE: [1.5, 2.5, 3.5] * 10, "text": [HOSTILE, "b", "c"] * 10, "age": list(range(30))})
    frame.write_csv(path)
    return path


def test_script_in_a_column_name_and_in_a_cell_is_text(visitor, tmp_path):
    visitor.desk.open(hostile_table(tmp_path))
    for path in ("/open", "/roles", "/roles/risk", "/protect"):
        text = visitor.get(path).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
    assert "&lt;script&gt;alert(1)" in visitor.get("/open").text


def test_no_cell_is_in_an_error_an_address_or_the_log(visitor, tmp_path, monkeypatch, capfd):
    secret = "diagnosis-4711"
    path = tmp_path / "secret.csv"
    pl.DataFrame({"age": [1, 2, 3], "illness": [secret, secret, "other"]}).write_csv(path)
    visitor.desk.open(path)

    def broken(*_):
        raise ValueError(f"cannot parse {secret}")

    monkeypatch.setattr("shoal.app.pages.roles.draft.roles", broken)
    for address in ("/roles", "/protect"):
        answer = visitor.get(address)
        assert answer.status_code == 500
        assert "failed with ValueError" in answer.text
        assert secret not in answer.text
    assert secret not in "".join(capfd.readouterr())
    said = visitor.post("/roles/role", {"column": "0", "role": secret})
    assert said.status_code == 400
    assert secret not in said.text


def test_files_of_a_workspace_are_for_their_owner(with_example, monkeypatch):
    assert with_example.workspace.folder.stat().st_mode & 0o077 == 0


def test_a_report_is_shown_in_a_sandbox(with_example):
    folder = a_run(with_example.workspace.folder)
    (folder / "report-internal.html").write_text("<script>1</script>")
    policy = with_example.get("/run/0001/file/internal").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "allow-same-origin" not in policy
