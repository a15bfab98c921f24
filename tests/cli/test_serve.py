#!/usr/bin/env python3
"""Predictions over HTTP: to the bits of `dtnn-run predict`, whoever is served at the same time; and what becomes of
clients that are wrong, slow, too many or not let in."""

import concurrent.futures
import http.client
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arrays import Array, npy_bytes, read_npz, write_npz
from commands import DTNN_RUN, CommandTest, limit

TOKEN = "a-token-of-many-characters"
PIXELS = 28 * 28
SINGLE = struct.Struct("<f")


def single(value):
    """The nearest number of 32 bits."""
    return SINGLE.unpack(SINGLE.pack(value))[0]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=limit(30))
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Server:
    """`dtnn-run serve`, ended at the end of the test."""

    def __init__(self, test, *arguments, run="run", port=True):
        command = [DTNN_RUN, "serve", run, *(("--port", "0") if port else ()), *arguments]
        environment = dict(os.environ, NO_COLOR="1", DTNN_TUNING="", OMP_NUM_THREADS="1")
        self.process = subprocess.Popen(command, cwd=test.folder, env=environment, stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.kill)
        self.said = self.process.stderr.readline()
        found = re.search(r" at (?:http://(.+):(\d+)|unix:(\S+)), in batches of (\d+) samples", self.said)
        if not found:
            raise AssertionError(self.said + self.process.stderr.read())
        self.host, self.port, self.path, self.batch = found[1], int(found[2] or 0), found[3], int(found[4])
        self.host = (self.host or "").strip("[]")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def end(self, which=signal.SIGTERM):
        """The exit code after the signal."""
        self.process.send_signal(which)
        return self.process.wait(timeout=limit(60))

    def connection(self):
        return http.client.HTTPConnection(self.host, self.port, timeout=limit(30))

    def ask(self, method, path, body=None, headers=(), connection=None):
        """(status, headers, body) of one request."""
        mine = connection or self.connection()
        mine.request(method, path, body, dict(headers))
        answer = mine.getresponse()
        data = answer.read()
        if connection is None:
            mine.close()
        return answer.status, answer.headers, data

    def get(self, path, **more):
        status, _, data = self.ask("GET", path, **more)
        return status, json.loads(data)

    def infer(self, request, model="tiny", **more):
        body = request if isinstance(request, (str, bytes)) else json.dumps(request)
        status, _, data = self.ask("POST", f"/v2/models/{model}/infer", body, **more)
        return status, json.loads(data)

    def metrics(self):
        """name{labels} -> number"""
        text = self.ask("GET", "/metrics")[2].decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")}


