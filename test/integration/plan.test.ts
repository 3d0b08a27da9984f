import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createDefinitionParser, type LocatedDefinition } from '#definition';
import { type DefinitionPlan, type PlannedChange, type PlanOptions, planDefinition } from '#plan';
import type { KubeObject } from '#util/kube-object.ts';
import { createSystemRandom } from '#util/random.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useKubeCluster } from '../support/kube-cluster.ts';
import { freshMetrics, silentLogger } from '../support/silent-telemetry.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const job = (image: string) => `
    - id: task
      updateStrategy: { type: Recreate }
      template:
        apiVersion: batch/v1
        kind: Job
        metadata: { name: "\${ metadata.name }" }
        spec:
          suspend: true
          template: { spec: { restartPolicy: Never, containers: [{ name: main, image: "${image}" }] } }`;

const web = (replicas: string) => `
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          paused: true
          replicas: ${replicas}
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata: { labels: { app: "\${ metadata.name }" } }
            spec: { containers: [{ name: main, image: busybox }] }`;

const secret = (value: string) => `
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }" }
        data: { password: "\${ $base64encode('${value}') }" }`;

const controller = '\n  controller: { rollout: { perSecond: 0 } }\n';
const shop = (children: string) => thingDefinition('shop', `  children:${children}${controller}`);

const running = shop(
  textMap('same') + textMap('dropped') + web('0') + secret('before') + job('busybox:1'),
);
const changed = shop(
  `${textMap('same') + web('1') + secret('after') + job('busybox:2')}${textMap('added')}
      when: \${ spec.text = 'one' }`,
);

const patcher = (more: string, data = '{ a: "1", b: "1" }') =>
  thingDefinition(
    'patcher',
    `  patches:
    - id: note
      target: { apiVersion: v1, kind: ConfigMap, name: noted }
      ${more}
      patch: { data: ${data} }
`,
  );

/** Notes the state of its child, when its resource is deleted. */
const leaver = (patch = '') =>
  thingDefinition(
    'leaver',
    `  children:${textMap('state')}
${patch}`,
  );

const farewell = (text: string) => `  patches:
    - id: farewell
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: board }
      patch: { data: { "\${ metadata.name }": "\${ ${text} }" } }
`;

const paced = thingDefinition(
  'paced',
  `  children:
    - id: maps
      forEach: [0, 1]
      ready: false
      updateStrategy: { rollingUpdate: { maxSurge: 1 } }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ spec.text }-\${ $index }" }
`,
);

const router = (...ips: readonly string[]) =>
  thingDefinition(
    'router',
    `  patches:
    - id: address
      forEach: [${ips.join(', ')}]
      target: { apiVersion: v1, kind: Service, name: "web-\${ $index }" }
      status: true
      withdraw: true
      patch: { status: { loadBalancer: { ingress: [{ ip: "\${ $item }" }] } } }
`,
  );

shared.describe('integration/plan', () => {
  const kube = useKubeCluster(shared);
  let homeostat: HomeostatRuntime;
  let namespace = '';

  before(async () => {
    homeostat = await startHomeostat({
      'shop.yaml': running,
      'patcher.yaml': patcher('withdraw: true'),
      'paced.yaml': paced,
      'leaver.yaml': leaver(),
      'router.yaml': router('192.0.2.1', '192.0.2.2'),
    });
    namespace = await shared.namespace();
    const client = shared.client();
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'noted', namespace },
    });
    await client.apply(thing('patcher', namespace, {}, 'one'));
    await client.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'board', namespace },
    });
    await client.apply(thing('leaver', namespace, { text: 'last' }, 'one'));
    await client.untilObject(
      thingPath('leaver', namespace),
      (each) => conditionOf(each)?.status === 'True',
    );
    await client.apply(thing('paced', namespace, { text: 'earlier' }, 'one'));
    await client.untilObject(
      thingPath('paced', namespace, 'one'),
      (each) => statusOf(each).children?.length === 2,
    );
    for (const name of ['web-0', 'web-1'])
      await client.apply({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace },
        spec: { type: 'LoadBalancer', ports: [{ name: 'http', port: 80 }] },
      } as KubeObject);
    await client.apply(thing('router', namespace, {}, 'one'));
    for (const name of ['one', 'two'])
      await client.apply(thing('shop', namespace, { text: name }, name));
    for (const name of ['one', 'two'])
      await client.untilObject(
        thingPath('shop', namespace, name),
        (each) => statusOf(each).children?.length === 5,
      );
    await shared.audit.quiet(1_000);
  });

  function planOf(
    text: string,
    resources?: readonly KubeObject[],
    more: Pick<PlanOptions, 'guardedNamespaces'> = {},
  ): Promise<DefinitionPlan> {
    const options = {
      ...more,
      ...(resources && { resources }),
      admit: (resource: KubeObject) => resource,
      cluster: kube.cluster,
      clock: clockOf(shared.plane),
      random: createSystemRandom(),
      logger: silentLogger(),
      metrics: freshMetrics(),
    };
    return planDefinition(locate(text), options, new AbortController().signal);
  }

  test('what the runtime guards is guarded in a plan: nothing is planned there', async () => {
    const guarded = await shared.namespace();
    const text = thingDefinition(
      'shop',
      `  children:
    - id: far
      crossNamespace: { namespaces: ["*"] }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: far, namespace: "\${ spec.text }" } }
