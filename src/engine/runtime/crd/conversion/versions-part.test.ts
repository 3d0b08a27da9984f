import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseConversionRules } from '#conversion';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DefinitionView } from '../../definition-view.ts';
import type { DefinitionFacts } from '../../definitions/definition-conditions.ts';
import type { DefinitionStatus } from '../../definitions/definition-status.ts';
import type { VersionView } from '../version-view.ts';
import { closedCrd, openedCrd, provenCrd, withRules } from './staged-crd.ts';
import { versionsPart, versionsStatus } from './versions-part.ts';

const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.a.example.com' },
  spec: {
    versions: [
      { name: 'v1alpha1', served: true, storage: true },
      { name: 'v1', served: false, storage: false },
    ],
  },
  status: { storedVersions: ['v1alpha1'] },
};
const { rules } = parseConversionRules({
  hub: 'v1',
  versions: [{ version: 'v1alpha1', fields: [{ here: 'spec.size', there: 'spec.replicas' }] }],
});
assert.ok(rules);
const target = { clientConfig: () => ({ url: 'https://here' }) };
const whole = withRules(crd, undefined, { rules, target });

const version = (name: string, ...flags: readonly (keyof VersionView)[]): VersionView => ({
  name,
  served: flags.includes('served'),
  storage: flags.includes('storage'),
  stored: flags.includes('stored'),
  proven: flags.includes('proven'),
});
const old = version('v1alpha1', 'served', 'storage', 'stored', 'proven');
const added = [old, version('v1', 'served')];
const opened = [old, version('v1', 'served', 'proven')];
const newer = version('v1', 'served', 'storage', 'stored', 'proven');
const turned = [version('v1alpha1', 'served', 'stored', 'proven'), newer];
const migrated = [version('v1alpha1', 'served', 'proven'), newer];
const closed = [version('v1alpha1'), newer];

const statusWith = (
  versions: readonly VersionView[] | undefined,
  { isRunning = true, migration = undefined as JsonObject | undefined } = {},
) =>
  ({
    apiVersion: 'a.example.com/v1',
    conditions: [{ type: 'Running', status: isRunning ? 'True' : 'False' }],
    ...(versions && { versions }),
    ...(migration && { migration }),
  }) as unknown as DefinitionStatus;

/** As it is read. */
const jsonOf = (status: DefinitionStatus) => JSON.parse(JSON.stringify(status)) as JsonObject;

