import assert from 'node:assert/strict';
import type { KubeObject } from '#util/kube-object.ts';
import { type AdmissionWebhook, startAdmissionWebhook } from '../../support/admission-webhook.ts';
import { conditionOf } from '../../support/definitions.ts';
import { type CaseRun, type FaultCase, onRequest, writes } from '../fault-case.ts';
import { grantAll, revokeAll } from '../lane.ts';
import {
  applyStubbornly,
  configMapPath,
  createAll,
  names,
  pathOfResource,
  resourceOf,
} from '../subject.ts';

/** What users, administrators and other controllers of the cluster do. */
export const clusterCases: readonly FaultCase[] = [
  {
    name: 'rights that are revoked and restored',
    injected:
      'at the fifth write the process loses all rights; during the edits its watches are cut, too; the rights are restored after the script',
    oracle: 'the denial is reported; no restart is needed',
    limitMs: 120_000,
    during: loseRights,
  },
  {
    name: 'a CRD that is deleted under its resources',
    injected:
      'the CRD is deleted when the cluster is idle; users create all resources again when it is served',
    oracle: 'the runtime installs the CRD again',
    runs: 'creations',
    during: loseCrd,
  },
  {
    name: 'a webhook that rewrites every child on every write',
    injected:
      'a mutating webhook changes one field of each child to upper case (during the edits to a new text each time) and adds a counter as annotation. Then the webhook is removed and the process is restarted',
    oracle: 'no request while nothing changes and the webhook exists',
    restarts: true,
    during: rewriteByWebhook,
  },
  {
    name: 'another manager that changes a field back and forth',
    injected: 'another manager applies a field of a child with force until the status reports it',
    oracle: 'the status names both managers; the field has our value after the other manager stops',
    limitMs: 120_000,
    during: fightForField,
  },
  {
    name: 'a namespace that is deleted in the middle of creations',
    injected: 'at the tenth write another namespace with the same resources is deleted',
    oracle: 'the namespace is deleted, and nothing is written in it afterwards',
    during: loseNamespace,
  },
  {
    name: 'children stuck on a foreign finalizer',
    injected:
      'a child that is to be pruned and a child of a replaced resource have a foreign finalizer until the cluster is idle',
    oracle: 'no request while nothing changes and they are stuck',
    runs: 'edits',
    during: stickOnFinalizer,
  },
];

async function loseRights({ act, audit, lane, phase }: CaseRun): Promise<void> {
  const since = audit.mark();
  const revoke = lane.proxy.inject(
    onRequest(
      'revoke',
      {
        kind: 'call',
        async run() {
          await revokeAll(lane.plane, lane.user);
          return 'forward';
        },
      },
      { when: writes, after: 4, times: 1 },
    ),
  );
  await act();
  await revoke.untilCount(1);
  if (phase === 1) lane.proxy.cutAll();
  await audit.untilSeen((entries) => entries.some(({ status }) => status === 403), {
    user: lane.user,
    since,
  });
  await grantAll(lane.plane, lane.user);
}

