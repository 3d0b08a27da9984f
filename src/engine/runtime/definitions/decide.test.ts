import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LocatedDefinition } from '#definition';
import type { JsonObject } from '#util/json.ts';
import {
  locatedShadow,
  shadowObject,
  shadowSpec,
} from '../../../../test/support/fakes/shadow-definition.ts';
import { type DecideOptions, type Decision, decide } from './decide.ts';
import { type DefinitionRecord, recordOf } from './record.ts';

const now = '2026-01-01T01:00:00Z';
const nowMs = Date.parse(now);
const agoText = (agoMs: number) => new Date(nowMs - agoMs).toISOString();

const [v1, v2] = [shadowSpec('v1'), shadowSpec('v2')];
const [one, two] = [locatedShadow(v1), locatedShadow(v2)];
const wordOf = new Map([one, two].map(({ definition }, at) => [definition.revision, `v${at + 1}`]));
const mistake = 'a.yaml:1:2: Unknown field';

/** An object of a user. */
function own(metadata: object = {}, spec: JsonObject = v2): DefinitionRecord {
  const finalizers = ['homeostat.dev/definition'];
  return recordOf(shadowObject(spec, { finalizers, ...metadata }));
}

/** An object that is published. */
function published(
  annotations: Readonly<Record<string, string>> = {},
  metadata: object = {},
): DefinitionRecord {
  return own({
    labels: { 'homeostat.dev/source': 'configmap', 'homeostat.dev/runtime': 'here' },
    annotations: { 'homeostat.dev/source-ref': 'ns/ops/shadow.yaml', ...annotations },
    ...metadata,
  });
}

const deleted = { deletionTimestamp: now };
const withdrawn = (agoMs: number) => published({ 'homeostat.dev/withdrawn': agoText(agoMs) });
const rejected = { 'homeostat.dev/rejected': `${mistake}\n${mistake} too` };
const removal = (spec: JsonObject) => ({ ...v2, ...spec });
const crd = {
  group: 'a.example.com',
  names: { kind: 'A', plural: 'as' },
  scope: 'Namespaced',
  versions: [],
};

const text = { hasManifest: true };
const isBroken = { readSpec: () => ({ errors: [mistake], warnings: [] }) };
const confirmed = (located: LocatedDefinition, warnings: readonly string[] = []) => ({
  confirmation: { uid: 'u', generation: 1, located, warnings },
});

function decided(options: Partial<DecideOptions> & Pick<DecideOptions, 'record'>): Decision {
  return decide({
    runtime: 'here',
    readsObjects: true,
    readSpec: () => ({ located: two, errors: [], warnings: [] }),
    confirmation: undefined,
    originState: 'read',
    hasManifest: false,
    recorded: [],
    nowMs,
    hasRun: false,
    stopDelayMs: 30_000,
    ...options,
  });
}

/** A decision in one line. */
function said(decision: Decision): string {
  const of = ({ definition }: LocatedDefinition) => wordOf.get(definition.revision) ?? '?';
  switch (decision.kind) {
    case 'run': {
      const { located, rejection, warnings = [] } = decision.desired;
      return [
        `run ${of(located)}`,
        ...(rejection ? [[rejection.message, ...rejection.diagnostics].join('; ')] : []),
        ...warnings.map((warning) => `warning ${warning}`),
        ...(decision.stopInMs === undefined ? [] : [`for ${decision.stopInMs} ms`]),
      ].join(', ');
    }
    case 'finalize': {
      const { reason, rejection, uninstall } = decision;
      if (uninstall !== undefined) {
        const { children, crd: its } = uninstall.policy;
        return `uninstall ${of(uninstall.located)}${children ? ' children' : ''}${its ? ' crd' : ''}`;
      }
      const why = rejection === undefined ? [] : [rejection.message, ...rejection.diagnostics];
      return [`finalize ${reason}`, ...why].join('; ');
    }
    case 'wait':
      return `wait: ${decision.message}`;
    case 'ignore':
    case 'release':
      return decision.kind;
  }
}

type Row = readonly [string, Partial<DecideOptions> & Pick<DecideOptions, 'record'>, string];

const theirs = { labels: { 'homeostat.dev/runtime': 'there' } };
const theirsPublished = { ...theirs.labels, 'homeostat.dev/source': 'configmap' };
const recorded = [one];

