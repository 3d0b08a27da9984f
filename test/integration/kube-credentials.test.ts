import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadKubeConfig } from '#kube';
import { useControlPlane } from '../support/control-plane/index.ts';
import { testFlow, useKubeCluster } from '../support/kube-cluster.ts';
import { kubeconfigYaml } from '../support/kubeconfig-yaml.ts';

const shared = useControlPlane({ controllerManager: false });
const signal = new AbortController().signal;

shared.describe('integration/kube-credentials', () => {
  const own = useKubeCluster(shared);

  /** A kubeconfig whose plugin prints the token of a file, runs `then`, and notes what it was given. */
  function withPlugin(
    name: string,
    then = '',
  ): { kubeconfig: string; calls: () => readonly string[] } {
    const calls = own.write(`${name}.calls`, '');
    const script = [
      '#!/bin/sh',
      `echo "$KUBERNETES_EXEC_INFO" >> ${calls}`,
      `token=$(cat ${join(own.folder, `${name}.token`)})`,
      `printf '{"kind":"ExecCredential","status":{"token":"%s"}}' "$token"`,
      then,
    ];
    chmodSync(own.write(`${name}.sh`, script.join('\n')), 0o755);
    const config = JSON.parse(shared.plane.kubeconfig());
    const apiVersion = 'client.authentication.k8s.io/v1';
    // Relative to the kubeconfig, as client-go has it.
    config.users[0].user = { exec: { apiVersion, command: `./${name}.sh` } };
    return {
      kubeconfig: own.write(name, JSON.stringify(config)),
      calls: () => readFileSync(calls, 'utf8').trim().split('\n'),
    };
  }

  const request = { method: 'GET', path: '/api/v1/namespaces/default', flow: testFlow } as const;

  test('a plugin receives what it needs, and asked once', async () => {
    own.write('once.token', 'admin-token');
    const { kubeconfig, calls } = withPlugin('once');
    const { api } = await own.connect(kubeconfig);
    assert.equal((await api.request(request, signal)).status, 200);
    await api.request(request, signal);
    assert.equal(calls().length, 1);
    assert.equal(JSON.parse(calls()[0] ?? '').kind, 'ExecCredential');
  });

  test('after a 401 a plugin is asked again, and the request sent once more', async () => {
    const tokenFile = own.write('rotated.token', 'old-token');
    const { kubeconfig, calls } = withPlugin('rotated', `echo admin-token > ${tokenFile}`);
    const { api } = await own.connect(kubeconfig);
    assert.equal((await api.request(request, signal)).status, 200);
    assert.equal(calls().length, 2);
  });

  test('a service account is a folder with a token that may change', async () => {
    const token = own.write('token', 'old-token\n');
    own.write('ca.crt', shared.plane.caCertificate);
    own.write('namespace', 'kube-system\n');
    const { hostname: host, port } = new URL(shared.plane.server);
    const config = await loadKubeConfig({
      ...kubeconfigYaml,
      inCluster: { host, port },
      serviceAccountFolder: own.folder,
    });
    assert.equal(config.namespace, 'kube-system');
    const { api } = own.connectTo(config);
    await assert.rejects(api.request(request, signal), { code: 'unauthorized' });
    const rotated = own.connectTo(config);
    writeFileSync(token, 'admin-token\n');
    assert.equal((await rotated.api.request(request, signal)).status, 200);
  });
});