async function loseCrd(run: CaseRun): Promise<void> {
  const { act, client, definition, lane, phase, untilEqual } = run;
  await act();
  if (phase === 1) return;
  await untilEqual();
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${definition}.example.com`;
  const before = await client.get(path);
  await client.delete(path);
  await lane.homeostat.whenLoggedTimes('Definition running', 2);
  const after = await client.get(path);
  assert.notEqual(after?.metadata.uid, before?.metadata.uid);
  await Promise.all(names.map((name) => applyStubbornly(client, resourceOf(run, name))));
}

async function rewriteByWebhook(run: CaseRun): Promise<void> {
  const { act, lane, phase, untilQuiet } = run;
  const webhook = await startWebhook(run, (object, calls) =>
    phase === 0 ? greetingOf(object)?.toUpperCase() : `call ${calls}`,
  );
  try {
    await act();
    await untilQuiet();
    assert.ok(webhook.calls >= 3, 'the webhook has rewritten something');
  } finally {
    await webhook.stop();
  }
  // What the server makes of an intent is remembered by the process alone.
  await lane.restart();
}

/** Rewrites the greeting of ConfigMaps that have one, and counts in an annotation, so that no answer is like the one before. */
function startWebhook(
  { client, namespace }: CaseRun,
  greetingFor: (object: KubeObject, calls: number) => string | undefined,
): Promise<AdmissionWebhook> {
  return startAdmissionWebhook({
    client,
    namespace,
    type: 'Mutating',
    resource: 'configmaps',
    judge(object, calls) {
      if (greetingOf(object) === undefined) return { kind: 'allow' };
      const annotations = {
        ...object.metadata.annotations,
        'webhook.example.com/calls': String(calls),
      };
      return {
        kind: 'rewrite',
        patch: [
          { op: 'add', path: '/metadata/annotations', value: annotations },
          { op: 'replace', path: '/data/greeting', value: greetingFor(object, calls) },
        ],
      };
    },
  });
}

function greetingOf(object: KubeObject | undefined): string | undefined {
  return (object?.data as { readonly greeting?: string } | undefined)?.greeting;
}

function isContested(object: KubeObject | undefined): boolean {
  return conditionOf(object)?.reason === 'Contested';
}

async function fightForField(run: CaseRun): Promise<void> {
  const { act, client, namespace } = run;
  const rival = rivalOf(namespace);
  await act();
  // Who comes first owns the object; a fight is about one that is ours.
  await client.untilObject(configMapPath(run, 'a'), (object) => greetingOf(object) !== undefined);
  for (;;) {
    await client.apply(rival, { fieldManager: 'rival' });
    // Each time it is reverted, until that is reported; a client that gives in then sees it reverted once more.
    const [back, reported] = [new AbortController(), new AbortController()];
    const first = await Promise.race([
      client
        .untilObject(configMapPath(run, 'a'), (object) => greetingOf(object) !== 'mine', back)
        .then(() => 'back'),
      client.untilObject(pathOfResource(run, 'a'), isContested, reported).then(() => 'reported'),
    ]);
    back.abort();
    reported.abort();
    if (first === 'reported') return;
  }
}

function rivalOf(namespace: string): KubeObject {
  const metadata = { name: 'a', namespace };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { greeting: 'mine' } };
}

async function loseNamespace(run: CaseRun): Promise<void> {
  const { act, client, lane, otherNamespace, untilQuiet } = run;
  const lost = { ...run, namespace: await otherNamespace() };
  const path = `/api/v1/namespaces/${lost.namespace}`;
  const users = Promise.withResolvers<void>();
  const remove = lane.proxy.inject(
    onRequest(
      'delete the namespace',
      {
        kind: 'call',
        async run() {
          // Users are rejected in a namespace that terminates: those here have written before.
          await users.promise;
          await client.delete(path);
          return 'forward';
        },
      },
      {
        when: (request) => writes(request) && request.namespace === lost.namespace,
        after: 9,
        times: 1,
      },
    ),
  );
  await createAll(lost).finally(users.resolve);
  await Promise.all([act(), remove.untilCount(1)]);
  await client.untilGone(path);
  await untilQuiet();
}

async function stickOnFinalizer(run: CaseRun): Promise<void> {
  const { act, client, phase, untilQuiet } = run;
  if (phase === 0) return act();
  const stuck = ['b-x', 'f-x'].map((name) => configMapPath(run, name));
  for (const path of stuck) {
    await client.patch(path, { metadata: { finalizers: ['example.com/stuck'] } });
  }
  await act();
  for (const path of stuck) {
    await client.untilObject(path, (object) => object?.metadata.deletionTimestamp !== undefined);
  }
  await untilQuiet();
  for (const path of stuck) await client.patch(path, { metadata: { finalizers: null } });
}