const unlabelled = own({
  labels: { 'homeostat.dev/runtime': 'here' },
  annotations: { 'homeostat.dev/source-ref': 'ns/ops/shadow.yaml' },
});

/** Somebody has taken the label of its source off a published object. */
const lostLabels: readonly Row[] = [
  [
    'as long as it is what its text says',
    { record: unlabelled, ...confirmed(one), ...text, recorded },
    'run v1',
  ],
  ['with an edited spec', { record: unlabelled, ...text, recorded }, 'run v1'],
  [
    'where objects are not read',
    { record: unlabelled, ...text, recorded, readsObjects: false },
    'run v1',
  ],
  [
    'before the texts are read',
    { record: unlabelled, recorded, originState: undefined },
    'wait: Reading its manifest (object shadow)',
  ],
  ['when the text is gone', { record: unlabelled, recorded }, 'run v2'],
];

const users: readonly Row[] = [
  ['one that is good', { record: own() }, 'run v2'],
  [
    'one that this runtime has claimed',
    { record: own({ labels: { 'homeostat.dev/runtime': 'here' } }) },
    'run v2',
  ],
  ['one that is good, after another', { record: own(), recorded }, 'run v2'],
  [
    'one that is taken though there is something to be said of it',
    { record: own(), readSpec: () => ({ located: two, errors: [], warnings: ['Odd'] }) },
    'run v2, warning Odd',
  ],
  [
    'one with mistakes',
    { record: own(), ...isBroken },
    `finalize Rejected; ${mistake}; ${mistake}`,
  ],
  [
    'one with mistakes, after a good one',
    { record: own(), ...isBroken, recorded },
    `run v1, ${mistake}; ${mistake}`,
  ],
  ['one where objects are not read', { record: own(), readsObjects: false }, 'finalize NotRead'],
  [
    'one where objects are not read any more',
    { record: own(), readsObjects: false, recorded, hasRun: true },
    'finalize NotRead',
  ],
  ['one of another runtime', { record: own(theirs), recorded }, 'ignore'],
  [
    'one of another runtime that is being deleted',
    { record: own({ ...theirs, ...deleted }) },
    'ignore',
  ],
];

const deletions: readonly Row[] = [
  ['one that never was ours', { record: own({ ...deleted, finalizers: ['theirs'] }) }, 'ignore'],
  ['a user’s', { record: own(deleted), recorded }, 'finalize Deleted'],
  ['a user’s with mistakes', { record: own(deleted), ...isBroken }, 'finalize Deleted'],
  [
    'a user’s whose children are to go',
    { record: own(deleted, removal({ removalPolicy: 'Delete' })), recorded },
    'uninstall v1 children',
  ],
  [
    'a user’s whose children are to go, which has never run',
    { record: own(deleted, removal({ removalPolicy: 'Delete' })) },
    'uninstall v2 children',
  ],
  [
    'a user’s whose CRD is to go',
    { record: own(deleted, { crd, crdPolicy: { deletion: 'Delete' } }), recorded },
    'uninstall v1 crd',
  ],
  [
    'a user’s whose CRD and children are to go',
    {
      record: own(deleted, { crd, crdPolicy: { deletion: 'Delete' }, removalPolicy: 'Delete' }),
      recorded,
    },
    'uninstall v1 children crd',
  ],
  [
    'a user’s that has no CRD to delete',
    { record: own(deleted, removal({ crdPolicy: { deletion: 'Delete' } })), recorded },
    'finalize Deleted',
  ],
  [
    'a user’s of which nothing can be read',
    { record: own(deleted, removal({ removalPolicy: 'Delete' })), ...isBroken },
    'finalize Deleted',
  ],
  [
    'a user’s where objects are not read',
    {
      record: own(deleted, removal({ removalPolicy: 'Delete' })),
      recorded,
      readsObjects: false,
    },
    'finalize Deleted',
  ],
  [
    'a user’s that is abandoned',
    {
      record: own(
        { ...deleted, annotations: { 'homeostat.dev/abandon': 'true' } },
        removal({ removalPolicy: 'Delete' }),
      ),
      recorded,
    },
    'finalize Deleted',
  ],
  ['a published one whose text is there', { record: published({}, deleted), ...text }, 'release'],
  [
    'a published one whose text is there with mistakes',
    { record: published(rejected, deleted), ...text, recorded, hasRun: true },
    'release',
  ],
  [
    'a published one whose text is gone',
    { record: published({}, deleted), recorded },
    'finalize Deleted',
  ],
  [
    'a published one, which never takes its children with it',
    {
      record: recordOf(
        shadowObject(removal({ removalPolicy: 'Delete' }), published({}, deleted).object.metadata),
      ),
      recorded,
    },
    'finalize Deleted',
  ],
  [
    'a published one that others hold back, and whose text is there',
    { record: published({}, { ...deleted, finalizers: ['theirs'] }), ...text, recorded },
    'release',
  ],
  [
    'a published one without a text that is done for this runtime',
    { record: published({}, { ...deleted, finalizers: ['theirs'] }), recorded },
    'ignore',
  ],
];

