#!/usr/bin/env python3
"""gotrace view on a terminal: the page and its trace, served to this computer.

    tests/view/serve.py

In Chromium and Firefox the page draws what the page of -o draws. The server answers nothing to a wrong Host, token,
method or path, and parts of the trace only as they are; the page has the trace's index, if it is one; slow and silent clients hold up nobody, and
silent ones are dropped. It ends a minute after the page has been closed, and on SIGINT. A page whose server has ended says so.
"""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(sys.path[0], "../tool"))
import browser  # noqa: E402
import made_trace  # noqa: E402

TOOL, PAGE = "build/examples/gotrace", "build/gotrace-view.html"
PICTURE = "return gotrace.visible().then((all) => JSON.stringify([all, gotrace.app.data.events, gotrace.app.data.format]))"
PAGE_CLOSED = 60  # seconds
PATIENCE = 20  # seconds that a client has
MOST_CLIENTS = 64
REQUEST = 4095  # bytes that a request has at most


class Server:
    def __init__(self, *arguments):
        # What is ignored, as in a background job, is ignored by the tool too.
        self.process = subprocess.Popen([TOOL, "view", "--no-open", *arguments], stdout=subprocess.PIPE,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        line = self.process.stdout.readline().decode()
        self.address, port, self.token = re.match(r"(http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/) shows the traces?", line).groups()
        self.port = int(port)
        self.host = "127.0.0.1:" + port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def send(self, data):
        """The answer to bytes: its status, headers and body."""
        with self.connect() as s:
            s.sendall(data)
            answer = b""
            while True:
                try:
                    more = s.recv(1 << 16)
                except ConnectionResetError:
                    break
                if not more:
                    break
                answer += more
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]) if head else 0, head.decode(), body

    def ask(self, name, *headers, method="GET", host=None, base=None):
        lines = ["%s %s%s HTTP/1.1" % (method, "/%s/" % self.token if base is None else base, name)]
        lines += [] if host == "" else ["Host: " + (host or self.host)]
        return self.send("\r\n".join([*lines, *headers, "", ""]).encode())


def check_answers(server, data):
    for name, method in ("", "GET"), ("trace0", "GET"), ("", "HEAD"), ("trace0", "HEAD"):
        status, head, body = server.ask(name, method=method)
        size = int(re.search(r"Content-Length: (\d+)", head).group(1))
        assert status == 200 and len(body) == (size if method == "GET" else 0), (name, method, status)
        assert "Cache-Control: no-store" in head and "Access-Control" not in head, head
        assert name != "trace0" or method != "GET" or body == data
    assert server.ask("", host="localhost:%d" % server.port)[0] == 200
    for host in "example.org", "127.0.0.1", "127.0.0.1:%d.example.org" % server.port, "", "localhost", "%s\r\nHost: %s" % (server.host, server.host):
        assert server.ask("trace0", host=host)[0] == 403, host
    for method in "POST", "PUT", "OPTIONS", "get", "":
        assert server.ask("trace0", method=method)[0] == 405, method
    token = server.token
    for base, name in (("/", ""), ("/", "trace0"), ("/%s" % token[:-1], "/trace"), ("/%s" % token[::-1], "/trace"), ("/%s/" % token, "../trace0"),
                       ("/%s/" % token, "trace0/"), ("/%s/" % token, "trace"), ("/%s/" % token, "trace0?x"), ("//%s/" % token, "trace0"), ("", "trace0"),
                       ("/%s/" % token, "%74race0"), (server.address, "trace0"), ("/%s/" % token, "trace1"), ("/%s/" % token, "trace00"), ("/%s/" % token, "trace" + "0" * 20)):
        assert server.ask(name, base=base)[0] == 404, (base, name)
    for first, last in (0, 0), (0, 15), (5, 10), (len(data) - 1, len(data) - 1), (len(data) - 10, len(data) + 100), (0, 10 ** 17):
        status, head, body = server.ask("trace0", "Range: bytes=%d-%d" % (first, last))
        assert status == 206 and body == data[first:last + 1], (first, last, status)
        assert "Content-Range: bytes %d-%d/%d" % (first, min(last, len(data) - 1), len(data)) in head, head
    for text in "bytes=5-4", "bytes=%d-%d" % (len(data), len(data)), "bytes=-5", "bytes=5-", "bytes=0-1,3-4", "bytes=a-b", "bits=0-1", "", "bytes=0-" + "9" * 40:
        assert server.ask("trace0", "Range: " + text)[0] == 416, text
    # Two ranges are none.
    assert server.ask("trace0", "Range: bytes=0-1", "Range: bytes=2-3")[::2] == (200, data)
    assert server.ask("", method="HEAD", base="/favicon.ico")[0] == server.ask("", base="/favicon.ico")[0] == 204
    assert server.ask("alive", method="HEAD")[0] == 404
    for junk in b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", os.urandom(200).replace(b"\0", b"x") + b"\r\n\r\n":
        assert server.send(junk)[0] in (400, 404, 405), junk
    assert server.send(b"GET /\0/ HTTP/1.1\r\n\r\n")[0] == 0
    for size, status in (REQUEST, 431), (REQUEST - 1, 404):
        end = b"" if status == 431 else b"\r\n\r\n"
        begin = b"GET / HTTP/1.1\r\nHost: %s\r\nX: " % server.host.encode()
        assert server.send(begin + b"x" * (size - len(begin) - len(end)) + end)[0] == status, size


