"""Forms of a page as a browser would send them back, with nothing changed."""

from __future__ import annotations

from html.parser import HTMLParser


class Forms(HTMLParser):
    """Reads the forms of a page: where each is sent to, and its fields with their values."""

    def __init__(self, text):
        super().__init__()
        self.found, self._form, self._list, self._area = [], None, None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        own = dict(attrs)
        if tag == "form":
            self._form = []
            self.found.append((own.get("method"), own.get("action"), self._form))
        if self._form is None:
            return
        if tag == "input" and own.get("name") and "disabled" not in own:
            if own.get("type") not in ("checkbox", "radio") or "checked" in own:
                self._form.append((own["name"], own.get("value", "")))
        elif tag == "textarea":
            self._area = (own.get("name"), [])
        elif tag == "select":
            self._list = (own.get("name"), [])
        elif tag == "option" and self._list:
            self._list[1].append([own.get("value"), "selected" in own, "disabled" in own, ""])

    def handle_data(self, data):
        if self._area:
            self._area[1].append(data)
        elif self._list and self._list[1]:
            self._list[1][-1][3] += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self._area:
            name, parts = self._area
            self._form.append((name, "".join(parts).removeprefix("\n").replace("\n", "\r\n")))
            self._area = None
        elif tag == "select" and self._list:
            name, options = self._list
            chosen = next((one for one in options if one[1]), options[0] if options else None)
            if chosen and not chosen[2] and self._form is not None:
                self._form.append((name, chosen[3] if chosen[0] is None else chosen[0]))
            self._list = None
        elif tag == "form":
            self._form = None


def sent_back(text, only):
    """Return the address and fields of each form that is sent to one of some places."""
    return [(action, fields) for method, action, fields in Forms(text).found if method == "post" and action in only]
