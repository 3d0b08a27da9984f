import assert from 'node:assert/strict';
import type { KubeObject } from '#util/kube-object.ts';
import type { Backend } from '../../support/backends/index.ts';
import { endedStatus, runningStatus } from '../../support/control-plane/index.ts';
import type { PodFate, PodsStep } from './contract-case.ts';

export interface PodStatusWrite {
  readonly backend: Backend;
  readonly namespace: string;
  readonly step: PodsStep;
}

/** Writes the status of the pods that a step is about. @throws AssertionError when there are more or fewer of them */
export async function writePodStatus({ backend, namespace, step }: PodStatusWrite): Promise<void> {
  const { pods: selector, count, become } = step;
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const headers = { accept: 'application/json' };
  const query = `labelSelector=${encodeURIComponent(selector)}`;
  const listed = await backend.request({ method: 'GET', path: `${path}?${query}`, headers });
  assert.equal(listed.status, 200, listed.text);
  const { items } = JSON.parse(listed.text) as { items: readonly KubeObject[] };
  const waiting = items.filter((pod) => isWaiting(pod, become));
  assert.equal(waiting.length, count, `${selector}: ${items.map(nameAndPhase).join(', ')}`);
  for (const pod of waiting) {
    const written = await backend.request({
      method: 'PATCH',
      path: `${path}/${pod.metadata.name}/status?fieldManager=kubelet`,
      headers: { ...headers, 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ status: statusOf(pod, become) }),
    });
    assert.equal(written.status, 200, written.text);
  }
}

function isWaiting(pod: KubeObject, fate: PodFate): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const phase = phaseOf(pod);
  return phase === 'Pending' || (phase === 'Running' && fate !== 'running');
}

function statusOf(pod: KubeObject, fate: PodFate): unknown {
  return fate === 'running' ? runningStatus(pod) : endedStatus(pod, fate === 'failed' ? 1 : 0);
}

function phaseOf({ status }: KubeObject): unknown {
  return (status as { readonly phase?: string } | undefined)?.phase;
}

function nameAndPhase(pod: KubeObject): string {
  return `${pod.metadata.name} ${phaseOf(pod)}`;
}
