import assert from 'node:assert/strict';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier, copyPath, untilCopied } from '../support/copier.ts';
import {
  conditionOf,
  shippedOperators,
  shippedText,
  thing,
  thingPath,
} from '../support/definitions.ts';
import { createRuntimeNamespace, useRuntimes, webhookFlags } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { scrape, untilScraped, untilStatus } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

shared.describe('integration/configmap-source', () => {
  function start(definitionsNamespace: string, more: readonly string[] = []): HomeostatRuntime {
    const flags = ['--sources', 'configmaps', '--definitions-namespace', definitionsNamespace];
    return launch({ flags: [...flags, ...more] });
  }

  function mapPath(namespace: string, name: string): string {
    return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  }

  /** A ConfigMap with definitions, as `kubectl create configmap --from-file` and a label make it. */
  function save(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<KubeObject> {
    const ours = { 'homeostat.dev/definitions': 'true', ...labels };
    const metadata = { name, namespace, labels: ours };
    return shared.client().apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }

  const untilCopy = (name: string, namespace: string, version: number) =>
    untilCopied(shared.client(), copyPath(name, namespace), { version });

  /** Requests that delete anything, of the runtime. */
  function deletions(since: number): readonly string[] {
    const entries = shared.audit.entries({ since });
    return entries.filter(({ verb }) => verb.startsWith('delete')).map(({ uri }) => uri);
  }

  describe('the shipped operators in one ConfigMap', () => {
    const files = shippedOperators();
    let operators = '';
    let namespace = '';
    let homeostat: HomeostatRuntime;
    const podset = { apiVersion: 'apps.example.com/v1alpha1', kind: 'PodSet' };

    before(async () => {
      operators = await shared.namespace();
      namespace = await shared.namespace();
      await createRuntimeNamespace(shared);
      homeostat = start(operators, await webhookFlags());
    });
    after(() => homeostat.stop());

    const deployment = (namespace: string) =>
      `/apis/apps/v1/namespaces/${namespace}/deployments/example`;
    const untilReplicas = (count: number) =>
      shared
        .client()
        .untilObject(
          deployment(namespace),
          (object) => (object?.spec as { replicas?: number } | undefined)?.replicas === count,
        );

    test('a runtime without a definition is ready, and waits for one', async () => {
      await untilStatus(homeostat, '/readyz', 200);
    });

    test('all run as soon as it is there, and their resources work', async () => {
      await save(operators, 'operators', files);
      await homeostat.whenReady(Object.keys(files).length);
      const states = homeostat.entries.filter(({ msg }) => msg === 'Definition rejected');
      assert.deepEqual(states, []);
      const metadata = { name: 'example', namespace };
      await shared.client().apply({ ...podset, metadata, spec: { size: 2 } });
      await untilReplicas(2);
    });

    test('one is edited: existing resources follow, and no request is sent for kinds that did not change', async () => {
      // Servers end the watches of a kind that was installed a moment ago.
      await shared.audit.quiet(5_000);
      const since = shared.audit.mark();
      const text = shippedText('podset.yaml').replace('${ spec.size }', '${ spec.size + 1 }');
      await save(operators, 'operators', { ...files, 'podset.yaml': text });
      await untilReplicas(3);
      const { by } = shared.audit.count({ since });
      const asked = Object.keys(by).filter((what) => /^(?:list|watch) /.test(what));
      assert.deepEqual(asked, []);
    });

    test('one gets a typo: it is reported with line and column, and what ran continues', async () => {
      const text = shippedText('podset.yaml').replace('${ spec.size }', '${ spec.sise }');
      await save(operators, 'operators', { ...files, 'podset.yaml': text });
      const reported = await homeostat.whenLogged('File has errors, its definitions are rejected');
      const file = `configmap ${operators}/operators/podset.yaml`;
      assert.equal(reported.file, file);
      assert.match(String(reported.diagnostics), new RegExp(`^${file}:\\d+:\\d+: .*sise`));
      const path = await shared
        .client()
        .pathOf({ ...podset, metadata: { name: 'example', namespace } });
      await shared.client().patch(path, { spec: { size: 4 } });
      await untilReplicas(5);
      const readiness = await untilStatus(homeostat, '/readyz?verbose', 200);
      assert.match(readiness, /podset running/);
      await save(operators, 'operators', files);
      await homeostat.whenLogged('File has no errors any more');
      await untilReplicas(4);
    });

    test('it is emptied, deleted, made again under another name: controllers stop and continue, and nothing is deleted', async () => {
      const count = Object.keys(files).length;
      const since = shared.audit.mark();
      let gone = 0;
      const isRemoved = async (change: () => Promise<unknown>) => {
        await change();
        gone += count;
        await homeostat.whenLoggedTimes(
          'Definition stopped, its resources and their children are orphaned',
          gone,
        );
      };
      await isRemoved(() => save(operators, 'operators', {}));
      await save(operators, 'operators', files);
      await homeostat.whenLoggedTimes('Definition running', 2 * count);
      await isRemoved(() => shared.client().delete(mapPath(operators, 'operators')));
      await save(operators, 'renamed', files);
      await homeostat.whenLoggedTimes('Definition running', 3 * count);
      const path = await shared
        .client()
        .pathOf({ ...podset, metadata: { name: 'example', namespace } });
      await shared.client().patch(path, { spec: { size: 6 } });
      await untilReplicas(6);
      assert.deepEqual(deletions(since), []);
    });

    test('a key that moves to another ConfigMap moves its definition, which does not stop', async () => {
      const { 'podset.yaml': text = '', ...others } = files;
      const times = (said: string) => homeostat.entries.filter(({ msg }) => msg === said).length;
      const before = times('Definition running');
      await save(operators, 'more', { 'podset.yaml': text });
      const lost = await homeostat.whenLogged('Manifest is not published');
      assert.match(String(lost.reason), /the name is published from configmap .*\/renamed\//);
      await save(operators, 'renamed', others);
      const edited = text.replace('${ spec.size }', '${ spec.size + 2 }');
      await save(operators, 'more', { 'podset.yaml': edited });
      await untilReplicas(8);
      assert.equal(times('Definition running'), before);
    });
  });

  test('two ConfigMaps with one name: the older keeps it, the other takes over when it is deleted', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    await save(operators, 'older', { 'twice.yaml': copier('twice', 1) });
    const homeostat = start(operators);
    await homeostat.whenReady();
    await shared.client().apply(thing('twice', namespace, { text: 'one' }));
    await untilCopy('twice', namespace, 1);
    await save(operators, 'newer', { 'twice.yaml': copier('twice', 2) });
    const lost = await homeostat.whenLogged('Manifest is not published');
    assert.equal(lost.file, `configmap ${operators}/newer/twice.yaml`);
    assert.match(String(lost.reason), /the name is published from configmap .*\/older\//);
    assert.deepEqual((await shared.client().get(copyPath('twice', namespace)))?.data, {
      version: '1',
      text: 'one',
    });
    await shared.client().delete(mapPath(operators, 'older'));
    await untilCopy('twice', namespace, 2);
    await homeostat.stop();
  });

  test('a ConfigMap that is made for a resource is no source, nor one without the label', async () => {
    const operators = await shared.namespace();
    await save(
      operators,
      'made',
      { 'a.yaml': copier('made', 1) },
      { 'homeostat.dev/owner-uid': 'u' },
    );
    const unlabelled = { 'homeostat.dev/definitions': 'false' };
    await save(operators, 'plain', { 'a.yaml': copier('plain', 1) }, unlabelled);
    await save(operators, 'meant', { 'a.yaml': copier('meant', 1), 'notes.txt': 'x: [' });
    const homeostat = start(operators);
    await homeostat.whenReady();
    const text = await untilStatus(homeostat, '/readyz?verbose', 200);
    assert.match(text, /meant running/);
    assert.doesNotMatch(text, /made|plain|notes/);
    interface ReportedEvent extends KubeObject {
      readonly reason?: string;
      readonly regarding?: { readonly name?: string };
      readonly note?: string;
    }
    const notes = (events: readonly ReportedEvent[], name: string) =>
      events
        .filter(({ reason, regarding }) => reason === 'Ignored' && regarding?.name === name)
        .map(({ note }) => note)
        .join();
    await shared
      .client()
      .untilList<ReportedEvent>(
        `/apis/events.k8s.io/v1/namespaces/${operators}/events`,
        (events) =>
          /homeostat\.dev\/owner-uid/.test(notes(events, 'made')) &&
          /^Ignored keys: notes\.txt\./.test(notes(events, 'meant')),
      );
    await homeostat.stop();
  });

  test('a word that can be no name is reported where it stands, and no server is asked for it', async () => {
    const operators = await shared.namespace();
    const words = ['..', '.', 'Bad_Name', 'a'.repeat(300), 'a/status', 'x?y', 'good.dot', 'é'];
    const texts = words.map((word, index) => {
      const text = copier(`word-${index}`, 1);
      return [`${index}.yaml`, text.replace(`name: word-${index} }`, `name: "${word}" }`)] as const;
    });
    await save(operators, 'misnamed', Object.fromEntries(texts));
    await save(operators, 'named', { 'named.yaml': copier('named', 1) });
    const since = shared.audit.mark();
    const homeostat = start(operators);
    await homeostat.whenReady();
    await homeostat.whenLoggedTimes('File has errors, its definitions are rejected', words.length);
    await shared
      .client()
      .untilList<KubeObject & { readonly note?: string }>(
        `/apis/events.k8s.io/v1/namespaces/${operators}/events`,
        (events) =>
          words.every((_, index) =>
            events.some(({ note = '' }) => note.includes(`/misnamed/${index}.yaml:3`)),
          ),
      );
    const named = '/apis/homeostat.dev/v1alpha1/operatordefinitions/named';
    await shared.client().untilObject(named, (object) => conditionOf(object)?.status === 'True');
    await shared.audit.quiet(2_000, { ofDefinitions: true });
    const asked = shared.audit
      .entries({ since, ofDefinitions: true })
      .map(({ uri }) => uri.replace(/\?.*/, ''))
      .filter((uri) => uri.includes('/operatordefinitions/') && !uri.startsWith(named));
    assert.deepEqual(asked, []);
    const errors = homeostat.entries.filter(({ level }) => level === 'error');
    assert.deepEqual(errors, []);
    assert.equal(await homeostat.stop(), 0);
  });

  test('of fifty edits in a burst the last one wins, and nothing is left of the others', async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const secret = (version: number) => `    - id: secret
      when: \${ ${version % 2} = 0 }
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }-secret" }
`;
    await save(operators, 'burst', { 'burst.yaml': copier('burst', 0) });
    const homeostat = start(operators);
    await homeostat.whenReady();
    await shared.client().apply(thing('burst', namespace, { text: 'one' }));
    await untilCopy('burst', namespace, 0);
    const before = await useOf(homeostat);
    for (let version = 1; version <= 50; version++)
      await save(operators, 'burst', {
        'burst.yaml': copier('burst', version, version < 50 ? secret(version) : ''),
      });
    await untilCopy('burst', namespace, 50);
    await shared
      .client()
      .untilObject(
        thingPath('burst', namespace),
        (object) => conditionOf(object)?.status === 'True',
      );
    // Connections that are not used any more are closed after a while.
    await untilScraped(homeostat, (families) => {
      assert.deepEqual(kindsHeld(families), before.kinds);
      const sockets = socketsOf(homeostat);
      assert.ok(sockets <= before.sockets, `${sockets} sockets, before ${before.sockets}`);
    });
    assert.equal(await homeostat.stop(), 0);
  });

  /** Kinds of which informers hold something, and open sockets. */
  async function useOf(homeostat: HomeostatRuntime) {
    return { kinds: kindsHeld(await scrape(homeostat)), sockets: socketsOf(homeostat) };
  }

  function kindsHeld(families: Awaited<ReturnType<typeof scrape>>): readonly string[] {
    return families
      .flatMap(({ samples }) => samples)
      .filter(({ name }) => name === 'homeostat_informer_last_activity_seconds')
      .map(({ labels }) => labels.kind ?? '')
      .sort();
  }

  /** Open ones, of whatever kind. */
  function socketsOf({ pid }: HomeostatRuntime): number {
    // Known only of a process of its own, on Linux.
    if (pid === undefined || !existsSync(`/proc/${pid}/fd`)) return 0;
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return '';
      }
    });
    return links.filter((link) => link.startsWith('socket:')).length;
  }
});
