"""Drives Chromium (by chromedriver's HTTP interface) and Firefox (by its Marionette protocol) with the standard library.

    with browser.Chromium(1280, 800) as b:
        b.open("file:///tmp/page.html")
        b.run("return document.title")
        b.wait_for("window.gotrace !== undefined")
        b.keys("w"); b.mouse((400, 300), "down", "up"); b.screenshot("page.png")

Keys and mouse are the browser's own input, not events made by a script. `errors()` returns the errors and warnings on
the console since the page was opened, including those while it loaded.
"""

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# WebDriver's codes for keys.
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014",
        "ArrowDown": "\ue015", "Home": "\ue011", "Control": "\ue009", "Shift": "\ue008"}


class Browser:
    def __init__(self, width=1280, height=800, scale=1):
        self.width, self.height, self.scale = width, height, scale
        self.process = None

    def __enter__(self):
        self.directory = tempfile.mkdtemp()
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.close()
        self.end()

    def end(self):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def open(self, url):
        self.errors()  # discards those of the previous page
        self.navigate(url)

    def wait_for(self, condition, seconds=120):
        end = time.time() + seconds
        while not self.run("return Boolean(%s)" % condition):
            if time.time() > end:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def open_page(self, page):
        """Opens a page of gotrace view, and waits until it shows its trace and what is wrong."""
        self.open("file://" + page)
        self.wait_for("window.gotrace && gotrace.app.answered")
        height = None
        while height != (height := self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(gotrace.app.painter.height))))")):  # the findings' bar takes its room when the browser draws
            self.frame()

    def drop(self, *files, shift=False, first=""):
        """Drops files, of which name and contents are given, on the page, right after a script."""
        self.run(first + """
          const files = new DataTransfer();
          for (const [name, data] of arguments[0]) files.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
          document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: files, bubbles: true, cancelable: true, shiftKey: arguments[1]}));""",
                 [[name, base64.b64encode(data).decode()] for name, data in files], shift)

    def frame(self):
        """Waits until the page has drawn the requested view with all details."""
        self.wait_for("gotrace.state().level === gotrace.state().wanted && !gotrace.app.painter.requested")

    def keys(self, *keys):
        """Presses keys one after another; they go to the focused element."""
        self.perform("key", {}, [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")])

    def mouse(self, *steps):
        """Moves the mouse over the picture: (x, y) from its corner, "down", "up"."""
        left, top = self.corner()
        actions = []
        for step in steps:
            if isinstance(step, tuple):
                actions.append({"type": "pointerMove", "x": int(left + step[0]), "y": int(top + step[1]), "duration": 0, "origin": "viewport"})
            else:
                actions.append({"type": "pointer" + step.capitalize(), "button": 0})
        self.perform("pointer", {"parameters": {"pointerType": "mouse"}}, actions)

    def wheel(self, x, y, by, key=None):
        """Turns the wheel over the picture, while a key is held."""
        left, top = self.corner()
        pause = {"type": "pause"}
        turn = {"type": "scroll", "x": int(left + x), "y": int(top + y), "deltaX": 0, "deltaY": by, "duration": 0, "origin": "viewport"}
        sources = [{"type": "wheel", "id": "wheel", "actions": [pause, turn, pause] if key else [turn]}]
        if key:
            sources.append({"type": "key", "id": "key", "actions": [{"type": "keyDown", "value": KEYS[key]}, pause, {"type": "keyUp", "value": KEYS[key]}]})
        self.input({"actions": sources})

    def touch(self, *fingers):
        """Puts fingers on the picture, moves each along its list of points (x, y), and lifts them."""
        left, top = self.corner()
        sources = []
        for number, points in enumerate(fingers):
            moves = [{"type": "pointerMove", "x": int(left + x), "y": int(top + y), "duration": 20, "origin": "viewport"} for x, y in points]
            sources.append({"type": "pointer", "id": "finger%d" % number, "parameters": {"pointerType": "touch"},
                            "actions": [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]})
        self.input({"actions": sources})

    def corner(self):
        return self.run("const box = document.getElementById('canvas').getBoundingClientRect(); return [box.left, box.top]")

    def perform(self, kind, more, actions):
        self.input({"actions": [dict(more, type=kind, id=kind, actions=actions)]})


class Chromium(Browser):
    name = "Chromium"

    @staticmethod
    def is_there():
        try:  # chromedriver connects to Chromium by this name
            socket.getaddrinfo("localhost", None)
        except OSError:
            return False
        return shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("chromium-browser"))

    def start(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.process = subprocess.Popen(["chromedriver", "--port=%d" % port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = "http://127.0.0.1:%d/session" % port
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                            "--force-device-scale-factor=%g" % self.scale, "--window-size=%d,%d" % (self.width, self.height),
                            "--user-data-dir=" + self.directory]}
        wanted = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
                                                   "goog:loggingPrefs": {"browser": "ALL"}}}}
        for attempt in range(200):
            try:
                self.session = self.call("POST", "", wanted)["sessionId"]
                break
            except (ConnectionError, urllib.error.URLError):
                if attempt == 199:
                    raise
                time.sleep(0.1)
        self.base += "/" + self.session

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.loads(answer.read())["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.loads(error.read())["value"]["message"]) from None

    def navigate(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def input(self, actions):
        self.call("POST", "/actions", actions)

    def choose(self, selector, path):
        """Gives a file to an element in which a user would choose it."""
        element = self.call("POST", "/element", {"using": "css selector", "value": selector})
        self.call("POST", "/element/%s/value" % list(element.values())[0], {"text": path})

    def errors(self):
        return [line["message"] for line in self.call("POST", "/se/log", {"type": "browser"}) if line["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        try:
            self.call("DELETE", "")
        except (RuntimeError, OSError):
            pass


class Firefox(Browser):
    name = "Firefox"

    @staticmethod
    def is_there():
        return shutil.which("firefox-esr") or shutil.which("firefox")

    def start(self):
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with open(os.path.join(self.directory, "user.js"), "w", encoding="utf-8") as file:
            file.write('user_pref("marionette.port", %d);\nuser_pref("layout.css.devPixelsPerPx", "%g");\n'
                       'user_pref("browser.shell.checkDefaultBrowser", false);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                       % (port, self.scale))
        environment = dict(os.environ, HOME=self.directory, MOZ_HEADLESS_WIDTH=str(self.width), MOZ_HEADLESS_HEIGHT=str(self.height))
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", self.directory],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
        for attempt in range(600):
            try:
                self.connection = socket.create_connection(("127.0.0.1", port), timeout=300)
                break
            except OSError:
                if attempt == 599:
                    raise
                time.sleep(0.1)
        self.number = 0
        self.receive()
        self.call("WebDriver:NewSession", {})
        self.call("WebDriver:SetWindowRect", {"width": self.width, "height": self.height})

    def receive(self):
        size = b""
        while not size.endswith(b":"):
            size += self.connection.recv(1)
        left, parts = int(size[:-1]), []
        while left:
            parts.append(self.connection.recv(left))
            left -= len(parts[-1])
        return json.loads(b"".join(parts))

    def call(self, name, parameters):
        self.number += 1
        message = json.dumps([0, self.number, name, parameters]).encode()
        self.connection.sendall(b"%d:" % len(message) + message)
        answer = self.receive()
        if answer[2]:
            raise RuntimeError(answer[2]["message"])
        return answer[3]

    def navigate(self, url):
        self.call("WebDriver:Navigate", {"url": url})

    def run(self, script, *arguments):
        # Access to the page's own objects, which a sandbox would hide.
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments), "sandbox": None, "newSandbox": False})["value"]

    def input(self, actions):
        self.call("WebDriver:PerformActions", actions)

    def choose(self, selector, path):
        """Gives a file to an element in which a user would choose it."""
        element = self.call("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        self.call("WebDriver:ElementSendKeys", {"id": list(element.values())[0], "text": path})

    def errors(self):
        self.call("Marionette:SetContext", {"value": "chrome"})
        found = self.call("WebDriver:ExecuteScript", {"args": [], "script": """
            const found = Services.console.getMessageArray().filter((message) => message instanceof Ci.nsIScriptError &&
              (/^file:/.test(message.sourceName) || /Content-Security-Policy/.test(message.errorMessage)));
            Services.console.reset();
            return found.map((message) => message.toString());"""})["value"]
        self.call("Marionette:SetContext", {"value": "content"})
        return found

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False})["value"]))

    def close(self):
        try:
            self.call("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.connection.close()
        except (RuntimeError, OSError, ValueError):
            pass


@contextlib.contextmanager
def session(kind, *size):
    """A browser in which the page may not report errors."""
    with kind(*(size or (1280, 800))) as b:
        yield b
        errors = b.errors()
        assert not errors, errors


TOOL = "build/examples/gotrace"


def tool(*arguments, status=0):
    done = subprocess.run([TOOL, *arguments], capture_output=True, check=False)
    assert done.returncode == status, (arguments, done)
    return done.stdout.decode(), done.stderr.decode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


@contextlib.contextmanager
def page_of(made, name):
    """The path of a page with a trace of made_trace.py, which the page calls by this name."""
    with tempfile.TemporaryDirectory() as directory:
        trace, page = os.path.join(directory, name), os.path.join(directory, "page.html")
        with open(trace, "wb") as file:
            file.write(made.data())
        tool("view", "-o", page, trace)
        yield page


def all_there():
    return [b for b in (Chromium, Firefox) if b.is_there()]


def needed():
    """The same; without any, the test is skipped."""
    browsers = all_there()
    if not browsers:
        print("no browser is installed, so nothing is tested")
        sys.exit(77)
    return browsers
