import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { copierDefinition as copier, copyPath, untilCopied } from '../support/copier.ts';
import { conditionOf, thing } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ controllerManager: false });
const launch = useRuntimes(shared);

/** Where the text of one definition stands. */
interface Place {
  readonly flags: readonly string[];
  /** Of all its texts. */
  save(text: string): Promise<void>;
}

/** The version that is at work afterwards; `undefined`: none is, and the definition is withdrawn. */
type Fate = 1 | 2 | undefined;

class ConfigMapPlace implements Place {
  readonly flags: readonly string[];
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
    this.flags = ['--sources', 'configmaps', '--definitions-namespace', namespace];
  }

  get path(): string {
    return `/api/v1/namespaces/${this.#namespace}/configmaps/operators`;
  }

  save(text: string): Promise<void> {
    return this.write({ 'operator.yaml': text });
  }

  async write(
    data: Readonly<Record<string, string>>,
    label: 'true' | 'false' = 'true',
  ): Promise<void> {
    await shared.client().apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'operators',
        namespace: this.#namespace,
        labels: { 'homeostat.dev/definitions': label },
      },
      data,
    });
  }

  delete(): Promise<unknown> {
    return shared.client().delete(this.path);
  }
}

/** As the kubelet mounts a volume: the files are links into a folder that is swapped as a whole. */
class MountedPlace implements Place {
  readonly flags: readonly string[];
  readonly path: string;
  #version = 0;

  constructor(path: string, namespace: string) {
    this.path = path;
    this.flags = ['--definitions', path, '--definitions-namespace', namespace];
  }

  async save(text: string): Promise<void> {
    mkdirSync(this.path, { recursive: true });
    const version = `..${this.#version++}`;
    mkdirSync(join(this.path, version));
    writeFileSync(join(this.path, version, 'operator.yaml'), text);
    symlinkSync(version, join(this.path, '..data_tmp'));
    renameSync(join(this.path, '..data_tmp'), join(this.path, '..data'));
    if (version === '..0')
      symlinkSync(join('..data', 'operator.yaml'), join(this.path, 'operator.yaml'));
  }

  /** What was mounted is gone, and the empty folder below it shows. */
  unmount(): void {
    // In one step, unlike a deletion file by file.
    renameSync(this.path, `${this.path}-unmounted`);
    mkdirSync(this.path);
  }

  move(): void {
    renameSync(this.path, `${this.path}-moved`);
  }
}

const configMapChanges: readonly (readonly [
  string,
  Fate,
  (place: ConfigMapPlace, name: string) => Promise<unknown>,
])[] = [
  [
    'gets an error',
    1,
    (place, name) => place.save(copier(name, 2).replace('spec.text', 'spec.text +')),
  ],
  ['is cut in the middle', 1, (place, name) => place.save(copier(name, 2).slice(0, 150))],
  [
    'is cut so that it is no YAML',
    1,
    (place, name) => place.save(`${copier(name, 2)}    data: { "a`),
  ],
  ['is emptied', undefined, (place) => place.write({})],
  ['is deleted', undefined, (place) => place.delete()],
  [
    'loses its label',
    undefined,
    (place, name) => place.write({ 'operator.yaml': copier(name, 1) }, 'false'),
  ],
  [
    'is replaced by force',
    2,
    async (place, name) => {
      await place.delete();
      await place.save(copier(name, 2));
    },
  ],
];

const mountedChanges: readonly (readonly [
  string,
  Fate,
  (place: MountedPlace, name: string) => unknown,
])[] = [
  ['is swapped', 2, (place, name) => place.save(copier(name, 2))],
  [
    'is swapped for one with an error',
    1,
    (place, name) => place.save(copier(name, 2).replace('spec.text', 'spec.text +')),
  ],
  ['is unmounted', 1, (place) => place.unmount()],
  ['is moved away', 1, (place) => place.move()],
];