`,
    );
    const planned = async (guardedNamespaces: ReadonlySet<string>) => {
      const { resources } = await planOf(
        text,
        [thing('shop', namespace, { text: guarded }, 'far')],
        {
          guardedNamespaces,
        },
      );
      return resources.map(({ changes, unresolved }) => ({
        created: changes.filter(({ kind }) => kind === 'ConfigMap').length,
        messages: unresolved.map(({ message }) => message),
      }));
    };
    assert.deepEqual(await planned(new Set()), [{ created: 1, messages: [] }]);
    const [found] = await planned(new Set([guarded]));
    assert.equal(found?.created, 0);
    assert.match(found?.messages.join() ?? '', /is a namespace of the Homeostat runtime/);
    // Resources there are not served.
    assert.deepEqual(await planned(new Set([namespace])), []);
  });

  test('a definition as it runs changes nothing', async () => {
    const { resources, crd, rejection, problems } = await planOf(running);
    assert.deepEqual(
      { crd, rejection, problems },
      { crd: undefined, rejection: undefined, problems: [] },
    );
    assert.deepEqual(
      resources.map(({ name, changes, unresolved }) => ({ name, changes, unresolved })),
      ['one', 'two'].map((name) => ({ name, changes: [], unresolved: [] })),
    );
  });

  test('patches that are withdrawn or handed over are planned as they are then sent', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps/noted`;
    await shared.client().untilObject(path, (each) => each?.data !== undefined);
    await shared.audit.quiet(1_000);
    const fieldsOf = async (text: string) => {
      const { resources } = await planOf(text);
      const changes = resources.flatMap((each) => each.changes);
      const ofTarget = changes.filter(({ kind }) => kind === 'ConfigMap');
      return ofTarget.flatMap(({ fields }) => fields.map(({ path: at }) => at));
    };
    const running = patcher('withdraw: true');
    assert.deepEqual(await fieldsOf(running), []);
    // Removed, renamed, no longer owned, and with a field less.
    assert.deepEqual(await fieldsOf(patcher('when: false\n      withdraw: true')), ['data']);
    assert.deepEqual(await fieldsOf(running.replace('id: note', 'id: renamed')), []);
    assert.deepEqual(await fieldsOf(patcher('create: false')), []);
    const fewer = patcher('withdraw: true', '{ a: "1" }');
    assert.deepEqual(await fieldsOf(fewer.replace('id: note', 'id: renamed')), ['data.b']);
  });

  test('a patch of the deletion is planned when it is due, as it is then sent', async () => {
    const client = shared.client();
    const path = thingPath('leaver', namespace);
    const changesOf = async (text: string) => {
      const { resources, problems } = await planOf(text);
      assert.deepEqual(problems, []);
      return resources.flatMap((each) => summary(each).changes);
    };
    const sent = leaver(farewell('children.state.data.text'));
    const failing = leaver(farewell('$string($number(children.state.data.text))'));
    assert.deepEqual(await changesOf(leaver()), []);
    // While the resource lives, only its finalizer is written.
    for (const text of [sent, failing])
      assert.deepEqual(await changesOf(text), ['change Thing one']);
    const finalizersAre = (...expected: readonly string[]) =>
      client.untilObject(path, (each) => {
        const { finalizers = [] } = each?.metadata ?? {};
        return finalizers.join() === expected.join();
      });
    homeostat.write('leaver.yaml', sent);
    await finalizersAre('homeostat.dev/leaver');
    await shared.audit.quiet(1_000);
    assert.deepEqual(await changesOf(sent), []);
    assert.deepEqual(await changesOf(leaver()), ['change Thing one']);
    homeostat.write('leaver.yaml', leaver());
    await finalizersAre();
    homeostat.write('leaver.yaml', failing);
    await finalizersAre('homeostat.dev/leaver');
    await client.delete(path);
    await client.untilObject(path, (each) => conditionOf(each)?.reason === 'RenderFailed');
    await shared.audit.quiet(1_000);
    assert.deepEqual(await changesOf(failing), []);
    assert.deepEqual(await changesOf(leaver()), ['change Thing one']);
    const planned = await changesOf(sent);
    const mark = shared.audit.mark();
    homeostat.write('leaver.yaml', sent);
    await client.untilGone(path);
    // The garbage collector deletes the child.
    assert.deepEqual(planned, ['change ConfigMap board', 'change Thing one']);
    const done = shared.audit
      .entries({ since: mark })
      .filter(
        ({ verb, resource, status, namespace: where }) =>
          where === namespace &&
          resource === 'configmaps' &&
          status < 300 &&
          /^(?:patch|delete)$/.test(verb),
      )
      .map(({ verb, name }) => `${verb} ${name}`);
    assert.deepEqual([...new Set(done)].toSorted(), ['patch board']);
  });

  test('a surge is planned: what is created now, what waits, and what is deleted in the end', async () => {
    const { resources } = await planOf(paced, [thing('paced', namespace, { text: 'new' }, 'one')]);
    assert.deepEqual(resources.map(summary), [
      {
        name: 'one',
        changes: [
          'change Thing one',
          'create ConfigMap new-0',
          'delete ConfigMap earlier-0',
          'delete ConfigMap earlier-1',
        ],
      },
    ]);
    const [one] = resources;
    const later = one?.changes.filter(({ isLater }) => isLater === true);
    assert.deepEqual(
      later?.map(({ name }) => name),
      ['earlier-0', 'earlier-1'],
    );
    assert.deepEqual(
      one?.unresolved.map(({ state, message }) => `${state}: ${message}`),
      ['Waiting: Waiting for ConfigMap "earlier-0" to be deleted'],
    );
  });

  test('patches of a status are planned, and what is withdrawn from it', async () => {
    const path = `/api/v1/namespaces/${namespace}/services/web-1`;
    await shared.client().untilObject(path, (each) => JSON.stringify(each?.status).includes('.2'));
    await shared.audit.quiet(1_000);
    const changesOf = async (text: string) => {
      const { resources } = await planOf(text);
      const changes = resources.flatMap((each) => each.changes);
      return changes
        .filter(({ kind }) => kind === 'Service')
        .map(({ name, action, fields }) => ({ name, action, text: JSON.stringify(fields) }));
    };
    assert.deepEqual(await changesOf(router('192.0.2.1', '192.0.2.2')), []);
    const changes = await changesOf(router('192.0.2.3'));
    assert.deepEqual(
      changes.map(({ name, action }) => `${action} ${name}`),
      ['change web-0', 'change web-1'],
    );
    const [kept, removed] = changes.map(({ text }) => text);
    assert.match(kept ?? '', /"path":"status\.loadBalancer.*192\.0\.2\.3/);
    assert.match(removed ?? '', /"path":"status\.loadBalancer[^,]*","before":/);
    assert.doesNotMatch(removed ?? '', /"after":/);
  });

  test('replicas that leave the template stay, as in a reconcile', async () => {
    const { resources } = await planOf(running.replace(/ +replicas: 0\n/, ''));
    const changed = JSON.stringify(resources.map(({ changes }) => changes));
    assert.doesNotMatch(changed, /spec\.replicas/);
  });

  test('a change of the CRD that breaks stored resources is rejected with its place', async () => {
    const text = running.replace('plural: things }', 'plural: things, singular: other }');
    const { crd } = await planOf(text);
    assert.equal(crd?.action, 'change');
    assert.deepEqual(crd?.fields, [
      { path: 'spec.names.singular', before: 'thing', after: 'other' },
    ]);
    const narrowed = running.replace(
      'spec: { type: object, x-kubernetes-preserve-unknown-fields: true }',
      'spec: { type: object, properties: { text: { type: string } } }',
    );
    const { rejection, resources } = await planOf(narrowed);
    assert.match(rejection?.message ?? '', /would break stored resources/);
    assert.ok((rejection?.diagnostics[0]?.line ?? 0) > 1);
    assert.deepEqual(resources, []);
  });

  test('more deletions than are allowed are reported as held', async () => {
    const text = shop(textMap('same')).replace('perSecond: 0', 'perSecond: 0, maxDeletions: 3');
    const { heldDeletions } = await planOf(text);
    assert.deepEqual(heldDeletions, { count: 8, maxDeletions: 3 });
  });

  test('the deletion of one object that holds data is reported as held', async () => {
    const text = shop(
      running
        .slice(running.indexOf('children:') + 'children:'.length, running.indexOf(controller))
        .replace('${ metadata.name }-dropped', '${ metadata.name }-other')
        .replace('id: dropped', 'id: dropped\n      holdsData: true'),
    );
    const { heldDeletions, resources } = await planOf(text);
    assert.deepEqual(heldDeletions, { count: 2, maxDeletions: 10, withData: 2 });
    const lost = resources.flatMap(({ changes }) => changes).filter((each) => each.losesData);
    assert.deepEqual(
      lost.map(({ action, name }) => `${action} ${name}`),
      ['delete one-dropped', 'delete two-dropped'],
    );
  });

  test('a new kind has no resources yet', async () => {
    const { crd, resources } = await planOf(thingDefinition('fresh', '  children: []\n'));
    assert.equal(crd?.action, 'create');
    assert.deepEqual(resources, []);
  });

  test('a child that the server rejects, and one that waits for it, are reported with their lines', async () => {
    const text = shop(
      `${textMap('same')}${textMap('wrong').replace(' }-wrong"', " & '_WRONG' }\"")}${textMap('later', '"${ children.wrong.data.text }"')}`,
    );
    const { resources } = await planOf(text);
    const [one] = resources;
    assert.deepEqual(
      one?.unresolved.map(({ child, state }) => ({ child, state })),
      [
        { child: 'wrong', state: 'Failed' },
        { child: 'later', state: 'Waiting' },
      ],
    );
    assert.match(one?.unresolved[0]?.message ?? '', /lowercase RFC 1123/);
    assert.ok((one?.unresolved[0]?.line ?? 0) > 1);
    // While something fails, nothing is known to be undesired.
    assert.deepEqual(one?.changes, []);
  });

  test('given resources are planned as if they were applied, new ones too', async () => {
    const found = await planOf(running, [
      thing('shop', namespace, { text: 'edited' }, 'one'),
      thing('shop', namespace, { text: 'two' }, 'two'),
      thing('shop', namespace, { text: 'three' }, 'three'),
      thing('other', namespace, {}, 'one'),
    ]);
    assert.deepEqual(found.resources.map(summary), [
      {
        name: 'one',
        changes: ['change ConfigMap one-dropped', 'change ConfigMap one-same', 'change Thing one'],
      },
      {
        name: 'three',
        changes: [
          'create ConfigMap three-dropped',
          'create ConfigMap three-same',
          'create Deployment three',
          'create Job three',
          'create Secret three',
          'create Thing three',
        ],
      },
      { name: 'two', changes: [] },
    ]);
    const [one] = found.resources;
    assert.deepEqual(fieldsOf(one?.changes, 'Thing'), [
      { path: 'spec.text', before: 'one', after: 'edited' },
    ]);
    assert.equal(await shared.client().get(thingPath('shop', namespace, 'three')), undefined);
  });

  const onDelete = `
  onDelete:
    children:${textMap('late')}`;

  test('given resources of a kind that the cluster does not serve are planned, with their finalizer', async () => {
    for (const rest of ['', onDelete]) {
      const text = thingDefinition('fresh', `  children:${textMap('own')}${rest}`);
      const { crd, resources, problems } = await planOf(text, [
        thing('fresh', namespace, { text: 'x' }, 'new'),
      ]);
      assert.equal(crd?.action, 'create');
      assert.deepEqual(problems, []);
      assert.deepEqual(resources.map(summary), [
        { name: 'new', changes: ['create ConfigMap new-own', 'create Thing new'] },
      ]);
      assert.deepEqual(resources[0]?.unresolved, []);
    }
  });

  test('a given new resource of a definition with a finalizer is planned', async () => {
    const text = shop(textMap('own')).replace(controller, `${onDelete}${controller}`);
    const { resources } = await planOf(text, [thing('shop', namespace, { text: 'x' }, 'new')]);
    assert.deepEqual(resources.map(summary), [
      { name: 'new', changes: ['create ConfigMap new-own', 'create Thing new'] },
    ]);
  });

  test('what is planned is what is then done, object by object, and nothing before', async () => {
    const mark = shared.audit.mark();
    const plan = await planOf(changed);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    assert.deepEqual(plan.resources.map(summary), [
      {
        name: 'one',
        changes: [
          'change Deployment one',
          'change Secret one',
          'create ConfigMap one-added',
          'delete ConfigMap one-dropped',
          'replace Job one',
        ],
      },
      {
        name: 'two',
        changes: [
          'change Deployment two',
          'change Secret two',
          'delete ConfigMap two-dropped',
          'replace Job two',
        ],
      },
    ]);
    assert.doesNotMatch(JSON.stringify(plan), /YmVmb3Jl|YWZ0ZXI/);
    const [one] = plan.resources;
    assert.deepEqual(fieldsOf(one?.changes, 'Deployment'), [
      { path: 'spec.replicas', before: 0, after: 1 },
    ]);
    assert.deepEqual(fieldsOf(one?.changes, 'Secret'), [
      { path: 'data.password', before: '(sensitive)', after: '(sensitive)' },
    ]);
    const image = 'spec.template.spec.containers[name=main].image';
    assert.deepEqual(
      fieldsOf(one?.changes, 'Job').filter(({ path }) => path === image),
      [{ path: image, before: 'busybox:1', after: 'busybox:2' }],
    );

    homeostat.write('shop.yaml', changed);
    for (const name of ['one', 'two'])
      await shared.client().untilObject(thingPath('shop', namespace, name), (each) => {
        const isDone = statusOf(each).definitionRevision === plan.revision;
        return isDone && statusOf(each).children?.length === (name === 'one' ? 5 : 4);
      });
    await shared.audit.quiet(1_000);
    const done = shared.audit
      .entries({ since: mark })
      .filter(({ verb, resource, status }) => {
        const isChild = /^(?:configmaps|deployments|secrets|jobs)$/.test(resource);
        return isChild && status < 300 && (verb === 'patch' || verb === 'delete');
      })
      .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`);
    assert.deepEqual(
      [...new Set(done)].sort(),
      plan.resources.flatMap(({ changes }) => changes.flatMap(requestsOf)).sort(),
    );
    const after = (await shared
      .client()
      .get(`/apis/apps/v1/namespaces/${namespace}/deployments/one`)) as KubeObject & {
      readonly spec: { readonly replicas: number };
    };
    assert.equal(after.spec.replicas, 1);
    assert.deepEqual(
      (await planOf(changed)).resources.flatMap(({ changes }) => changes),
      [],
    );
  });
});

function locate(text: string): LocatedDefinition {
  const { documents, diagnostics } = createDefinitionParser().parse(text, 'shop.yaml');
  assert.deepEqual(diagnostics, []);
  const [document] = documents;
  assert.ok(document?.located);
  return document.located;
}

function summary({ name, changes }: DefinitionPlan['resources'][number]) {
  return {
    name,
    changes: changes.map((each) => `${each.action} ${each.kind} ${each.name}`).sort(),
  };
}

function fieldsOf(changes: readonly PlannedChange[] | undefined, kind: string) {
  return changes?.find((each) => each.kind === kind)?.fields ?? [];
}

/** The requests with which a change is made. */
function requestsOf({ action, kind, name }: PlannedChange): readonly string[] {
  const target = `${kind.toLowerCase()}s ${name}`;
  if (action === 'delete') return [`delete ${target}`];
  return action === 'replace' ? [`delete ${target}`, `patch ${target}`] : [`patch ${target}`];
}