def holds(server):
    """A connection that tells the server that a page is there."""
    s = server.connect()
    s.sendall(b"GET /%s/alive HTTP/1.1\r\nHost: %s\r\n\r\n" % (server.token.encode(), server.host.encode()))
    assert s.recv(1 << 12).startswith(b"HTTP/1.1 200 ")
    return s


def check_pages(server, data):
    """Pages that are there never give way, and what they say more is not listened to. When the last one may be gone, it is heard again."""
    pages = [holds(server) for _ in range(MOST_CLIENTS)]
    assert server.ask("trace0")[0] == 0
    for s in pages:
        s.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert server.ask("trace0")[0] == 0
    pages.pop().close()
    for _ in range(100):
        status, _, body = server.ask("trace0")
        if status:
            break
        time.sleep(0.05)
    assert (status, body) == (200, data)
    for s in pages:
        s.settimeout(0.01)
        try:
            assert s.recv(1) is None, "the server says more"
        except TimeoutError:
            s.close()


def check_large(directory):
    """One trace of two is larger than what the system keeps for a client. A client that takes little of it at a time gets all, and others meanwhile theirs."""
    small, large = os.path.join(directory, "small.trace"), os.path.join(directory, "large.trace")
    data = made_trace.many_messages(2).data()
    for path, more in (small, b""), (large, os.urandom(1 << 20) * 40):
        with open(path, "wb") as file:
            file.write(data + more)
    with open(large, "rb") as file:
        all_of_it = file.read()
    with Server(small, large) as server, server.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        s.sendall(b"GET /%s/trace1 HTTP/1.1\r\nHost: %s\r\n\r\n" % (server.token.encode(), server.host.encode()))
        got = b""
        while b"\r\n\r\n" not in got:
            got += s.recv(1000)
        for _ in range(3):
            got += s.recv(1000)
            assert server.ask("trace0")[2] == data
            assert server.ask("trace1", "Range: bytes=%d-" % len(data) + "%d" % (len(data) + 9))[2] == all_of_it[len(data):len(data) + 10]
        rest = bytearray(got.partition(b"\r\n\r\n")[2])
        while more := s.recv(1 << 20):
            rest += more
        assert rest == all_of_it


def check_slow(server, data):
    """Clients that say nothing, or take nothing, while another one asks."""
    held = [server.connect() for _ in range(100)]
    for i, s in enumerate(held):
        if i % 2:
            s.sendall(b"GET /" if i % 4 == 1 else b"GET /%s/trace0 HTTP/1.1\r\nHost: %s\r\n\r\n" % (server.token.encode(), server.host.encode()))
    begin = time.time()
    for _ in range(20):
        assert server.ask("trace0")[2] == data
    assert time.time() - begin < 5, time.time() - begin
    for s in held:
        s.close()
    assert server.ask("trace0", "Range: bytes=0-3")[2] == data[:4]


def check_silent(server):
    with server.connect() as s:
        begin = time.time()
        s.settimeout(PATIENCE + 60)
        assert s.recv(1) == b"" and time.time() - begin > PATIENCE - 1, time.time() - begin


def check_terminal(trace):
    """Without options, on a terminal, it also starts the browser."""
    with tempfile.TemporaryDirectory() as directory:
        log, program = os.path.join(directory, "log"), os.path.join(directory, "browser")
        with open(program, "w") as file:
            file.write('#!/bin/sh\necho "$1" >%s.part && mv %s.part %s\n' % (log, log, log))
        os.chmod(program, 0o700)
        parent, child = pty.openpty()
        process = subprocess.Popen([TOOL, "view", trace], stdin=subprocess.DEVNULL, stdout=child, env={**os.environ, "BROWSER": program})
        os.close(child)
        shown = b""
        while b"\n" not in shown:
            shown += os.read(parent, 4096)
        end = time.time() + 30
        while not os.path.exists(log) and time.time() < end:
            time.sleep(0.05)
        with open(log) as file:
            assert shown.decode().startswith(file.read().strip() + " shows the trace until"), shown
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM
        os.close(parent)


def picture(b, address, name):
    b.open(address)
    b.wait_for("window.gotrace && gotrace.app.answered && gotrace.app.data.name === '%s'" % name)
    b.frame()
    return b.run(PICTURE)


def indexed(directory):
    """A trace that is damaged in the middle, where only who reads it from its beginning on comes by; it has an index."""
    trace = os.path.join(directory, "indexed.trace")
    data = bytearray(made_trace.many_messages(40).data())
    with open(trace, "wb") as file:
        file.write(data)
    subprocess.run([TOOL, "index", trace], check=True, stdout=subprocess.DEVNULL)
    middle = len(data) // 2
    data[middle:middle + 100000] = bytes([255] * 100000)
    with open(trace, "wb") as file:
        file.write(data)
    return trace


