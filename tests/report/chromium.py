"""Drives a headless Chromium over its debugging pipe: no socket, no package but the browser.

    with Browser() as browser:
        page = browser.open(path, width=1280, height=900, dark=True)
        page.evaluate("document.title")
"""
import base64
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
               None)
TIMEOUT_S = 60


class Browser:
    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def place_pipes():  # the browser reads descriptor 3 and writes 4
            for source, target in ((to_browser, 13), (from_browser, 14)):
                os.dup2(source, target)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--no-first-run",
             "--disable-dev-shm-usage", "--force-color-profile=srgb", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.events = []
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except Exception:  # it is gone, or does not answer
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        for _ in range(20):  # its helpers may still be writing
            shutil.rmtree(self.profile.name, ignore_errors=True)
            if not os.path.exists(self.profile.name):
                break
            time.sleep(.1)

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, session=None, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        if method == "Browser.close":
            return None
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1280, height=900, dark=False, mobile=False):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)
        page.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        page.send("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        page.wait_for("Page.loadEventFired")
        return page


class Page:
    def __init__(self, browser, session):
        self.browser = browser
        self.session = session

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def mine(self):
        return [e for e in self.browser.events if e.get("sessionId") == self.session]

    def wait_for(self, method):
        deadline = time.monotonic() + TIMEOUT_S
        while not any(event["method"] == method for event in self.mine()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"no {method}")
            self.browser.events.append(self.browser.receive())

    def evaluate(self, expression):
        """The value of an expression; a promise is waited for."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def count(self, selector):
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def texts(self, selector):
        return self.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})]"
                             ".map((node) => node.textContent)")

    def text(self, selector):
        """Of the first such element."""
        return self.texts(selector)[0]

    def data(self):
        """What the page was made of."""
        return json.loads(self.text("#data"))

    def complaints(self):
        """What the console or the log says, and exceptions, in words."""
        words = []
        for event in self.mine():
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                words.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded":
                words.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                words.append(str(parameters["args"]))
        return words

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.mine()
                if event["method"] == "Network.requestWillBeSent"]

    def blocked(self):
        """Why requests were not sent."""
        return [event["params"].get("blockedReason") for event in self.mine()
                if event["method"] == "Network.loadingFailed"]

    def screenshot(self, path, whole=True):
        parameters = {"format": "png"}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters |= {"captureBeyondViewport": True,
                           "clip": {**size, "scale": 1}}
        image = self.send("Page.captureScreenshot", **parameters)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(image))