def tensor(pixels, name="x", shape=None, datatype="FP32"):
    return {"name": name, "datatype": datatype, "shape": shape or [len(pixels) // PIXELS, 1, 28, 28], "data": pixels}


def numbers(answer):
    (output,) = answer["outputs"]
    return output["data"]


class Serve(CommandTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(7)
        self.plan = self.compile()
        self.expect(self.dtnn_run(self.plan, "--output", "run", "--progress", "none"), 0)

    def pixels(self, samples):
        return [single(self.random.random()) for _ in range(samples * PIXELS)]

    def predicted(self, array, run="run"):
        """What `dtnn-run predict` says of an array."""
        with open(self.path("x.npy"), "wb") as file:
            file.write(npy_bytes(array))
        self.expect(self.dtnn_run("predict", run, "--input", "x.npy", "-o", "p.npz"), 0)
        return read_npz(self.path("p.npz"))["probabilities"].data

    def image_array(self, pixels, descr="<f4"):
        return Array(descr, (len(pixels) // PIXELS, 1, 28, 28), pixels)

    def refused(self, answer, status, *texts):
        self.assertEqual(answer[0], status, answer)
        for text in texts:
            self.assertIn(text, answer[1]["error"])

    def test_answers_are_the_predictions_of_predict(self):
        server = Server(self)
        self.assertEqual(server.batch, 64)
        for samples in (1, 3, 64, 100):
            pixels = self.pixels(samples)
            wanted = self.predicted(self.image_array(pixels))
            status, answer = server.infer({"id": "seven", "inputs": [tensor(pixels)]})
            self.assertEqual(status, 200, answer)
            self.assertEqual((answer["model_name"], answer["id"]), ("tiny", "seven"))
            (output,) = answer["outputs"]
            self.assertEqual((output["name"], output["datatype"], output["shape"]), ("predictions", "FP32", [samples, 10]))
            self.assertEqual([single(number) for number in output["data"]], wanted)
        # Lists in lists, an axis of one left out, numbers in any form, and bytes, which are divided by 255.
        rows = [pixels[28 * i:28 * i + 28] for i in range(28)]
        nested = server.infer({"inputs": [tensor([rows], shape=[1, 28, 28])]})[1]
        self.assertEqual(numbers(nested), numbers(answer)[:10])
        text = json.dumps({"inputs": [tensor([0])]}).replace("[0]", "[ " + " ,\n".join(f"{p:.20e}" for p in pixels[:PIXELS]) + "\t]")
        text = text.replace("[0, 1", "[1, 1")
        self.assertEqual(numbers(server.infer(text)[1]), numbers(answer)[:10])
        data = [self.random.randrange(256) for _ in range(PIXELS)]
        wanted = self.predicted(self.image_array(data, "|u1"))
        for datatype in ("UINT8",):
            got = server.infer({"inputs": [tensor(data, datatype=datatype)]})[1]
            self.assertEqual([single(number) for number in numbers(got)], wanted)
        self.assertEqual(server.infer({"inputs": [tensor([], shape=[0, 1, 28, 28])]})[1]["outputs"][0]["shape"], [0, 10])

    def test_binary_tensors(self):
        server = Server(self)
        pixels = self.pixels(5)
        wanted = self.predicted(self.image_array(pixels))
        elements = struct.pack(f"<{len(pixels)}f", *pixels)
        for outputs in ({"parameters": {"binary_data_output": True}},
                        {"outputs": [{"name": "predictions", "parameters": {"binary_data": True}}]}, {}):
            head = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [5, 1, 28, 28],
                                           "parameters": {"binary_data_size": len(elements)}}], **outputs}).encode()
            length = {"Inference-Header-Content-Length": str(len(head))}
            status, headers, data = server.ask("POST", "/v2/models/tiny/infer", head + elements, length)
            self.assertEqual(status, 200, data)
            if not outputs:
                self.assertEqual([single(number) for number in numbers(json.loads(data))], wanted)
                continue
            cut = int(headers["Inference-Header-Content-Length"])
            (output,) = json.loads(data[:cut])["outputs"]
            self.assertEqual(output["parameters"]["binary_data_size"], 5 * 10 * 4)
            self.assertEqual(list(struct.unpack("<50f", data[cut:])), wanted)
        # In JSON, out in binary.
        status, headers, data = server.ask("POST", "/v2/models/tiny/infer", json.dumps(
            {"inputs": [tensor(pixels)], "parameters": {"binary_data_output": True}}))
        self.assertEqual(list(struct.unpack("<50f", data[int(headers["Inference-Header-Content-Length"]):])), wanted)

        def ask(size, header, body):
            request = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [5, 1, 28, 28], "parameters": {"binary_data_size": size}}]}
            text = json.dumps(request).encode()
            return server.infer(text + body, headers={"Inference-Header-Content-Length": header or str(len(text))})

        self.refused(ask(len(elements), "", elements[:-1]), 400, "ends 1 bytes early")
        self.refused(ask(len(elements), "", elements + b"ab"), 400, "2 bytes are left over")
        self.refused(ask(len(elements) - 4, "", elements), 400, "`x`", "binary_data_size", "[5,1,28,28]")
        for header in ("x", "-1", str(10 ** 30), "999999"):
            self.refused(ask(len(elements), header, elements), 400, "Inference-Header-Content-Length")
        self.refused(ask(len(elements), "7", elements), 400, "not JSON")
        bad = struct.pack("<f", float("nan")) * (5 * PIXELS)
        self.refused(ask(len(elements), "", bad), 400, "the array[0]", "not a finite number")

    def test_requests_at_the_same_time_are_one_batch_and_exact(self):
        clients, rounds = 12, 6
        server = Server(self, "--batch-wait-ms", "500")
        samples = [[self.pixels(1 + i % 3) for i in range(rounds)] for _ in range(clients)]
        flat = [pixel for client in samples for pixels in client for pixel in pixels]
        wanted = iter(self.predicted(self.image_array(flat)))
        answers = [[[next(wanted) for _ in range(len(pixels) // PIXELS * 10)] for pixels in client] for client in samples]
        ready = threading.Barrier(clients)

        def client(number):
            connection = server.connection()
            connection.connect()
            got = []
            for pixels in samples[number]:
                ready.wait()
                got.append(server.infer({"inputs": [tensor(pixels)]}, connection=connection))
            connection.close()
            return got

        with concurrent.futures.ThreadPoolExecutor(clients) as pool:
            for number, got in enumerate(pool.map(client, range(clients))):
                for (status, answer), right in zip(got, answers[number]):
                    self.assertEqual(status, 200, answer)
                    self.assertEqual([single(value) for value in numbers(answer)], right)
        told = server.metrics()
        self.assertEqual(told['dtnn_requests_total{route="infer",status="200"}'], clients * rounds)
        self.assertEqual(told["dtnn_batch_samples_sum"], len(flat) // PIXELS)
        self.assertLess(told["dtnn_batch_samples_count"], clients * rounds / 2)
        self.assertEqual(told["dtnn_infer_seconds_count"], clients * rounds)
        self.assertEqual(told['dtnn_infer_seconds_bucket{le="+Inf"}'], clients * rounds)

    def test_one_bad_request_of_a_batch_is_alone_refused(self):
        server = Server(self, "--batch-wait-ms", "500")
        pixels = self.pixels(1)
        wanted = self.predicted(self.image_array(pixels))
        bodies = []
        for number in (0.5, float("inf"), 0.5):
            elements = struct.pack(f"<{PIXELS}f", *(pixels if number == 0.5 else [number] * PIXELS))
            head = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 1, 28, 28],
                                           "parameters": {"binary_data_size": len(elements)}}]}).encode()
            bodies.append((head + elements, {"Inference-Header-Content-Length": str(len(head))}))
        connections = [server.connection() for _ in bodies]
        for connection in connections:
            connection.connect()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            got = list(pool.map(lambda i: server.infer(bodies[i][0], headers=bodies[i][1], connection=connections[i]), range(3)))
        for connection in connections:
            connection.close()
        self.refused(got[1], 400, "not a finite number")
        for status, answer in (got[0], got[2]):
            self.assertEqual(status, 200, answer)
            self.assertEqual([single(value) for value in numbers(answer)], wanted)

    def test_what_it_says_of_itself(self):
        server = Server(self, "--name", "my digits")
        self.assertIn("my digits at http://127.0.0.1:", server.said)
        self.assertEqual(server.get("/v2")[1]["extensions"], ["binary_tensor_data"])
        self.assertEqual(server.get("/v2/health/live"), (200, {"live": True}))
        self.assertEqual(server.get("/v2/health/ready"), (200, {"ready": True}))
        self.assertEqual(server.get("/v2/models/my%20digits/ready"), (200, {"name": "my digits", "ready": True}))
        status, told = server.get("/v2/models/my%20digits?x=1")
        self.assertEqual(status, 200)
        self.assertEqual(told["inputs"], [{"name": "x", "datatype": "FP32", "shape": [-1, 1, 28, 28]}])
        self.assertEqual(told["outputs"], [{"name": "predictions", "datatype": "FP32", "shape": [-1, 10]}])
        self.assertEqual(told["parameters"]["meaning"], "probabilities of classes")
        self.assertEqual(told["parameters"]["classes"], [str(digit) for digit in range(10)])
        self.refused(server.get("/v2/models/tiny"), 404, "no model `tiny`", "my digits")
        self.refused(server.get("/v3"), 404, "/v2/health/live")
        status, headers, data = server.ask("GET", "/v2/models/my%20digits/infer")
        self.assertEqual((status, headers["Allow"]), (405, "POST"), data)
        text = server.ask("GET", "/metrics")[2].decode()
        for line in ("# TYPE dtnn_requests_total counter", "# TYPE dtnn_infer_seconds histogram",
                     'dtnn_requests_total{route="model",status="404"} 1', "dtnn_request_failures_total 3"):
            self.assertIn(line + "\n", text)

    def test_wrong_requests_get_their_reason(self):
        server = Server(self)
        good = tensor(self.pixels(1))
        connection = server.connection()

        def refused(request, *texts):
            self.refused(server.infer(request, connection=connection), 400, *texts)

        def without(name):
            return {key: value for key, value in good.items() if key != name}

        refused("", "not JSON")
        refused('{"inputs": [', "not JSON")
        refused('{"inputs": [{"data": [1, 2', "ends within a list")
        refused("[1]", "no JSON object")
        refused('{"inputs": [], "inputs": []}', "not JSON")
        refused("[" * 100000, "not JSON")
        refused({}, "no list `inputs`", "`x`")
        refused({"inputs": []}, "`x` is missing")
        refused({"inputs": [dict(good, name="y")]}, "no input `y`", "`x`")
        refused({"inputs": [good, good]}, "comes twice")
        refused({"inputs": [good], "id": 4}, "`id` is no text")
        refused({"inputs": [good], "outputs": [{"name": "logits"}]}, "no output `logits`", "`predictions`")
        refused({"inputs": [good], "outputs": [{"name": "predictions", "parameters": {"classification": 3}}]}, "`classification`")
        for name in ("name", "datatype", "shape", "data"):
            refused({"inputs": [without(name)]}, f"`{name}`")
        for datatype in ("BYTES", "FP16", "float"):
            refused({"inputs": [dict(good, datatype=datatype)]}, f"`{datatype}`", "FP32")
        for shape in ([1, 28, 27], [2, 1, 28, 28], [784], [1, 784], [1] * 40, [-1, 1, 28, 28], [1, "a"], [], 7, [2 ** 62, 2 ** 62],
                      [1.5, 1, 28, 28]):
            refused({"inputs": [dict(good, shape=shape)]}, "`x`", "shape")
        refused({"inputs": [tensor(good["data"], shape=[1, 14, 56])]}, "`x`", "(1,14,56)", "[1,28,28]")
        for data, text in (([*good["data"][1:]], "shape"), ([*good["data"], 1], "shape"), ("abc", "no list"), (0, "no list"),
                           ([[1, 2], [3]], "shape"), (["a"] * PIXELS, "texts"), ([None] * PIXELS, "`null`"),
                           ([[0.5]] * PIXELS, "shape"), ([{}] * PIXELS, "`{}`")):
            refused({"inputs": [dict(good, data=data)]}, text)
        for word in ("NaN", "Infinity", "1e400", "01", "1.", ".5", "+1", "1e", "0x10", "--1", "1 2", "tru"):
            body = json.dumps({"inputs": [dict(good, data=[0.5] * (PIXELS - 1) + [77])]}).replace("77]", word + "]")
            refused(body, "`x`" if word != "1e400" else "too large")
        for word, datatype in (("256", "UINT8"), ("-1", "UINT16"), ("1.5", "INT32"), ("2", "BOOL"), ("1e3", "INT64")):
            body = json.dumps({"inputs": [dict(good, datatype=datatype, data=[0] * (PIXELS - 1) + [77])]}).replace("77]", word + "]")
            if datatype == "BOOL":
                body = body.replace("[0, ", "[true, ").replace(" 0,", " false,")
            refused(body, word)
        # A name of many bytes is cut, and no control character comes back.
        refused({"inputs": [dict(good, name="\x1b[31m" + "n" * 10000)]}, "no input `\\x1B[31m")
        # The connection and the server are as good as before.
        self.assertEqual(server.infer({"inputs": [good]}, connection=connection)[0], 200)
        self.assertGreater(server.metrics()["dtnn_request_failures_total"], 50)
        connection.close()

    def test_several_inputs_by_their_names(self):
        count = 24
        arrays = {"left_train": Array("<f4", (count, 3), [single(self.random.random()) for _ in range(3 * count)]),
                  "kind_train": Array("<i4", (count,), [i % 4 for i in range(count)]),
                  "y_train": Array("<i8", (count,), [i % 2 for i in range(count)])}
        write_npz(self.path("data.npz"), {**arrays, **{name.replace("train", "test"): array for name, array in arrays.items()}})
        self.write("two.yaml", """kind: job
name: two
model:
  kind: model
  name: two
  inputs:
    left: {shape: [3]}
    kind: {shape: [1], dtype: i32, values: 4}
  layers:
    - one_hot: {name: kinds, from: kind, classes: 4}
    - concat: {from: [left, kinds]}
    - dense: {units: 2}
    - softmax
dataset: {kind: dataset, name: made, type: archive, path: data.npz, classes: 2, train_samples: 24, test_samples: 24}
training: {kind: training, name: short, optimizer: sgd, batch_size: 8, epochs: 1}
""")
        plan = self.compile(spec="two.yaml", plan="two.json")
        self.expect(self.dtnn_run(plan, "--output", "both", "--progress", "none"), 0)
        self.expect(self.dtnn_run("predict", "both", "--input", "test", "-o", "p.npz"), 0)
        wanted = read_npz(self.path("p.npz"))["probabilities"].data
        server = Server(self, run="both")
        inputs = server.get("/v2/models/two")[1]["inputs"]
        self.assertEqual([(one["name"], one["datatype"]) for one in inputs], [("left", "FP32"), ("kind", "INT32")])
        left = {"name": "left", "datatype": "FP32", "shape": [count, 3], "data": arrays["left_train"].data}
        kind = {"name": "kind", "datatype": "INT32", "shape": [count], "data": arrays["kind_train"].data}
        for order in ([left, kind], [kind, left]):
            status, answer = server.infer({"inputs": order}, model="two")
            self.assertEqual(status, 200, answer)
            self.assertEqual([single(number) for number in numbers(answer)], wanted)
        self.refused(server.infer({"inputs": [left]}, model="two"), 400, "`kind` is missing")
        self.refused(server.infer({"inputs": [left, dict(kind, data=[7] * count)]}, model="two"), 400, "`kind`", "0 to 3")
        self.refused(server.infer({"inputs": [left, dict(kind, datatype="FP32")]}, model="two"), 400, "takes integers")
        self.refused(server.infer({"inputs": [left, dict(kind, shape=[2], data=[1, 1])]}, model="two"), 400, "2 samples")

    def test_bodies_and_headers_are_bounded(self):
        server = Server(self, "--max-body", "1")
        # Refused before it is sent; a client that sends all the same still gets its answer.
        with socket.create_connection((server.host, server.port), timeout=limit(30)) as raw:
            raw.sendall(b"POST /v2/models/tiny/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n")
            answer = raw.recv(65536)
            self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        status, headers, data = server.ask("POST", "/v2/models/tiny/infer", b"x" * (2 << 20))
        self.assertEqual(status, 413, data)
        self.assertIn("--max-body", json.loads(data)["error"])
        self.assertEqual(headers["Connection"], "close")
        # One that waits to be asked for its body, as curl does.
        body = json.dumps({"inputs": [tensor(self.pixels(1))]}).encode()
        with socket.create_connection((server.host, server.port), timeout=limit(30)) as raw:
            raw.sendall(b"POST /v2/models/tiny/infer HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                        b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
            self.assertTrue(raw.recv(65536).startswith(b"HTTP/1.1 100 "))
            raw.sendall(body)
            got = b""
            while piece := raw.recv(65536):
                got += piece
            self.assertTrue(got.startswith(b"HTTP/1.1 200 "), got)
        for head, status in ((b"GET /v2 HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n", 400), (b"\x16\x03\x01\x02\r\n\r\n", 400),
                             (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
                             (b"POST /v2/models/tiny/infer HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
                             (b"POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\nabcde", 415),
                             (b"POST /v2/models/tiny/infer HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", 400)):
            with socket.create_connection((server.host, server.port), timeout=limit(30)) as raw:
                raw.sendall(head)
                answer = raw.recv(65536)
                self.assertIn(f" {status} ".encode(), answer.split(b"\r\n")[0], head[:40])
                self.assertIn(b'{"error":', answer)
        self.assertEqual(server.get("/v2/health/live")[0], 200)

    def test_slow_clients_are_dropped(self):
        server = Server(self, "--client-seconds", "1")
        slow = [socket.create_connection((server.host, server.port), timeout=limit(30)) for _ in range(3)]
        slow[0].sendall(b"GET /v2 HT")  # and nothing more
        slow[1].sendall(b"POST /v2/models/tiny/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        begun = time.monotonic()

        def drip():
            # A byte now and then does not buy time.
            try:
                for _ in range(200):
                    slow[2].sendall(b"G")
                    time.sleep(0.1)
            except OSError:
                pass

        thread = threading.Thread(target=drip)
        thread.start()
        for one in slow:
            try:
                self.assertEqual(one.recv(100), b"")
            except ConnectionResetError:
                pass
        self.assertLess(time.monotonic() - begun, limit(8))
        thread.join()
        for one in slow:
            one.close()
        self.assertGreaterEqual(server.metrics()["dtnn_dropped_connections_total"], 3)
        self.assertEqual(server.get("/v2/health/live")[0], 200)

    def test_connections_are_bounded(self):
        server = Server(self, "--max-connections", "2", "--client-seconds", "60")
        held = [server.connection() for _ in range(2)]
        for connection in held:
            self.assertEqual(server.ask("GET", "/v2/health/live", connection=connection)[0], 200)
        status, headers, data = server.ask("GET", "/v2/health/live")
        self.assertEqual((status, headers["Retry-After"]), (503, "1"), data)
        self.assertIn("--max-connections", json.loads(data)["error"])
        # Of a crowd nobody is forgotten.
        crowd = [server.connection() for _ in range(40)]
        for connection in crowd:
            connection.connect()
            connection.request("GET", "/v2")
        held.pop().close()
        for connection in crowd:
            self.assertIn(connection.getresponse().status, (200, 503))
            connection.close()
        held.pop().close()
        deadline = time.monotonic() + limit(10)
        while server.get("/v2/health/live")[0] != 200:
            self.assertLess(time.monotonic(), deadline)

    def test_a_token_is_asked_for(self):
        token_file = self.write("token", TOKEN + "\nnotes\n")
        for others in ("0.0.0.0", "::"):
            self.expect(self.dtnn_run("serve", "run", "--address", others), 2, "--token-file")
        os.chmod(token_file, 0o644)
        self.expect(self.dtnn_run("serve", "run", "--token-file", "token"), 2, "chmod 600")
        self.write("short", "abc\n")
        os.chmod(self.path("short"), 0o600)
        self.expect(self.dtnn_run("serve", "run", "--token-file", "short"), 2, "at least 16")
        self.expect(self.dtnn_run("serve", "run", "--token-file", "none"), 1, "none")
        os.chmod(token_file, 0o600)
        server = Server(self, "--token-file", "token", "--address", "0.0.0.0")
        server.host = "127.0.0.1"
        good = {"inputs": [tensor(self.pixels(1))]}
        for given in (None, "Bearer ", "Bearer " + TOKEN[:-1], "Bearer " + TOKEN + "x", "Basic " + TOKEN, TOKEN, "Bearer wrong-token-of-many-xs"):
            headers = {"Authorization": given} if given else {}
            for method, path in (("GET", "/v2"), ("POST", "/v2/models/tiny/infer"), ("GET", "/metrics"), ("GET", "/v2/models/x"), ("GET", "/")):
                status, told, data = server.ask(method, path, json.dumps(good) if method == "POST" else None, headers)
                self.assertEqual((status, told["WWW-Authenticate"]), (401, "Bearer"), (given, path, data))
        for scheme in ("Bearer", "bearer"):
            self.assertEqual(server.infer(good, headers={"Authorization": f"{scheme} {TOKEN}"})[0], 200)
        # Who watches whether it runs has no token.
        self.assertEqual(server.get("/v2/health/ready")[0], 200)

    def test_pages_of_a_browser_cannot_ask_where_there_is_no_token(self):
        server = Server(self)
        answer = server.infer({"inputs": [tensor(self.pixels(1))]}, headers={"Origin": "http://example.org"})
        self.refused(answer, 403, "--token-file")

    def test_a_unix_socket(self):
        server = Server(self, "--socket", "s.sock", port=False)
        self.assertEqual(os.stat(self.path("s.sock")).st_mode & 0o777, 0o600)
        pixels = self.pixels(2)
        wanted = self.predicted(self.image_array(pixels))
        connection = UnixConnection(self.path("s.sock"))
        status, answer = server.infer({"inputs": [tensor(pixels)]}, connection=connection)
        self.assertEqual(status, 200, answer)
        self.assertEqual([single(number) for number in numbers(answer)], wanted)
        connection.close()
        self.expect(self.dtnn_run("serve", "run", "--socket", "s.sock"), 1, "another server listens")
        self.expect(self.dtnn_run("serve", "run", "--socket", "tiny.yaml"), 2, "is no socket")
        self.expect(self.dtnn_run("serve", "run", "--socket", "s" * 200), 2, "too long")
        self.expect(self.dtnn_run("serve", "run", "--socket", "no/such/s.sock"), 1, "no/such/s.sock")
        self.expect(self.dtnn_run("serve", "run", "--socket", "s.sock", "--port", "1"), 2, "--port", "--socket")
        # What a server that was killed leaves behind is in nobody's way.
        server.process.kill()
        server.process.wait()
        self.assertTrue(os.path.exists(self.path("s.sock")))
        again = Server(self, "--socket", "s.sock", port=False)
        self.assertEqual(again.end(), 0)
        self.assertFalse(os.path.exists(self.path("s.sock")))

    def test_what_cannot_be_served(self):
        server = Server(self)
        self.expect(self.dtnn_run("serve", "run", "--port", str(server.port)), 1, "cannot listen", "--port")
        self.expect(self.dtnn_run("serve", "run", "--address", "here"), 2, "no IP address")
        self.expect(self.dtnn_run("serve", self.plan, "--port", "0"), 2, "--weights")
        self.expect(self.dtnn_run("serve", "none", "--port", "0"), 1, "none is not there")
        self.expect(self.dtnn_run("serve", "run", "--weights", "tiny.yaml", "--port", "0"), 5, "tiny.yaml")

    def test_a_signal_ends_it_when_what_has_begun_is_answered(self):
        for which in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(which):
                server = Server(self, "--batch-wait-ms", "400", "--client-seconds", "20")
                pixels = self.pixels(100)  # of several batches
                wanted = self.predicted(self.image_array(pixels))
                idle, begun = server.connection(), server.connection()
                self.assertEqual(server.ask("GET", "/v2/health/live", connection=idle)[0], 200)
                body = json.dumps({"inputs": [tensor(pixels)]}).encode()
                begun.putrequest("POST", "/v2/models/tiny/infer")
                begun.putheader("Content-Length", str(len(body)))
                begun.endheaders()
                begun.send(body[:5000])
                time.sleep(0.2)
                server.process.send_signal(which)
                self.assertIn("a signal", server.process.stderr.readline())
                with self.assertRaises(OSError):
                    deadline = time.monotonic() + limit(10)
                    while time.monotonic() < deadline:
                        with socket.create_connection((server.host, server.port)):
                            time.sleep(0.02)
                self.assertEqual(idle.sock.recv(10), b"")  # closed
                self.assertIsNone(server.process.poll())
                begun.send(body[5000:])
                answer = begun.getresponse()
                self.assertEqual((answer.status, answer.headers["Connection"]), (200, "close"))
                self.assertEqual([single(number) for number in numbers(json.loads(answer.read()))], wanted)
                self.assertEqual(server.process.wait(timeout=limit(20)), 0)
                idle.close()
                begun.close()

    def test_a_second_signal_ends_it_at_once(self):
        server = Server(self, "--client-seconds", "3600")
        with socket.create_connection((server.host, server.port), timeout=limit(30)) as raw:
            raw.sendall(b"GET /v2 HTTP/1.1\r\n")
            time.sleep(0.2)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.6)
            self.assertIsNone(server.process.poll())
            self.assertEqual(server.end(), -signal.SIGTERM)


if __name__ == "__main__":
    with open(DTNN_RUN, "rb") as file:
        if b"was built without Boost.Beast" in file.read():
            print("skipped: dtnn-run was built without Boost.Beast (Debian: libboost-dev)")
            sys.exit(77)
    unittest.main()