const texts: readonly Row[] = [
  [
    'one that is what its text says',
    { record: published(), ...text, ...confirmed(two, ['Odd']), recorded },
    'run v2, warning Odd',
  ],
  [
    'one whose newest text is good, and the mistakes of the one before are not taken back yet',
    { record: published(rejected), ...text, ...confirmed(two), recorded, hasRun: true },
    'run v2',
  ],
  [
    'one whose newest text has mistakes, after a good one in this process',
    { record: published(rejected), ...text, recorded, hasRun: true },
    `run v1, Its manifest has errors; ${mistake}; ${mistake} too`,
  ],
  [
    'one whose newest text has mistakes, after a good one in another process',
    { record: published(rejected), ...text, recorded },
    `run v1, Its manifest has errors; ${mistake}; ${mistake} too`,
  ],
  [
    'one that never had a good text',
    { record: published(rejected), ...text },
    `finalize Rejected; Its manifest has errors; ${mistake}; ${mistake} too`,
  ],
  ['one that is made and not answered for', { record: published(), ...text }, 'wait: Publishing'],
  ['one that was edited', { record: published(), ...text, recorded, hasRun: true }, 'run v1'],
  [
    'one that was edited while no process ran',
    { record: published(), ...text, recorded },
    'run v1',
  ],
  [
    'one whose sources were not looked at',
    { record: published(), originState: undefined, recorded },
    'wait: Reading its manifest (configmap ns/ops/shadow.yaml)',
  ],
  [
    'one whose text stands where this runtime does not look',
    { record: published(), originState: 'elsewhere', recorded },
    'finalize NotRead',
  ],
  [
    'one whose text stands where this runtime does not look, and that another text takes over',
    { record: published(), originState: 'elsewhere', ...text, recorded },
    'run v1',
  ],
  [
    'one whose text cannot be read',
    { record: published(), originState: 'unknown', recorded },
    'run v1, Its manifest cannot be read',
  ],
  [
    'one whose text cannot be read, and was never accepted',
    { record: published(), originState: 'unknown' },
    'finalize Rejected; Its manifest cannot be read',
  ],
  [
    'one whose text cannot be read and had mistakes',
    { record: published(rejected), originState: 'unknown', recorded },
    `run v1, Its manifest has errors; ${mistake}; ${mistake} too`,
  ],
  [
    'one whose text cannot be read, after it was answered for',
    { record: published(), originState: 'unknown', ...confirmed(one), recorded, hasRun: true },
    'run v1, Its manifest cannot be read',
  ],
  [
    'one beside which there is a mistake in the same place',
    {
      record: published(),
      originState: 'unknown',
      ...text,
      ...confirmed(two),
      recorded,
      hasRun: true,
    },
    'run v2',
  ],
  [
    'one beside which there is a mistake, that is not answered for yet',
    { record: published(), originState: 'unknown', ...text, recorded },
    'run v1',
  ],
  [
    'a new one beside which there is a mistake',
    { record: published(), originState: 'unknown', ...text },
    'wait: Publishing',
  ],
  [
    'one of another runtime',
    { record: published({}, { labels: theirsPublished }), ...text, recorded },
    'ignore',
  ],
];

