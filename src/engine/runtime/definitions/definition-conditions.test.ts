import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { locatedThing, runningView } from '../../../../test/support/fakes/thing-texts.ts';
import type { DefinitionView } from '../definition-view.ts';
import {
  type DefinitionFacts,
  definitionConditions,
  rejectionText,
} from './definition-conditions.ts';

const thing = locatedThing('thing');
const { revision } = thing.definition;
const origin = { source: 'configmap', ref: 'ns/ops/thing.yaml' } as const;
const rollout = {
  from: 'aaaaaaaaaa',
  to: revision,
  reached: 3,
  total: 10,
  deletions: 12,
  failed: [],
  message: 'It says why',
};

function factsWith(
  view: Partial<DefinitionView>,
  changes: Partial<DefinitionFacts> = {},
): DefinitionFacts {
  return {
    origin,
    warnings: [],
    view: runningView(thing, view),
    isPaused: false,
    isDeleted: false,
    persisted: { revisions: [], kinds: { resources: [], children: [] } },
    ...changes,
  };
}

/** Each condition as `Type=status reason`, the summary with its message. */
function said(facts: DefinitionFacts): readonly string[] {
  return definitionConditions(facts).map(({ type, status, reason, message }) =>
    type === 'Ready' ? `${type}=${status} ${reason}: ${message}` : `${type}=${status} ${reason}`,
  );
}

const rejection = { message: 'Two mistakes', diagnostics: ['a.yaml:1:2: One', 'a.yaml:3:4: Two'] };
const kindMissing = 'The kind is not served';

const table: readonly (readonly [string, DefinitionFacts, readonly string[]])[] = [
  [
    'one that runs as it should',
    factsWith({}),
    [
      'Ready=True Running: ',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
    ],
  ],
  [
    'one that is being looked at',
    factsWith({ state: { kind: 'starting', message: 'Schemas are asked for' } }),
    [
      'Ready=False Starting: Schemas are asked for',
      'Accepted=Unknown Checking',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False Starting',
      'Reconciling=True Starting',
    ],
  ],
  [
    'one that changes the versions of its kind',
    factsWith({ next: { revision: 'b', message: 'Trying conversions', changesVersions: true } }),
    [
      'Ready=False ChangingVersions: Trying conversions (revision b)',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
      'Reconciling=True ChangingVersions',
    ],
  ],
  [
    'one whose newer revision is in another step',
    factsWith({ next: { revision: 'b', message: 'Listing the kinds that it uses' } }),
    [
      'Ready=True Running: ',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
    ],
  ],
  [
    'one whose newest text has mistakes',
    factsWith({}, { rejection }),
    [
      `Ready=False Rejected: Revision ${revision} keeps running\na.yaml:1:2: One\na.yaml:3:4: Two`,
      'Accepted=False Rejected',
      'KindAvailable=True Served',
      'Permitted=True Permitted',
      'Running=True Running',
      'Stalled=True Rejected',
    ],
  ],
  [
    'one that never had a good text',
    factsWith({ state: { kind: 'rejected', ...rejection } }, { rejection }),
    [
      'Ready=False Rejected: a.yaml:1:2: One\na.yaml:3:4: Two',
      'Accepted=False Rejected',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False Rejected',
      'Stalled=True Rejected',
    ],
  ],
  [
    'one whose kind is not there',
    factsWith({ state: { kind: 'waiting', message: kindMissing } }),
    [
      `Ready=False KindMissing: ${kindMissing}`,
      'Accepted=True Accepted',
      'KindAvailable=False KindMissing',
      'Permitted=Unknown NotStarted',
      'Running=False KindMissing',
      'Stalled=True KindMissing',
    ],
  ],
  [
    'one that may not do what it must',
    factsWith({ problems: ['ConfigMap: no'], missingRights: ['list configmaps'] }),
    [
      'Ready=False Forbidden: list configmaps',
      'Accepted=True Accepted',
      'KindAvailable=True Served',
      'Permitted=False Forbidden',
      'Running=True Running',
      'Stalled=True Forbidden',
    ],
  ],
  [
    'one that cannot start for want of a right',
    factsWith({ state: { kind: 'failing', message: 'create crds', isForbidden: true } }),
    [
      'Ready=False Forbidden: create crds',
      'Accepted=Unknown Checking',
      'KindAvailable=Unknown NotStarted',
      'Permitted=False Forbidden',
      'Running=False Failing',
      'Stalled=True Forbidden',
    ],
  ],
  [
    'one that this runtime does not read',
    factsWith(
      { state: { kind: 'finalizing', message: 'Elsewhere' } },
      { inactive: { reason: 'NotRead', message: 'Elsewhere' } },
    ),
    [
      'Ready=False NotRead: Elsewhere',
      'Accepted=False NotRead',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False Finalizing',
      'Stalled=True NotRead',
    ],
  ],
  [
    'one whose text is gone',
    factsWith(
      { state: { kind: 'finalizing', message: 'Nothing runs' } },
      { inactive: { reason: 'Withdrawn', message: 'Its manifest was removed' } },
    ),
    [
      'Ready=False Withdrawn: Its manifest was removed',
      'Accepted=False Withdrawn',
      'KindAvailable=Unknown NotStarted',
      'Permitted=Unknown NotStarted',
      'Running=False Finalizing',
      'Stalled=True Withdrawn',
    ],
  ],
];

