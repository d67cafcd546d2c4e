"""One index, two places: a server holds it, an edge follows it, answers alone and sends a text."""

import threading
from pathlib import Path

from uvicorn import Config, Server

import gossamer
from gossamer.server.app import create_app

server_index = gossamer.Index.create("server.index")
server_index.add_texts(
    [
        {"id": "flat", "text": "The lease is due on the first of March."},
        {"id": "bread", "text": "The banana bread needs an hour in the oven."},
    ]
)

# `gossamer serve server.index` does this; here it runs beside us, on any free port.
server = Server(Config(create_app(Path("server.index")), port=0, log_level="error"))
thread = threading.Thread(target=server.run)
thread.start()
while not server.started:
    thread.join(0.01)
url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

# The first pull brings everything, the second what changed.
edge = gossamer.Index.follow(url, "edge.index")
server_index.add_texts([{"id": "flat", "text": "The lease is due on the first of May."}])
report = edge.pull()
print(f"{report.kind} from version {report.from_version} to {report.version}")
print(edge.search("when do I have to pay for the apartment?", k=1)[0].text)

# What is written on the edge goes to the server, and comes back from there.
for result in edge.push(texts=[{"id": "todo", "text": "Pay the rent."}]).results:
    print(result.id, result.outcome)

# Without the server the edge still answers.
server.should_exit = True
thread.join()
print(edge.search("what is to be done?", k=1)[0].text)