def check_index(b, trace):
    """The page reads a part from the index's moment before it on."""
    part = ["--from", "35ms", "--to", "36ms"]
    with Server(*part, trace) as server:
        with open(trace + ".gtx", "rb") as file:
            assert server.ask("index0")[2] == file.read()
        assert [server.ask(name)[0] for name in ("index1", "index", "index00", "indexes")] == [404] * 4
        b.open(server.address)
        b.wait_for("window.gotrace && gotrace.app.answered")
        begin, end, marks = b.run("const {data, model} = gotrace.app; return [data.begin, data.end, model.marks.length]")
        assert (begin, end, marks) == (35000000, 36000000, 2000), (begin, end, marks)
        assert "not known" not in b.run("return document.getElementById('findings').textContent")
        b.open("about:blank")
    # One that does not fit is told.
    with Server("--index", trace, "--from", "1ms", "--to", "2ms", trace) as server:
        b.open(server.address)
        b.wait_for("document.querySelector('#findings p')?.textContent.startsWith('the index is not an index of this trace')")
        b.open("about:blank")
    other = trace + ".other"
    os.rename(trace + ".gtx", other)
    try:
        with Server(*part, trace) as server:
            assert server.ask("index0")[0] == 404
            b.open(server.address)
            b.wait_for("document.getElementById('opening').textContent.startsWith('indexed.trace: ') || window.gotrace")
            assert b.run("return window.gotrace === undefined")
            b.open("about:blank")
        with Server("--index", other, *part, trace) as server:
            b.open(server.address)
            b.wait_for("window.gotrace && gotrace.app.answered")
            b.open("about:blank")
    finally:
        os.rename(other, trace + ".gtx")


def check_no_index(b, trace):
    """What is no index, though it has its name, is not used: a folder, or an empty file."""
    name = trace + ".gtx"
    for make, remove in (os.mkdir, os.rmdir), (lambda path: open(path, "w").close(), os.remove):
        make(name)
        try:
            with Server(trace) as server:
                assert server.ask("index0")[0] == 404
                assert picture(b, server.address, "a.trace")
                b.open("about:blank")
        finally:
            remove(name)


def check_several(b, trace, damaged):
    """Of two traces each is shown; of one that is broken what comes before the error, which is told with its name."""
    with Server(trace, damaged) as server:
        b.open(server.address)
        b.wait_for("window.gotrace && gotrace.app.answered")
        titles, said = b.run("return [gotrace.app.data.files.map((file) => file.title).sort(), document.querySelector('#findings p').textContent]")
        assert titles == ["a.trace", "indexed.trace"] and "indexed.trace: " in said and "; kept what comes before: " in said, (titles, said)
        b.open("about:blank")
    with Server(trace, trace) as server:
        b.open(server.address)
        b.wait_for("window.gotrace && gotrace.app.answered")
        assert b.run("return [gotrace.app.data.files.map((file) => file.title), gotrace.app.data.files.map((file) => file.trace.file.url.split('/').pop())]") == [["a.trace", "a.trace (2)"], ["trace0", "trace1"]]
        b.open("about:blank")


def check_gone(b, trace):
    """A page of which the server has ended shows what it has read, and tells that it cannot be asked."""
    with Server(trace) as server:
        assert picture(b, server.address, "a.trace")
    b.run("const {data} = gotrace.app; gotrace.app.setRange(data.begin, (data.begin + data.end) / 2)")
    b.wait_for("document.getElementById('panel').textContent.includes('gotrace view, which served the trace to this page, has ended: start it again')")
    assert "Error" not in b.run("return document.getElementById('panel').textContent")
    b.open("about:blank")


def main():
    if not os.path.exists(PAGE):
        print("needs clang, lld, wasi-libc and libclang-rt-dev-wasm32, to build the page (make deps)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        trace, page = os.path.join(directory, "a.trace"), os.path.join(directory, "a.html")
        subprocess.run(["build/examples/scheduler", "-o", trace, "-f", "1.23", "examples"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([TOOL, "view", "-o", page, trace], check=True)
        with open(trace, "rb") as file:
            data = file.read()
        with Server(trace) as server:
            check_answers(server, data)
            check_slow(server, data)
            check_pages(server, data)
            check_silent(server)
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(20) == -signal.SIGINT
        check_terminal(trace)
        check_large(directory)
        damaged = indexed(directory)
        for kind in browser.all_there():
            with Server(trace) as server, browser.session(kind) as b:
                assert picture(b, server.address, "a.trace") == picture(b, "file://" + page, "a.trace")
                b.open("about:blank")  # the page is closed
                closed = time.time()
                if kind is browser.Chromium:
                    assert server.process.wait(PAGE_CLOSED + 30) == 0
                    assert time.time() - closed > PAGE_CLOSED - 5, time.time() - closed
            with browser.session(kind) as b:
                check_index(b, damaged)
                check_no_index(b, trace)
                check_several(b, trace, damaged)
            with kind(1280, 800) as b:  # the browser reports that it cannot connect
                check_gone(b, trace)
            print(kind.name)


if __name__ == "__main__":
    main()