const gone: readonly Row[] = [
  ['a moment ago', { record: withdrawn(0), recorded, hasRun: true }, 'run v1, for 30000 ms'],
  ['20 s ago', { record: withdrawn(20_000), recorded, hasRun: true }, 'run v1, for 10000 ms'],
  ['30 s ago', { record: withdrawn(30_000), recorded, hasRun: true }, 'finalize Withdrawn'],
  ['a moment ago, before the start', { record: withdrawn(0), recorded }, 'finalize Withdrawn'],
  [
    'a moment ago, and was never accepted',
    { record: withdrawn(0), hasRun: true },
    'finalize Withdrawn',
  ],
  [
    'and is back',
    { record: withdrawn(60_000), ...text, ...confirmed(two), recorded, hasRun: true },
    'run v2',
  ],
  ['and nothing says so yet', { record: published(), recorded, hasRun: true }, 'run v1'],
  [
    'before the start, and nothing says so yet',
    { record: published(), recorded },
    'finalize Withdrawn',
  ],
];

describe('runtime/definitions/decide', () => {
  for (const [where, rows] of [
    ['an object of a user', users],
    ['an object that is deleted', deletions],
    ['a published object', texts],
    ['a published object whose text is gone', gone],
    ['a published object that has lost its label', lostLabels],
  ] as const)
    describe(where, () => {
      for (const [what, options, expected] of rows)
        test(`${what}: ${expected}`, () => assert.equal(said(decided(options)), expected));
    });

  test('the spec of a published object is never read', () => {
    const read = () => assert.fail('It was read');
    for (const [, options] of [...texts, ...gone]) decided({ ...options, readSpec: read });
  });

  test('what runs knows what ran before', () => {
    const record = published();
    const decision = decided({ record, ...text, ...confirmed(two), recorded });
    assert.ok(decision.kind === 'run');
    assert.deepEqual(decision.desired, {
      located: two,
      warnings: [],
      previous: [one],
    });
  });

  const byText = {
    'homeostat.dev/paused-in-text': 'true',
    'homeostat.dev/approve-deletions-in-text': 'r2',
  };
  for (const [what, annotations, expected] of [
    ['neither', {}, [undefined, undefined]],
    [
      'the user',
      { 'homeostat.dev/paused': 'true', 'homeostat.dev/approve-deletions': 'r1' },
      [true, 'r1'],
    ],
    ['the text', byText, [true, 'r2']],
    [
      'both, of which the user’s approval counts',
      { ...byText, 'homeostat.dev/approve-deletions': 'r1' },
      [true, 'r1'],
    ],
  ] as const)
    test(`a pause and an approval of deletions count from ${what}`, () => {
      const record = published(annotations);
      const decision = decided({ record, ...text, ...confirmed(two), recorded });
      assert.ok(decision.kind === 'run');
      const { isPaused, approvedDeletions } = decision.desired;
      assert.deepEqual([isPaused, approvedDeletions], expected);
    });

  const inText = 'Its manifest in configmap ns/ops/shadow.yaml';
  for (const [what, options, message] of [
    [
      'whose text is gone',
      { record: published() },
      `${inText} was removed: the definition is stopped, its resources and their children are orphaned`,
    ],
    ['that is deleted', { record: own(deleted) }, 'Being deleted'],
    ['with mistakes', { record: own(), ...isBroken }, mistake],
  ] as const)
    test(`one ${what} says why it does not run`, () => {
      const decision = decided(options);
      assert.equal(decision.kind === 'finalize' && decision.message, message);
    });

  test('resources are left only of a definition that is deleted and abandoned, paused or not', () => {
    const annotations = { 'homeostat.dev/abandon': 'true', 'homeostat.dev/paused': 'true' };
    const marksOf = (options: Partial<DecideOptions> & Pick<DecideOptions, 'record'>) => {
      const decision = decided(options);
      assert.ok(decision.kind === 'finalize');
      return [decision.isAbandoned, decision.isPaused];
    };
    assert.deepEqual(marksOf({ record: own({ ...deleted, annotations }) }), [true, undefined]);
    assert.deepEqual(marksOf({ record: own({ annotations }), ...isBroken }), [undefined, true]);
  });

  test('an uninstall has the time and the pause of its object', () => {
    const annotations = { 'homeostat.dev/paused': 'true' };
    const record = own({ ...deleted, annotations }, removal({ removalPolicy: 'Delete' }));
    const decision = decided({ record });
    assert.ok(decision.kind === 'finalize');
    assert.deepEqual([decision.uninstall?.sinceMs, decision.isPaused], [nowMs, true]);
  });
});
