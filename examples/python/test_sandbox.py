"""Tests of a program that uses the Kubernetes API, on the sandbox. Needs only the standard library of Python."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request


class Sandbox:
    """Runs "homeostat sandbox" and sends requests to it."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        kubeconfig = os.path.join(self._folder.name, "kubeconfig")
        command = shlex.split(os.environ.get("HOMEOSTAT", "homeostat"))
        self._process = subprocess.Popen(
            [*command, "sandbox", "--write-kubeconfig", kubeconfig],
            stdout=subprocess.PIPE,
            text=True,
        )
        # The first line is printed when the API accepts requests.
        first = self._process.stdout.readline()
        assert "is ready" in first, f"the sandbox did not start: {first}"
        with open(kubeconfig, encoding="utf-8") as file:
            self._server = re.search(r"server: (\S+)", file.read()).group(1)

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._server + path, data, headers, method=method)
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()
        return code


class DeploymentTest(unittest.TestCase):
    def setUp(self):
        self.sandbox = Sandbox()

    def tearDown(self):
        self.assertEqual(self.sandbox.stop(), 0)

    def test_pods_of_a_deployment_become_ready(self):
        labels = {"app": "web"}
        deployments = "/apis/apps/v1/namespaces/default/deployments"
        self.sandbox.request(
            "POST",
            deployments,
            {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": 2,
                    "selector": {"matchLabels": labels},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{"name": "web", "image": "nginx"}]},
                    },
                },
            },
        )
        deadline = time.monotonic() + 30
        while True:
            status = self.sandbox.request("GET", f"{deployments}/web")["status"]
            if status.get("readyReplicas") == 2:
                break
            self.assertLess(time.monotonic(), deadline, f"not ready: {status}")
            time.sleep(0.01)
        pods = self.sandbox.request("GET", "/api/v1/namespaces/default/pods?labelSelector=app%3Dweb")
        self.assertEqual(len(pods["items"]), 2)


if __name__ == "__main__":
    unittest.main()
