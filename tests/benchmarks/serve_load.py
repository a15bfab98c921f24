#!/usr/bin/env python3
"""Requests a second of `dtnn-run serve` beside ONNX Runtime behind Python's HTTP server, by turns, on the same machine and the same cores.

    tests/benchmarks/serve_load.py [--model simplecnn] [--connections 32] [--seconds 5] [--rounds 3] [--wire json,binary] [--peers http.server,FastAPI] [--python PYTHON]

All answer the Open Inference Protocol about one image at a time. The peers are Python's `http.server`, and FastAPI behind uvicorn, each in as many
processes as there are cores with a session of one thread over the network that `dtnnc export` has written, by the interpreter that --python names
(it needs onnxruntime and numpy, and for the second fastapi and uvicorn).
The load is wrk, which keeps so many connections busy and takes a part of the cores itself, where it is there, else a client of Python. Both
servers' first answers are compared. Printed are requests a second, p50 and p99 of every round, the medians, and the ratios. Not a test: it
has no verdict.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

SESSION = r"""
import json, os, sys
import numpy, onnxruntime

settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = settings.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name

def answer(body, cut):
    # The answer's bytes, and how many of them are JSON, where the rest is not.
    request = json.loads(body[:cut])
    (tensor,) = request["inputs"]
    if cut < len(body):
        array = numpy.frombuffer(body, numpy.float32, offset=cut).reshape(tensor["shape"])
    else:
        array = numpy.array(tensor["data"], numpy.float32).reshape(tensor["shape"])
    (result,) = session.run(None, {name: array})
    output = {"name": "predictions", "datatype": "FP32", "shape": list(result.shape)}
    if cut < len(body):
        output["parameters"] = {"binary_data_size": result.nbytes}
        head = json.dumps({"model_name": "peer", "outputs": [output]}).encode()
        return head + result.tobytes(), len(head)
    output["data"] = result.ravel().tolist()
    return json.dumps({"model_name": "peer", "outputs": [output]}).encode(), None
"""

PEERS = {
    "http.server": SESSION + r"""
import http.server, socket

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True
    def handle_error(self, request, address):
        pass  # the load ends by closing connections
    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    def log_message(self, *arguments):
        pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        data, head = answer(body, int(self.headers.get("Inference-Header-Content-Length", len(body))))
        self.send_response(200)
        if head is not None:
            self.send_header("Inference-Header-Content-Length", str(head))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
print("ready", flush=True)
server.serve_forever()
""",
    "FastAPI": SESSION + r"""
import socket
import fastapi, uvicorn

app = fastapi.FastAPI()

@app.post("/v2/models/served/infer")
async def infer(request: fastapi.Request):
    body = await request.body()
    data, head = answer(body, int(request.headers.get("inference-header-content-length", len(body))))
    headers = {} if head is None else {"Inference-Header-Content-Length": str(head)}
    return fastapi.Response(data, media_type="application/json", headers=headers)

listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
listener.bind(("127.0.0.1", int(sys.argv[2])))
listener.listen(128)
print("ready", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run([listener])
""",
}

WRK = """
local file = io.open("{body}", "rb")
wrk.method = "POST"
wrk.body = file:read("*all")
wrk.headers["Content-Type"] = "application/octet-stream"
{header}
function done(summary, latency, requests)
    io.write(string.format("figures %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def request_of(shape, binary):
    """(headers, body) of a request about one made-up image."""
    pixels = [struct.unpack("<f", struct.pack("<f", random.Random(1).random()))[0] for _ in range(math.prod(shape))]
    tensor = {"name": "x", "datatype": "FP32", "shape": [1, *shape]}
    if not binary:
        return {}, json.dumps({"inputs": [dict(tensor, data=pixels)]}).encode()
    elements = struct.pack(f"<{len(pixels)}f", *pixels)
    tensor["parameters"] = {"binary_data_size": len(elements)}
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    return {"Inference-Header-Content-Length": str(len(head))}, head + elements


def ask(address, headers, body):
    """The predictions of one request."""
    with urllib.request.urlopen(urllib.request.Request(address, body, headers)) as answer:
        data, cut = answer.read(), answer.headers.get("Inference-Header-Content-Length")
    if cut is None:
        return json.loads(data)["outputs"][0]["data"]
    return list(struct.unpack(f"<{(len(data) - int(cut)) // 4}f", data[int(cut):]))


def load(address, headers, body, options, folder):
    """(requests a second, p50 and p99 in milliseconds)"""
    if shutil.which("wrk"):
        path, script = os.path.join(folder, "body"), os.path.join(folder, "load.lua")
        with open(path, "wb") as file:
            file.write(body)
        with open(script, "w", encoding="utf-8") as file:
            lines = "\n".join(f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items())
            file.write(WRK.replace("{body}", path).replace("{header}", lines))
        said = run("wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "-s", script, address)
        count, microseconds, middle, most, errors = map(int, re.search(r"^figures (.*)$", said, re.M)[1].split())
        if errors:
            sys.exit(f"{errors} requests failed:\n{said}")
        return count / microseconds * 1e6, middle / 1e3, most / 1e3
    import http.client
    host, path = re.fullmatch(r"http://([^/]+)(/.*)", address).groups()
    times, end = [], time.monotonic() + options.seconds

    def client():
        connection = http.client.HTTPConnection(host)
        while (begun := time.monotonic()) < end:
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            times.append(1e3 * (time.monotonic() - begun))

    threads = [threading.Thread(target=client) for _ in range(options.connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(times) / options.seconds, statistics.median(times), statistics.quantiles(times, n=100)[98]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="simplecnn")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--batch", type=int, default=32, help="the batch of the plan that is served")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wire", default="json,binary")
    parser.add_argument("--serve", default="", help="options for dtnn-run serve")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="that compute in dtnn-run, beside those of connections")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="of each peer")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"))
    parser.add_argument("--peers", default="http.server,FastAPI")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    dtnnc, dtnn_run = os.path.join(options.bin, "dtnnc"), os.path.join(options.bin, "dtnn-run")
    os.environ["DTNN_SPEC_PATH"] = os.path.join(ROOT, "specs")
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        with open(path("job.yaml"), "w", encoding="utf-8") as file:
            file.write(f"kind: job\nname: served\nmodel: {options.model}\ndataset: digits\n"
                       f"training: {{optimizer: adam, epochs: 1, batch_size: {options.batch}}}\n")
        run(dtnnc, "compile", path("job.yaml"), "-o", path("plan.json"), "--threads", str(options.threads))
        run(dtnn_run, path("plan.json"), "--output", path("run"), "--progress", "none")
        weights = path("run/weights.safetensors")
        run(dtnnc, "export", path("plan.json"), "--weights", weights, "-o", path("net.onnx"))
        with open(path("plan.json"), encoding="utf-8") as file:
            shape = json.load(file)["dataset"]["inputs"][0]["dims"]

        with open(path("serve.log"), "w", encoding="utf-8") as log:
            ours = subprocess.Popen([dtnn_run, "serve", path("run"), "--port", "0", *options.serve.split()], stderr=log)
        peers = []
        try:
            ports = {peer: 18080 + os.getpid() % 1000 + 1000 * i for i, peer in enumerate(options.peers.split(","))}
            for peer, port in ports.items():
                for _ in range(options.processes):
                    peers.append(subprocess.Popen([options.python, "-c", PEERS[peer], path("net.onnx"), str(port)], stdout=subprocess.PIPE, text=True))
            for process in peers:
                if "ready" not in process.stdout.readline():
                    sys.exit("a peer does not start: does --python have what it needs?")
            while not (found := re.search(r"http://\S+:\d+", open(path("serve.log"), encoding="utf-8").read())):
                if ours.poll() is not None:
                    sys.exit(open(path("serve.log"), encoding="utf-8").read())
                time.sleep(0.05)
            addresses = {"dtnn-run serve": found[0] + "/v2/models/served/infer"}
            addresses |= {f"ORT, {peer}": f"http://127.0.0.1:{port}/v2/models/served/infer" for peer, port in ports.items()}
            for wire in options.wire.split(","):
                headers, body = request_of(shape, wire == "binary")
                answers = [ask(address, headers, body) for address in addresses.values()]
                difference = max(abs(a - b) for other in answers[1:] for a, b in zip(answers[0], other))
                print(f"{wire}: {len(body)} bytes a request, {options.connections} connections; answers differ by {difference:.1e}")
                assert difference < 1e-4
                rates = {name: [] for name in addresses}
                for _ in range(options.rounds):
                    for name, address in addresses.items():
                        rates[name].append(load(address, headers, body, options, folder))
                for name, rounds in rates.items():
                    rate, middle, most = (statistics.median(column) for column in zip(*rounds))
                    print(f"  {name:16} {rate:9.0f} requests/s, p50 {middle:7.2f} ms, p99 {most:7.2f} ms   "
                          f"({', '.join(f'{one[0]:.0f}' for one in rounds)})")
                mine = rates.pop("dtnn-run serve")
                for name, theirs in rates.items():
                    print(f"  ratio to {name}: {statistics.median(a[0] / b[0] for a, b in zip(mine, theirs)):.2f}")
        finally:
            for process in [ours, *peers]:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