describe('runtime/crd/conversion/versions-part', () => {
  test('shows the versions of a CRD with rules, and nothing of another one', () => {
    assert.deepEqual(versionsPart.ofCrd?.(crd), {});
    assert.deepEqual(versionsPart.ofCrd?.(whole), {
      versions: [version('v1alpha1', 'served', 'storage', 'stored'), version('v1')],
    });
    assert.deepEqual(versionsPart.ofCrd?.(provenCrd(whole)), {
      versions: [version('v1alpha1', 'served', 'storage', 'stored', 'proven'), version('v1')],
    });
  });

  const at = (host: string) => ({
    clientConfig: (_: string, digest: string) => ({ url: `https://${host}/${digest}` }),
  });
  const { rules: others } = parseConversionRules({
    hub: 'v1',
    versions: [{ version: 'v1alpha1', fields: [{ here: 'spec.size', there: 'spec.other' }] }],
  });
  assert.ok(others);
  const shownOf = (of: KubeObject) => versionsPart.ofCrd?.({ ...of, status: crd.status }) ?? {};
  const served: KubeObject = {
    ...crd,
    spec: {
      versions: [
        { name: 'v1alpha1', served: true, storage: true },
        { name: 'v1', served: true, storage: false },
      ],
    },
  };

  test('conversions by another webhook than the one that was tried are not proven', () => {
    const { spec } = withRules(served, undefined, { rules, target: at('there') });
    const other = {
      ...provenCrd(withRules(served, undefined, { rules, target: at('here') })),
      spec,
    };
    const { versions = [] } = shownOf(other as KubeObject);
    assert.deepEqual(
      versions.map((each) => each.proven),
      [false, false],
    );
  });

  for (const [what, options] of [
    ['table of rules is', { rules: others, target: at('here') }],
    ['webhook is', { rules, target: at('there') }],
  ] as const)
    test(`versions that worked stay proven while another ${what} tried, and the end of a failed trial has no Event`, () => {
      const proven = provenCrd(withRules(served, undefined, { rules, target: at('here') }));
      const opened = openedCrd(withRules(served, proven, options), proven);
      const closed = closedCrd(served, opened);
      const shown = [proven, opened, closed].map((each) => statusWith(shownOf(each).versions));
      for (const [index, status] of shown.slice(1).entries())
        assert.deepEqual(
          versionsPart.events?.(jsonOf(shown[index] as DefinitionStatus), status),
          [],
        );
      assert.deepEqual(shown[1]?.versions, shown[0]?.versions);
      assert.deepEqual(shown[2]?.versions, shown[0]?.versions);
    });

  test('a version that is new is not proven while it is tried', () => {
    const before = {
      ...served,
      spec: { versions: [{ name: 'v1alpha1', served: true, storage: true }] },
    };
    const proven = provenCrd(withRules(before, undefined, { rules, target: at('here') }));
    const opened = openedCrd(
      withRules(served, proven, { rules: others, target: at('here') }),
      proven,
    );
    assert.deepEqual(
      shownOf(opened).versions?.map((each) => [each.name, each.served, each.proven]),
      [
        ['v1alpha1', true, true],
        ['v1', true, false],
      ],
    );
  });

  const table: readonly (readonly [
    string,
    readonly VersionView[] | undefined,
    readonly VersionView[] | undefined,
    readonly string[],
  ])[] = [
    ['a version that is tried', undefined, added, []],
    ['a version whose conversions succeed', added, opened, ['VersionServed']],
    ['the same versions', opened, opened, []],
    ['another storage version', opened, turned, ['StorageVersionChanged']],
    ['the end of a migration', turned, migrated, ['ResourcesMigrated']],
    ['a version that is not served any more', migrated, closed, ['VersionNotServed']],
    ['a version that is removed', closed, [newer], ['VersionRemoved']],
    ['the end of conversions', closed, undefined, ['ConversionsRemoved']],
    ['a version that failed while it was tried', added, [old, version('v1')], []],
  ];
  for (const [what, before, after, expected] of table)
    test(`${what}: ${expected.length === 0 ? 'no Event' : expected.join(', ')}`, () => {
      const last: JsonObject = jsonOf(statusWith(before));
      const events = versionsPart.events?.(last, statusWith(after)) ?? [];
      assert.deepEqual(
        events.map(({ reason }) => reason),
        expected,
      );
    });

  const acceptedAs = (revision: string, versions?: readonly VersionView[]) => ({
    ...statusWith(versions),
    conditions: [
      { type: 'Ready', status: 'True', reason: 'Ready' },
      { type: 'Accepted', status: 'True' },
    ],
    revision,
    revisions: [{ revision, spec: {} }],
  });
  const reasonsOf = (before: unknown, after: unknown) =>
    versionsPart
      .events?.(jsonOf(before as DefinitionStatus), after as DefinitionStatus)
      .map(({ reason }) => reason);

  test('versions that a status shows again after a start have no Event', () => {
    assert.deepEqual(reasonsOf(acceptedAs('a'), acceptedAs('a', opened)), []);
  });

  test('versions that are new since the last status have an Event', () => {
    assert.deepEqual(reasonsOf({}, acceptedAs('a', opened)), ['VersionServed']);
    assert.deepEqual(reasonsOf(acceptedAs('a'), acceptedAs('b', opened)), ['VersionServed']);
    const changing = {
      ...acceptedAs('a', opened),
      conditions: [{ type: 'Ready', status: 'False', reason: 'ChangingVersions' }],
    };
    assert.deepEqual(reasonsOf(acceptedAs('a'), changing), ['VersionServed']);
  });

  test('versions of a rejected definition that a status shows again after a start have no Event', () => {
    const rejected = {
      ...acceptedAs('b', opened),
      conditions: [{ type: 'Accepted', status: 'False' }],
    };
    assert.deepEqual(reasonsOf(acceptedAs('a'), rejected), []);
  });

  test('a definition that does not run is no end of its conversions', () => {
    const last: JsonObject = jsonOf(statusWith(closed));
    assert.deepEqual(versionsPart.events?.(last, statusWith(undefined, { isRunning: false })), []);
  });

  test('a definition whose resources are stored in two versions has a note, which names those that are invalid', () => {
    const notesOf = (view: Partial<DefinitionView>) => versionsPart.notes?.(view as DefinitionView);
    assert.deepEqual(notesOf({ versions: migrated }), []);
    assert.deepEqual(notesOf({ versions: turned }), [
      'Resources may still be stored in version "v1alpha1"',
    ]);
    const migration = { version: 'v1', written: 1, total: 2, rejected: ['ns/a'] };
    assert.deepEqual(notesOf({ versions: turned, migration }), [
      'Resources may still be stored in version "v1alpha1": "ns/a" is invalid in version "v1"',
    ]);
    // The author has returned to the version before.
    const returned = [old, version('v1', 'served', 'stored', 'proven')];
    assert.deepEqual(notesOf({ versions: returned, migration }), [
      'Resources may still be stored in version "v1"',
    ]);
  });

  test('resources that were written meanwhile are counts', () => {
    const at = (written: number) => ({ version: 'v1', written, total: 3 });
    const live: JsonObject = jsonOf(statusWith(turned, { migration: at(1) }));
    const countsOf = (migration: JsonObject | undefined) =>
      versionsPart.countsOf?.(live, statusWith(turned, { migration }));
    assert.deepEqual(countsOf(at(2)), { migration: at(2) });
    assert.deepEqual(countsOf(undefined), {});
    assert.deepEqual(countsOf({ ...at(2), version: 'v2' }), {});
  });

  test('a migration is shown with versions only', () => {
    const migration = { version: 'v1', written: 1, total: 2 };
    assert.deepEqual(versionsStatus({ migration } as DefinitionView), {});
    assert.deepEqual(versionsStatus({ versions: turned, migration } as unknown as DefinitionView), {
      versions: turned,
      migration,
    });
  });

  test('the gauges count versions and what is left, and have no series without conversions', () => {
    const valuesOf = (view: Partial<DefinitionView>) =>
      versionsPart.measured?.({ view } as unknown as DefinitionFacts).map(({ value }) => value);
    assert.deepEqual(valuesOf({}), []);
    assert.deepEqual(valuesOf({ versions: opened }), [1, 0]);
    const migration = { version: 'v1', written: 1, total: 3 };
    assert.deepEqual(valuesOf({ versions: turned, migration }), [2, 2]);
  });
});
