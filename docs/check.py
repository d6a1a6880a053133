"""python docs/check.py SITE: every page works without a network, and no link in it is broken."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("video", "src")}
REMOTE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^'\")]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)")
LOADING_LINKS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "modulepreload", "manifest"}


class Page(HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        self.loads += [url for key, url in attributes if (tag, key) in LOADED and url]
        if tag == "link" and LOADING_LINKS & set((given.get("rel") or "").split()):
            self.loads.append(given.get("href") or "")
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


def faults(site):
    """One line for each page that would ask the network, and for each link that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no pages"
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        yield from (f"{name} loads {url}" for url in page.loads if REMOTE.match(url))
        for link in page.links + [url for url in page.loads if not REMOTE.match(url)]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{name} links to {link}, which does not exist"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} links to {link}, but there is no such place on that page"
    for path in sorted(site.rglob("*.css")):
        for found in IN_CSS.finditer(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {found[1] or found[2]}"


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found) or "No page loads anything from elsewhere, and no link is broken.")
    sys.exit(bool(found))
