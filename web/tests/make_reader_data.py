"""Writes readers.json: files, and the documents that Python reads in them; a page reads them alike.

`python web/tests/make_reader_data.py` from the root of the repository.
"""

import base64
import json
from pathlib import Path

from gossamer.errors import GossamerError
from gossamer.readers import read_file

_HTML = b"""<!DOCTYPE html>
<html><head><title>Tea &amp; coffee &ndash; caf&eacute;</title>
<meta name="author" content="Ann &quot;A&quot;">
<meta property="article:published_time" content="2024-05-01">
<style>p { color: red } </style><script>if (a < b) document.write("<p>no</p>")</script></head>
<body><nav><ul><li>Home</li></ul></nav>
<header>Site</header>
<h1>Tea</h1>
<p>Leaves of <b>tea</b>,
dried &copyright; &notit; &#8364; &#x41; &#150; &unknown;.</p>
<p># not a heading<br>second line</p>
<ul><li>one<li>two <ol><li>inner</ol></ul>
<table><tr><th>Name<th>Price</tr><tr><td>Green<td>3 <p>EUR</p></tr></table>
<pre>
x = 1
  y = "a &lt; b"

</pre>
<img src="a.png" alt="A cup"><!-- comment --> after the cup <a href='x>y'>link</a>
<svg><text>dropped</text></svg><h3>Sub</h3>text at the end
<footer>imprint</footer></body></html>
"""
_LINKS = "".join(f'<li><a href="p{n}.html">Page {n}</a></li>' for n in range(9))
_SITE = f"""<head><title>Tea \u2014 Drinks 3.1 documentation</title>
<link rel="search" title="Search within Drinks 3.1 documentation"></head><body>
<div class="breadcrumbs"><a href="/">Home</a> \u00bb Tea</div>
<a class="skip-link" href="#m">Skip to content</a>
<div class="topNav"><ul>{_LINKS}</ul></div><p>Log in</p>
<div role="main"><h1>Tea<a class="headerlink" href="#t">\u00b6</a></h1>
<div class="contents topic"><ul><li><a href="#a">Green</a></li></ul></div>
<p>Leaves<br>

in water \U0001f375 <img
alt="a cup"></p><h2>Green <span class="mw-editsection">[<a href="e">edit</a>]</span></h2>
<pre> # one line
</pre><aside class="sidebar">Not a menu: <a href="x">samovars</a> are old, large and hot.</aside>
<div class=toc><ul class=menu><li><a href="a">A</a></div></ul>
<ul>{_LINKS}</ul><p>Next: <a rel="next" href="m.html">Milk</a>, <a rel="up" href="d">Up</a></p>
</div><div id="page-footer">Made by hand</div><template><p>x</template></body>
""".encode()
_MAIL = b"""From: =?utf-8?q?Ann_M=C3=BCller?= <ann@example.org>
To: Bob <bob@example.org>
Date: Wed, 01 May 2024 12:00:00 +0200
Subject: =?utf-8?B?VGVhIGZvciB0d28=?=
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="xx"

--xx
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Hello Bob, the caf=E9 is open and this line is =
long enough.


See you.
--xx
Content-Type: application/pdf; name="menu.pdf"
Content-Disposition: attachment; filename="menu.pdf"
Content-Transfer-Encoding: base64

JVBERi0=
--xx--
"""
_HTML_MAIL = b"""From: a@example.org
Subject: Page
Content-Type: text/html; charset=utf-8

<h1>Hi</h1><p>Some <i>words</i> here</p>
"""
_IDS = """<body id="top"><div id="wrap"><h1>Tea</h1><p>words</p>
<section id="green-tea"><span id="label"></span><h2>Green tea</h2><p>words</p></section>
<section id="passed">words<h2 class=x ID='own &amp; one'>Own</h2></section>
<div class="section" id="old"><h3>Old <a name="late"></a>Sphinx</h3></div>
<a name="caf\u00e9"></a>
<h3>Named</h3><h4><a id="inside" href="#inside"></a>Inside</h4><p>words <i id="far">far</i></p>
<h2>None</h2><ul><li id="item"><h5>Item</h5></ul><pre id="code"># x
</pre><h6></h6><p id="para">text</p><h2>Last</h2>""".encode()
_LONG_WORDS = " ".join(f"W\u00f6rt{number}" for number in range(40))


def _encoded_mail(subtype: str, charset: str, encoding: str) -> bytes:
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", "Long"
    tags = ("<h1>Hi</h1>\n<p>", "</p>") if subtype == "html" else ("Hi\n\n\n", "")
    text = f"{tags[0]}{_LONG_WORDS}{tags[1]}\n\n\n\n{tags[0]}End.{tags[1]}\n"
    message.set_content(text, subtype=subtype, charset=charset, cte=encoding)
    return message.as_bytes()


_MBOX = b"""From ann@example.org Wed May  1 12:00:00 2024
From: ann@example.org
Subject: One
Message-ID: <one@example.org>

First message.
>From the start.

From bob@example.org Thu May  2 12:00:00 2024
From: bob@example.org
Subject: Two

Second message.
"""
_FRONT = b"""---
title: "On tea"
tags: [green, 'black']
year: 2024
rate: 4.5
draft: false
nested:
  deep: 1
authors:
  - Ann # first
  - Bob
---

# Other title

Text
"""