/** One that a user has deleted. */
const deletedWith = (view: Partial<DefinitionView>) =>
  factsWith(
    { state: { kind: 'finalizing', message: 'Being deleted' }, ...view },
    { isDeleted: true },
  );
const whatToDo =
  'delete them, or annotate the definition with homeostat.dev/abandon: "true" to orphan them and their children';

const summaries: readonly (readonly [string, DefinitionFacts, string])[] = [
  [
    'deletions that are held',
    factsWith({ rollout: { ...rollout, state: 'held' } }),
    'Ready=False DeletionsHeld: It says why',
  ],
  [
    'a roll-out that has stopped',
    factsWith({ rollout: { ...rollout, state: 'stopped' } }),
    'Ready=False RolloutStopped: It says why',
  ],
  [
    'a roll-out on its way',
    factsWith({ rollout: { ...rollout, state: 'rolling' } }),
    `Ready=False RollingOut: From revision aaaaaaaaaa to ${revision}`,
  ],
  [
    'a pause',
    factsWith({}, { isPaused: true }),
    'Ready=False Paused: Paused by annotation homeostat.dev/paused on the object or in its manifest',
  ],
  ['a deletion', deletedWith({}), 'Ready=False Terminating: Being deleted'],
  [
    'a deletion for which a resource waits',
    deletedWith({ instances: 1 }),
    `Ready=False Terminating: One resource has its finalizer: ${whatToDo}`,
  ],
  [
    'a deletion for which resources wait',
    deletedWith({ instances: 3 }),
    `Ready=False Terminating: 3 resources have its finalizer: ${whatToDo}`,
  ],
  [
    'an uninstall, before everything else',
    factsWith(
      { state: { kind: 'uninstalling', message: 'Two resources are left' } },
      { isDeleted: true, isPaused: true, rejection },
    ),
    'Ready=False Terminating: Two resources are left',
  ],
  [
    'a watch that fails for another reason',
    factsWith({ problems: ['Pod: no answer'], missingRights: [] }),
    'Ready=False WatchFailing: Pod: no answer',
  ],
  [
    'objects that match no more',
    factsWith({ orphaned: 2 }),
    'Ready=True Running: 2 objects no longer match the selector and keep their children',
  ],
];

describe('runtime/definitions/definition-conditions', () => {
  for (const [what, facts, expected] of table) {
    test(what, () => assert.deepEqual(said(facts), expected));
  }

  for (const [what, facts, expected] of summaries) {
    test(`the summary reports ${what}`, () => assert.equal(said(facts)[0], expected));
  }

  test('where it stands is reported beside what is to be said of it though it is taken', () => {
    const warnings = ['a.yaml:1:2: Odd. Quote it', 'a.yaml:3:4: Odder'];
    const accepted = (facts: DefinitionFacts) =>
      definitionConditions(facts).find(({ type }) => type === 'Accepted')?.message;
    const from = 'From configmap ns/ops/thing.yaml';
    assert.equal(accepted(factsWith({})), from);
    assert.equal(
      accepted(factsWith({}, { warnings })),
      `${from}\nWarning: a.yaml:1:2: Odd. Quote it\nWarning: a.yaml:3:4: Odder`,
    );
  });

  test('no reason is ever empty: servers do not take it', () => {
    for (const [, facts] of [...table, ...summaries])
      for (const { reason } of definitionConditions(facts))
        assert.match(reason, /^[A-Z][A-Za-z]+$/);
  });

  test('more errors than an object can hold are cut', () => {
    const diagnostics = Array.from(
      { length: 100 },
      (_, line) => `a.yaml:${line}:1: ${'x'.repeat(500)}`,
    );
    const text = rejectionText({ message: 'Many', diagnostics });
    assert.ok(text.length <= 16_384);
    assert.ok(text.endsWith('\n...'));
  });

  test('no message holds half a character, which servers reject: neither where it is cut nor of a text', () => {
    for (const pad of ['', 'x']) {
      const text = rejectionText({ message: pad + '\u{1F600}'.repeat(10_000), diagnostics: [] });
      assert.ok(text.isWellFormed(), `cut after "${pad}"`);
    }
    const state = { kind: 'failing', message: 'Not "\ud83d"' } as const;
    for (const facts of [factsWith({}, { warnings: ['Odd: "\ud83d"'] }), factsWith({ state })])
      for (const { type, message } of definitionConditions(facts))
        assert.ok(message.isWellFormed(), type);
  });

  test('no message is longer than an object can hold, whatever it lists', () => {
    const many = Array.from({ length: 500 }, (_, at) => `${at} ${'x'.repeat(500)}`);
    for (const facts of [
      factsWith({ missingRights: many }),
      factsWith({ problems: many, missingRights: [] }),
      factsWith({}, { warnings: many }),
    ])
      for (const { type, message } of definitionConditions(facts))
        assert.ok(message.length <= 16_384, `${type}: ${message.length}`);
  });
});