shared.describe('integration/source-fates', () => {
  const root = mkdtempSync(join(tmpdir(), 'homeostat-fates-'));
  after(() => rmSync(root, { recursive: true, force: true }));

  const definitionPath = (name: string) =>
    `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
  const applyThing = (name: string, namespace: string, text: string) =>
    shared.client().apply(thing(name, namespace, { text }));
  const untilCopy = (name: string, namespace: string, version: number, text: string) =>
    untilCopied(shared.client(), copyPath(name, namespace), { version, text });

  /** Begins with version 1 at work, in a process that one more may follow. */
  async function begin(name: string, place: Place, more: readonly string[] = []) {
    const namespace = await shared.namespace();
    await place.save(copier(name, 1));
    const start = (): HomeostatRuntime => launch({ flags: [...place.flags, ...more] });
    const first = start();
    await first.whenReady();
    await applyThing(name, namespace, 'one');
    await untilCopy(name, namespace, 1, 'one');
    return { namespace, first, start };
  }

  /** Resolves when the definition is at work as it is to be. */
  async function untilFate(name: string, namespace: string, fate: Fate): Promise<void> {
    if (fate === undefined) {
      const isWithdrawn = (object?: KubeObject) =>
        conditionOf(object, 'Accepted')?.reason === 'Withdrawn';
      await shared.client().untilObject(definitionPath(name), isWithdrawn);
      const copy = await shared.client().get(copyPath(name, namespace));
      assert.ok(copy, 'What it has made stays');
      return;
    }
    await applyThing(name, namespace, 'two');
    await untilCopy(name, namespace, fate, 'two');
    // Where the newest text is not at work, the object says so, with the words of the log.
    const accepted = fate === 1 ? 'False' : 'True';
    const found = await shared
      .client()
      .untilObject(
        definitionPath(name),
        (object) => conditionOf(object, 'Accepted')?.status === accepted,
      );
    const { reason, message = '' } = conditionOf(found, 'Accepted') ?? {};
    assert.equal(reason, fate === 1 ? 'Rejected' : 'Accepted');
    if (fate === 1) assert.match(message, /operator\.yaml:\d+:\d+: |^Cannot read "|is empty/);
  }

  for (const [kind, changes, placeOf] of [
    ['a ConfigMap', configMapChanges, async () => new ConfigMapPlace(await shared.namespace())],
    [
      'a directory',
      mountedChanges,
      async (name: string) => new MountedPlace(join(root, name), await shared.namespace()),
    ],
  ] as const)
    for (const [at, [what, fate, change]] of changes.entries()) {
      const title = `${kind} that ${what}`;
      const outcome =
        fate === undefined ? 'the definition is withdrawn' : `version ${fate} is at work`;
      const base = `${kind.endsWith('directory') ? 'dir' : 'map'}${at}`;
      const act = change as (place: Place, name: string) => unknown;

      test(`${title}: ${outcome}`, async () => {
        const name = `live-${base}`;
        const place = await placeOf(name);
        const { namespace, first } = await begin(name, place);
        await act(place, name);
        await untilFate(name, namespace, fate);
        await first.stop();
      });

      // A directory that is not there at the start is a mistake of the command line, but in a Pod.
      if (what !== 'is moved away')
        test(`${title} while no process runs: ${outcome}`, async () => {
          const name = `late-${base}`;
          const place = await placeOf(name);
          const { namespace, first, start } = await begin(name, place);
          await first.stop();
          await act(place, name);
          const second = start();
          await untilFate(name, namespace, fate);
          await second.stop();
        });

      test(`${title} while the leadership is handed over: ${outcome}`, async () => {
        const name = `lead-${base}`;
        const place = await placeOf(name);
        const more = ['--leader-elect', '--namespace', await shared.namespace()];
        const { namespace, first, start } = await begin(name, place, more);
        const second = start();
        await second.whenLogged('Starting');
        const stopped = first.stop();
        await act(place, name);
        await stopped;
        await untilFate(name, namespace, fate);
        await second.stop();
      });
    }
});