_FILES = {
    "docs/tea.html": _HTML,
    "docs/old.htm": "<html><meta charset=windows-1252><p>caf\u00e9 \u20ac".encode("cp1252"),
    "docs/menu.html": b"<nav>never closed <p>and the text of the page",
    "docs/site.html": _SITE,
    "docs/links.html": f"<h1>All</h1><ul>{_LINKS}</ul>".encode(),
    "docs/site.htm": b"<title>Tea | Drinks</title><h1><a href=/>Drinks</a></h1><p>words",
    "docs/page.xhtml": b'<?xml version="1.0"?><html xmlns="x"><script src="a"/><p>1</p>2</html>',
    "docs/signs.html": (
        f"<h1>Tea</h1><p>{'Leaves in hot water. ' * 9}</p>"
        f"<ul>{_LINKS.replace('</li>', ' (&amp;)</li>')}</ul><h2>A<a href=#a>\ufeff</a></h2>"
    ).encode(),
    "docs/numbers.html": (
        b"<p>&#%s; &#x%s; &#%s65;b &#0; &#129;&#150;|<pre>&#1;</pre><pre>&#65;\n&#13;</pre>"
        % (b"1" * 5000, b"F" * 5000, b"0" * 5000)
    ),
    "docs/ids.html": _IDS,
    "docs/front.md": _FRONT,
    "docs/plain.md": b"Under\n=====\n\nwords\n",
    "docs/fenced.md": b"```\n# no\n```\n\n# Yes #\n",
    "docs/bom.md": b"\xef\xbb\xbf# Marked\n\nwords",
    "docs/toml.md": b"+++\ntitle = \"T\"\nweight = 3\n+++\nwords\n",
    "docs/guide.rst": b"=====\nGuide\n=====\n\nwords\n",
    "docs/notes.txt": b"just words",
    "docs/latin.txt": "stra\u00dfe gr\u00fc\u00dfe \u00e4\u00f6\u00fc caf\u00e9".encode("cp1252"),
    "docs/wide.txt": "wide w\u00f6rds".encode("utf-16"),
    "docs/wide2.txt": ("unmarked wide words " * 5).encode("utf-16-le"),
    "docs/broken.txt": "gr\u00fc\u00dfe aus d\u00e4nemark \u00f6\u00fc\u00e4".encode() + b" \xff",
    "docs/people.csv": b"\xef\xbb\xbfname, \"city\",age\nAnn,Rome,3\n",
    "docs/people.tsv": b"name\tcity\nAnn\tRome\n",
    "docs/numbers.csv": b"1,2\n3,4\n",
    "docs/log.jsonl": (
        b'{"id": 7, "text": "hello", "title": "Greeting", "tags": ["a", "b"], "more": {"x": "y"}}\n'
        b"not json\n\n[1, \"two\"]\n\"three\"\n"
    ),
    "docs/config.json": b'{"a": 1}',
    "src/main.py": b"def main():\n    pass\n",
    "src/script": b"#!/usr/bin/env -S python3 -u\nprint(1)\n",
    "src/Makefile": b"all:\n\techo\n",
    "src/app.min.js": b"var a",
    "src/made.go": b"// Code generated by tool. DO NOT EDIT.\npackage a\n",
    "src/long.js": b"var a=" + b"1+" * 4000,
    "src/unknown": b"some words in a file of no kind\n",
    "src/data": bytes(range(256)) * 20,
    "src/.env": b"KEY=1",
    "src/photo.png": b"\x89PNG",
    "src/empty.txt": b"",
    "src/blank.txt": b" \n\t ",
    "mail/in/one.eml": _MAIL,
    "mail/in/page.eml": _HTML_MAIL,
    "mail/box.mbox": _MBOX,
    "mail/shifts.eml": (
        b"Subject: s\nContent-Type: text/plain; charset=iso-2022-jp\n"
        b"Content-Transfer-Encoding: base64\n\n"
        + base64.encodebytes(("\u65e5\u672c\u8a9e " * 40 + "\nend").encode("iso-2022-jp"))
    ),
    "mail/apple.emlx": b"%d  \n%s<?xml?>" % (len(_MAIL), _MAIL),
    **{
        f"mail/{subtype}-{charset}-{encoding}.eml": _encoded_mail(subtype, charset, encoding)
        for subtype in ("plain", "html")
        for charset in ("utf-8", "iso-8859-1")
        for encoding in ("8bit", "quoted-printable", "base64")
    },
    "mail/laid-out.eml": (
        b"Subject: s\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>Some long=\n words\nare here</p><PRE class=3Dx>a  =\nb  c\n d</pre ><p>and behind=\n"
        b" it are=\nothers</p><xmp>e  =\nf\n"
    ),
    "mail/none.eml": b"just words\n\nno headers",
    "chat/WhatsApp Chat with Ann.txt": (
        b"31.12.23, 22:00 - Ann: Happy new year\n31.12.23, 22:01 - Bob: You too\n"
    ),
    "chat/american.txt": (
        b"[12/31/23, 10:00:00 PM] Ann: Happy new year\nto all\n[1/2/24, 9:00:00 AM] Bob: You\n"
    ),
    "chat/untold.txt": b"02/03/23, 22:00 - Ann: Hello\n02/03/23, 22:01 - Bob: Hi\n",
}  # fmt: skip


def _documents(path, data, folder):
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    try:
        found = read_file(place)
    except GossamerError as error:
        return {"reason": type(error).__name__, "message": str(error)}
    return [
        {
            "text": one.text.decode(),
            "kind": one.kind,
            "markup": one.markup,
            "title": one.title,
            "unit": one.unit,
            "places": one.places,
            "key": one.key,
            "metadata": dict(one.metadata),
            "anchors": one.anchors,
            "hasSlugs": one.has_slugs,
        }
        for one in found
    ]


def main():
    """Write the file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        cases = [
            {
                "path": path,
                "data": base64.b64encode(data).decode(),
                "found": _documents(path, data, Path(folder)),
            }
            for path, data in _FILES.items()
        ]
    (Path(__file__).parent / "data" / "readers.json").write_text(
        json.dumps(cases, indent=0), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
